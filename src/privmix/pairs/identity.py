"""No noise: g is the kernel's density, and Y is z."""

from __future__ import annotations

from privmix.kernels import Kernel
from privmix.kernels.slots import log_f
from privmix.mechanisms import Identity, LocalMechanism
from privmix.pairs.base import Convolution
from privmix.pairs.slots import kernel_cdf


def log_g(mechanism, kernel, z, theta):
    """Return log f(z|θ)."""
    return log_f(kernel, z, theta)


def sample(mechanism, kernel, rng, z, theta):
    """Return z."""
    return z


def cdf(mechanism, kernel, z, theta):
    """Return the kernel's distribution function at z."""
    return kernel_cdf(kernel, z, theta)


def identity_convolution(mechanism: LocalMechanism, kernel: Kernel) -> Convolution | None:
    """Return the convolution of Identity with a kernel of numbers, None for another mechanism."""
    if not isinstance(mechanism, Identity) or kernel.dimension > 1:
        return None
    hook = getattr(type(kernel), "cdf", None)
    if hook is None:
        return Convolution("no noise", log_g, sample)
    return Convolution("no noise", log_g, sample, cdf, extra={kernel_cdf: hook})
