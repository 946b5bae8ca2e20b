"""Pairs: what is known of a mechanism and a kernel together. A new pair is a file and a line here."""

from __future__ import annotations

from privmix.kernels import Beta, NoisyNormal, Normal, NormalKernel
from privmix.mechanisms import Gaussian, Identity, Laplace
from privmix.pairs.base import Conjugate, Convolution, Pair
from privmix.pairs.conjugate import GAUSSIAN_NOISY_NORMAL, IDENTITY_NORMAL
from privmix.pairs.gaussian_normal import GAUSSIAN_NORMAL
from privmix.pairs.laplace_beta import LAPLACE_BETA
from privmix.pairs.laplace_normal import LAPLACE_NORMAL
from privmix.pairs.registry import find, register

__all__ = ["Conjugate", "Convolution", "Pair", "find", "register"]

register(Laplace, NormalKernel, LAPLACE_NORMAL)
register(Gaussian, NormalKernel, GAUSSIAN_NORMAL)
register(Laplace, Beta, LAPLACE_BETA)
register(Identity, Normal, IDENTITY_NORMAL)
register(Gaussian, NoisyNormal, GAUSSIAN_NOISY_NORMAL)
