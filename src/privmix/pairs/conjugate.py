"""Conjugate marginals: cluster parameters integrated out of g(z|θ), for the pairs that allow it.

With z | μ, τ² ~ N(μ, τ²) and a Normal-Inverse-Gamma base measure on (μ, τ²), truncated to τ² ≥ η² where the noise has
standard deviation η, the marginal of a cluster's records is that of the conjugate model times a ratio of incomplete
gamma functions. The paper leaves the truncated base measure unnormalised; its constant P(a, b/η²) is part of the
weight of a new cluster.
"""

from __future__ import annotations

import math
from typing import Any

from privmix.kernels import NoisyNormal, Normal
from privmix.mechanisms import Gaussian
from privmix.numerics import gamma, normal
from privmix.numerics.incomplete_gamma import log_gamma_p, truncated_gamma
from privmix.pairs.base import Conjugate

# Columns of the sufficient statistics: records, their mean, their sum of squared deviations, the log marginal
COUNT, MEAN, SQUARES, MARGINAL = 0, 1, 2, 3


def clear_moments(stat):
    """Empty the moments."""
    for c in range(len(stat)):
        stat[c] = 0.0


def add_moments(mechanism, kernel, stat, z):
    """Update count, mean and squares by Welford's rule."""
    stat[COUNT] += 1.0
    deviation = z - stat[MEAN]
    stat[MEAN] += deviation / stat[COUNT]
    stat[SQUARES] += deviation * (z - stat[MEAN])


def remove_moments(mechanism, kernel, stat, z):
    """Undo `add_moments`; rounding adds up, so samplers rebuild the rows once a sweep."""
    stat[COUNT] -= 1.0
    if stat[COUNT] < 0.5:
        clear_moments(stat)
        return
    deviation = z - stat[MEAN]
    stat[MEAN] -= deviation / stat[COUNT]
    stat[SQUARES] = max(stat[SQUARES] - deviation * (z - stat[MEAN]), 0.0)


def posterior_rate(kernel, stat):
    """Return b_n = b + S/2 + λn(z̄ − m)²/(2(λ+n))."""
    n = stat[COUNT]
    gap = stat[MEAN] - kernel.mean
    shrunk = kernel.precision_scale * n / (kernel.precision_scale + n)
    return kernel.rate + 0.5 * stat[SQUARES] + 0.5 * shrunk * gap * gap


def conjugate_marginal(kernel, stat):
    """Return the log marginal of the Normal-Inverse-Gamma model, not truncated."""
    n = stat[COUNT]
    shape = kernel.shape + 0.5 * n
    constant = 0.5 * math.log(kernel.precision_scale / (kernel.precision_scale + n)) - 0.5 * n * math.log(2.0 * math.pi)
    prior = kernel.shape * math.log(kernel.rate) - math.lgamma(kernel.shape)
    return constant + prior + math.lgamma(shape) - shape * math.log(posterior_rate(kernel, stat))


def plain_marginal(mechanism, kernel, stat):
    """Return the log marginal of records without noise."""
    return conjugate_marginal(kernel, stat)


def truncated_marginal(mechanism, kernel, stat):
    """Return the log marginal under the truncated base measure: times P(a_n, b_n/η²)/P(a, b/η²)."""
    floor = kernel.noise * kernel.noise
    kept = log_gamma_p(kernel.shape + 0.5 * stat[COUNT], posterior_rate(kernel, stat) / floor)
    return conjugate_marginal(kernel, stat) + kept - log_gamma_p(kernel.shape, kernel.rate / floor)


def draw_mean(kernel, rng, stat, variance):
    """Draw μ given τ²."""
    precision = kernel.precision_scale + stat[COUNT]
    centre = (kernel.precision_scale * kernel.mean + stat[COUNT] * stat[MEAN]) / precision
    return centre + math.sqrt(variance / precision) * normal(rng)


def draw_plain(mechanism, kernel, rng, stat, theta):
    """Draw (μ, σ²) given records without noise."""
    theta[1] = posterior_rate(kernel, stat) / gamma(rng, kernel.shape + 0.5 * stat[COUNT])
    theta[0] = draw_mean(kernel, rng, stat, theta[1])


def draw_truncated(mechanism, kernel, rng, stat, theta):
    """Draw (μ, σ²) given noisy records: τ² = b_n/γ with γ ~ Gamma(a_n) below b_n/η², and σ² = τ² − η²."""
    floor = kernel.noise * kernel.noise
    rate = posterior_rate(kernel, stat)
    total = rate / truncated_gamma(rng, kernel.shape + 0.5 * stat[COUNT], rate / floor)
    theta[0] = draw_mean(kernel, rng, stat, total)
    theta[1] = max(total - floor, 1e-12 * floor)


def _fixed_base(mechanism: Any, kernel: Normal) -> str:
    if kernel.hyperparameters:
        return (
            f"the base measure learns its {' and '.join(kernel.hyperparameters)}, for which these samplers have no "
            "step. Use Neal5, Slice or Neal8, or fix the numbers."
        )
    return ""


def _same_noise(mechanism: Gaussian, kernel: NoisyNormal) -> str:
    if not isinstance(mechanism.scale, float):
        return "records with noise of their own have none. Use one scale for all, or Neal5, Slice or Neal8."
    if not math.isclose(mechanism.scale, kernel.noise, rel_tol=1e-9):
        return (
            f"the kernel was built for noise of standard deviation {kernel.noise:g}, the mechanism has "
            f"{mechanism.scale:g}. Use NoisyNormal(noise=mechanism.scale)."
        )
    return ""


_MOMENTS: dict[str, Any] = {"statistics": 4, "clear": clear_moments, "add": add_moments, "remove": remove_moments}

IDENTITY_NORMAL = Conjugate(**_MOMENTS, log_marginal=plain_marginal, draw=draw_plain, refuses=_fixed_base)
GAUSSIAN_NOISY_NORMAL = Conjugate(**_MOMENTS, log_marginal=truncated_marginal, draw=draw_truncated, refuses=_same_noise)
