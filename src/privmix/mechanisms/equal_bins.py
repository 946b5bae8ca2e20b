"""Which equal bins counts of released numbers have unless somebody gives others: where they reach, and how many."""

from __future__ import annotations

import math
from typing import Any

# Equal bins reach this many standard deviations of the noise beyond the bounds; the outermost are open.
REACH_IN_NOISE_SPREADS = 5.0
# Width of a bin in units of how closely a release tells its record: of Laplace noise, in standard deviations. The
# posterior is that of the rounded release, which says less than the release: with a quarter its mean at n = 1,000
# and ε = 10 was .3 posterior standard deviations off.
BIN_WIDTH_IN_RESOLUTIONS = 0.1
# Most bins by default. Where they are integrated, two evaluations each, they are enough for components as narrow as a
# hundredth of the bounds, however narrow the noise.
MOST_BINS, MOST_BINS_BY_QUADRATURE = 2048, 256
# Bins of a period that a span leaves room for: with so many a staircase's release keeps 98% of what it tells of the
# mean of a component, a twentieth of the bounds wide. The span then reaches 36 widths of the bounds beyond them, and
# e^{−36ε} of the releases are further out: 3% at ε = .1, 16% at .05.
LEAST_BINS_OF_A_PERIOD = 28


def default_span(mechanism: Any) -> tuple[float, float]:
    """Return the interval that is cut into equal bins; what is released beyond it is in the outermost."""
    if mechanism.release_range is not None:
        return mechanism.release_range
    lower, upper = noised_interval(mechanism)
    reach, period = REACH_IN_NOISE_SPREADS * mechanism.noise_spread(), mechanism.period()
    if period is not None:
        # A small budget's noise is far wider than a period; the fewer bins of one, the less they tell.
        periods = min(math.ceil(reach / period), int(0.5 * MOST_BINS / LEAST_BINS_OF_A_PERIOD))
        reach = period * periods
    return lower - reach, upper + reach


def noised_interval(mechanism: Any) -> Any:
    """Return the interval of what the noise is added to, or None."""
    return mechanism.bounds if mechanism.clipped_at is None else mechanism.clipped_at


def default_bins(mechanism: Any, width: float) -> int:
    """Return so many bins that one is BIN_WIDTH_IN_RESOLUTIONS of what a release tells wide, within limits."""
    spread, most = mechanism.grain(), MOST_BINS if mechanism.release_range is None else MOST_BINS_BY_QUADRATURE
    if spread is None:
        return most
    bins, period = min(max(width / (BIN_WIDTH_IN_RESOLUTIONS * spread), 64.0), most), mechanism.period()
    if period is None:
        return int(bins)
    periods = max(1, round(width / period))
    return periods * max(1, int(bins / periods))
