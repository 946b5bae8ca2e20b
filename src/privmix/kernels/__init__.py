"""Kernels: the density f(y|θ) of a mixture component, with its base measure G₀."""

from privmix.kernels.base import Kernel
from privmix.kernels.normal import Normal

__all__ = ["Kernel", "Normal"]
