"""Kernels: the density f(y|θ) of a mixture component, with its base measure G₀."""

from privmix.kernels.base import Kernel
from privmix.kernels.beta import Beta
from privmix.kernels.hierarchical_normal import HierarchicalNormal
from privmix.kernels.noisy_normal import NoisyNormal
from privmix.kernels.normal import Normal
from privmix.kernels.normal_kernel import NormalKernel

__all__ = ["Beta", "HierarchicalNormal", "Kernel", "NoisyNormal", "Normal", "NormalKernel"]
