"""Gaussian noise on normal components of several columns: of one covariance, one for each record, or by column."""

from __future__ import annotations

import math
from collections.abc import Callable

from privmix.jit import flat
from privmix.kernels import Kernel, MultivariateNormal
from privmix.mechanisms import Each, Gaussian, Mechanism
from privmix.numerics import normal
from privmix.pairs.base import Convolution, write_row
from privmix.pairs.normal_rows import draw_noise, is_lasting, log_g, noise_entry, sample
from privmix.pairs.slots import draw_given_at, draw_reported_at


def noise_covariance(mechanism, theta, i, j):
    """Return an entry of the covariance of the noise."""
    return mechanism.covariance[i, j]


def draw_correlated(mechanism, rng, theta, noise, i):
    """Draw entry i of the noise e: whitening · e is standard normal."""
    value = normal(rng)
    for j in range(i):
        value -= mechanism.whitening[i, j] * noise[j]
    return value / mechanism.whitening[i, i]


def has_one_covariance(mechanism):
    """Return whether all records have one covariance."""
    return mechanism.is_one


def draw_by_column(mechanism, rng, theta, noise, i):
    """Draw entry i of the noise, which is independent of the others."""
    return math.sqrt(noise_entry(mechanism, theta, i, i)) * normal(rng)


def rows_under(noise: dict[Callable, Callable]) -> Convolution:
    """Return the convolution under normal noise that these hooks tell of."""
    # A missing entry is drawn with the others: the update of a full Σ has no use for half a record.
    written = {draw_given_at: write_row, draw_reported_at: write_row}
    return Convolution("normal rows", log_g, sample, extra={**noise, **written}, cost=2.0)


GAUSSIAN_ROWS = rows_under({noise_entry: noise_covariance, draw_noise: draw_correlated, is_lasting: has_one_covariance})


def columns_convolution(mechanism: Mechanism, kernel: Kernel) -> Convolution | None:
    """Return the convolution of columns that all have Gaussian noise with correlated components; None for others."""
    if not isinstance(mechanism, Each) or not isinstance(kernel, MultivariateNormal):
        return None
    if not all(type(child) is Gaussian for child in mechanism.children):
        return None
    each = [f"if i == {j}: return mechanism.c{j}.scale * mechanism.c{j}.scale" for j in range(kernel.dimension)]
    variance = flat("noise_entry", "mechanism, theta, i, j", ["if i != j: return 0.0", *each, "return 0.0"], {})
    lasts = flat("is_lasting", "mechanism", [f"return {not mechanism.varying_fields()}"], {})
    return rows_under({noise_entry: variance, draw_noise: draw_by_column, is_lasting: lasts})
