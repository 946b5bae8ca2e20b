"""No noise: g is the kernel's density, and Y is z."""

from __future__ import annotations

from privmix.kernels import Kernel
from privmix.kernels.slots import cdf as kernel_cdf
from privmix.kernels.slots import log_f
from privmix.mechanisms import Mechanism
from privmix.pairs.base import Convolution


def log_g(mechanism, kernel, z, theta):
    """Return log f(z|θ)."""
    return log_f(kernel, z, theta)


def sample(mechanism, kernel, rng, z, theta):
    """Return z."""
    return z


def cdf(mechanism, kernel, z, theta):
    """Return the kernel's distribution function at z."""
    return kernel_cdf(kernel, z, theta)


def identity_convolution(mechanism: Mechanism, kernel: Kernel) -> Convolution | None:
    """Return the convolution of a mechanism that reveals its records, numbers, with any kernel; else None."""
    if not mechanism.reveals or kernel.dimension > 1:
        return None
    return Convolution("no noise", log_g, sample, cdf if kernel.has("cdf") else None)
