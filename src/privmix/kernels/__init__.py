"""Kernels: the density f(y|θ) of a mixture component, with its base measure G₀."""

from privmix.kernels.base import Kernel as Kernel
from privmix.kernels.beta import Beta as Beta
from privmix.kernels.categorical import Categorical as Categorical
from privmix.kernels.hierarchical_normal import HierarchicalNormal as HierarchicalNormal
from privmix.kernels.multivariate_normal import MultivariateNormal as MultivariateNormal
from privmix.kernels.noisy_normal import NoisyNormal as NoisyNormal
from privmix.kernels.normal import Normal as Normal
from privmix.kernels.normal_kernel import NormalKernel as NormalKernel
from privmix.kernels.product import Product as Product
from privmix.kernels.truncated_normal import TruncatedNormal as TruncatedNormal

# One line above exports a part: `X as X` says so to type checkers, and this to everything else.
__all__ = sorted(name for name, value in globals().items() if isinstance(value, type))
