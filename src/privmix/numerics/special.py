"""Special functions in compiled code."""

from __future__ import annotations

import math

import numba


@numba.njit(cache=True, nogil=True, error_model="numpy")
def log_add_exp(a, b):
    """Return log(eᵃ + eᵇ)."""
    top = max(a, b)
    if top == -math.inf:
        return top
    return top + math.log1p(math.exp(min(a, b) - top))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def log_beta(a, b):
    """Return the logarithm of the beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def normal_cdf(x):
    """Return the standard normal distribution function, accurate in the lower tail."""
    return 0.5 * math.erfc(-x * math.sqrt(0.5))
