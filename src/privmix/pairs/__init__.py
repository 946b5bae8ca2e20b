"""Pairs: what is known of a mechanism and a kernel together.

This file is the registry: a new pair is a file of its own, and a line at the end of this one.
"""

from __future__ import annotations

from typing import TypeVar

from privmix.kernels import Beta, Kernel, MultivariateNormal, NoisyNormal, Normal, NormalKernel, TruncatedNormal
from privmix.mechanisms import Gaussian, Identity, Laplace, LocalMechanism, Mechanism, VectorGaussian, VectorLaplace
from privmix.pairs.base import Augmentation, Conjugate, Convolution, Pair
from privmix.pairs.categorical import categorical_convolution
from privmix.pairs.cells import cells_convolution
from privmix.pairs.clipped import clipped_convolution
from privmix.pairs.conjugate import GAUSSIAN_NOISY_NORMAL, IDENTITY_NORMAL
from privmix.pairs.fine_lattice import fine_lattice_convolution
from privmix.pairs.gaussian_normal import GAUSSIAN_NORMAL
from privmix.pairs.gaussian_rows import GAUSSIAN_ROWS, columns_convolution
from privmix.pairs.gaussian_truncated_normal import GAUSSIAN_TRUNCATED_NORMAL
from privmix.pairs.identity import identity_convolution
from privmix.pairs.laplace_beta import LAPLACE_BETA
from privmix.pairs.laplace_normal import LAPLACE_NORMAL
from privmix.pairs.laplace_rows import LAPLACE_ROWS
from privmix.pairs.laplace_truncated_normal import LAPLACE_TRUNCATED_NORMAL
from privmix.pairs.masses import bin_masses_of
from privmix.pairs.post_processed import processed_convolution
from privmix.pairs.product import product_convolution
from privmix.pairs.tables import cell_masses_of

__all__ = ["Augmentation", "Conjugate", "Convolution", "Pair", "find", "register"]

Known = TypeVar("Known", Convolution, Conjugate, Augmentation)

_registered: dict[tuple[type, type, type], Convolution | Conjugate | Augmentation] = {}


def register(
    mechanism: type[LocalMechanism], kernel: type[Kernel], known: Convolution | Conjugate | Augmentation
) -> None:
    """Make a convolution, a conjugate marginal or an augmentation known for two classes and their subclasses.

    A later one of the same kind replaces an earlier.

    Parameters
    ----------
    mechanism, kernel
        The classes.
    known
        A `Convolution`, a `Conjugate` or an `Augmentation`.
    """
    kinds = (Convolution, Conjugate, Augmentation)
    _registered[mechanism, kernel, next(kind for kind in kinds if isinstance(known, kind))] = known


def find(mechanism: Mechanism, kernel: Kernel) -> Pair:
    """Return what is known of a pair: what is registered for its classes, else what its hooks allow.

    Parameters
    ----------
    mechanism, kernel
        The parts.
    """
    if mechanism.is_counted:
        return Pair(find(mechanism.each, kernel).convolution)
    if mechanism.is_global:
        return Pair(masses=bin_masses_of(mechanism, kernel) or cell_masses_of(mechanism, kernel))
    return Pair(
        _convolution(mechanism, kernel),
        _closest(mechanism, kernel, Conjugate),
        augmentation=_closest(mechanism, kernel, Augmentation),
    )


def _convolution(mechanism: Mechanism, kernel: Kernel) -> Convolution | None:
    """Return what is registered, else what follows from the hooks, or from the pair of a wrapped mechanism."""
    return (
        _closest(mechanism, kernel, Convolution)
        or product_convolution(mechanism, kernel, _convolution)
        or columns_convolution(mechanism, kernel)
        or categorical_convolution(mechanism, kernel)
        or identity_convolution(mechanism, kernel)
        or processed_convolution(mechanism, kernel, _convolution)
        or clipped_convolution(mechanism, kernel, _convolution)
        or fine_lattice_convolution(mechanism, kernel, _convolution)
        or cells_convolution(mechanism, kernel)
    )


def _closest(mechanism: Mechanism, kernel: Kernel, kind: type[Known]) -> Known | None:
    """Return what is registered for the closest classes, the mechanism's first."""
    for m in type(mechanism).__mro__:
        for k in type(kernel).__mro__:
            if (m, k, kind) in _registered:
                return _registered[m, k, kind]  # type: ignore[return-value]
    return None


register(Laplace, NormalKernel, LAPLACE_NORMAL)
register(Gaussian, NormalKernel, GAUSSIAN_NORMAL)
register(Laplace, Beta, LAPLACE_BETA)
register(Laplace, TruncatedNormal, LAPLACE_TRUNCATED_NORMAL)
register(Gaussian, TruncatedNormal, GAUSSIAN_TRUNCATED_NORMAL)
register(VectorGaussian, MultivariateNormal, GAUSSIAN_ROWS)
register(VectorLaplace, MultivariateNormal, LAPLACE_ROWS)
register(Identity, Normal, IDENTITY_NORMAL)
register(Gaussian, NoisyNormal, GAUSSIAN_NOISY_NORMAL)
