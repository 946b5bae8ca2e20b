"""Convolutions: g(z|θ) and Y given z for pairs of a mechanism and a kernel."""

from __future__ import annotations

from privmix.kernels import Beta, HierarchicalNormal, Kernel, NoisyNormal, Normal
from privmix.mechanisms import Gaussian, Laplace, LocalMechanism
from privmix.pairs.base import Convolution, find_registered, register
from privmix.pairs.cells import cells_convolution
from privmix.pairs.gaussian_normal import GAUSSIAN_NORMAL
from privmix.pairs.identity import identity_convolution
from privmix.pairs.laplace_beta import LAPLACE_BETA
from privmix.pairs.laplace_normal import LAPLACE_NORMAL

__all__ = ["Convolution", "cells_convolution", "find", "register"]

for _normal in (Normal, HierarchicalNormal, NoisyNormal):
    register(Laplace, _normal, LAPLACE_NORMAL)
    register(Gaussian, _normal, GAUSSIAN_NORMAL)
register(Laplace, Beta, LAPLACE_BETA)


def find(mechanism: LocalMechanism, kernel: Kernel) -> Convolution | None:
    """Return the convolution of a pair: one registered for its types, else one that its hooks allow, else None."""
    return (
        find_registered(mechanism, kernel)
        or identity_convolution(mechanism, kernel)
        or cells_convolution(mechanism, kernel)
    )
