"""No noise: g is the kernel's density, and Y is z."""

from __future__ import annotations

from privmix.kernels import Kernel
from privmix.kernels.slots import cdf as kernel_cdf
from privmix.kernels.slots import log_f
from privmix.mechanisms import Mechanism
from privmix.pairs.base import Convolution, write_row
from privmix.pairs.slots import draw_given_at, draw_reported_at


def log_g(mechanism, kernel, z, theta):
    """Return log f(z|θ)."""
    return log_f(kernel, z, theta)


def sample(mechanism, kernel, rng, z, theta):
    """Return z."""
    return z


def sample_row(mechanism, kernel, rng, z, theta, out):
    """Write z, a row."""
    for j in range(len(out)):
        out[j] = z[j]


def cdf(mechanism, kernel, z, theta):
    """Return the kernel's distribution function at z."""
    return kernel_cdf(kernel, z, theta)


def identity_convolution(mechanism: Mechanism, kernel: Kernel) -> Convolution | None:
    """Return the convolution of a mechanism that reveals its records with any kernel; else None."""
    if not mechanism.reveals:
        return None
    if kernel.dimension > 1:
        return Convolution("no noise", log_g, sample_row, extra={draw_given_at: write_row, draw_reported_at: write_row})
    return Convolution("no noise", log_g, sample, cdf if kernel.has("cdf") else None)
