"""The one place where pairs of a mechanism and a kernel are made known, and looked up."""

from __future__ import annotations

from typing import TypeVar

from privmix.kernels import Kernel
from privmix.mechanisms import LocalMechanism, Mechanism
from privmix.pairs.base import Conjugate, Convolution, Pair
from privmix.pairs.cells import cells_convolution
from privmix.pairs.identity import identity_convolution
from privmix.pairs.masses import bin_masses_of

Known = TypeVar("Known", Convolution, Conjugate)

_registered: dict[tuple[type, type, type], Convolution | Conjugate] = {}


def register(mechanism: type[LocalMechanism], kernel: type[Kernel], known: Convolution | Conjugate) -> None:
    """Make a convolution or a conjugate marginal known for two classes and their subclasses.

    A later one of the same kind replaces an earlier.

    Parameters
    ----------
    mechanism, kernel
        The classes.
    known
        A `Convolution` or a `Conjugate`.
    """
    _registered[mechanism, kernel, type(known)] = known


def find(mechanism: Mechanism, kernel: Kernel) -> Pair:
    """Return what is known of a pair: what is registered for its classes, else what its hooks allow.

    Parameters
    ----------
    mechanism, kernel
        The parts.
    """
    if mechanism.is_global:
        return Pair(masses=bin_masses_of(mechanism, kernel))
    convolution = _closest(mechanism, kernel, Convolution)
    convolution = convolution or identity_convolution(mechanism, kernel) or cells_convolution(mechanism, kernel)
    return Pair(convolution, _closest(mechanism, kernel, Conjugate))


def _closest(mechanism: Mechanism, kernel: Kernel, kind: type[Known]) -> Known | None:
    """Return what is registered for the closest classes, the mechanism's first."""
    for m in type(mechanism).__mro__:
        for k in type(kernel).__mro__:
            if (m, k, kind) in _registered:
                return _registered[m, k, kind]  # type: ignore[return-value]
    return None
