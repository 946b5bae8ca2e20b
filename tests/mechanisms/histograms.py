"""Example histograms, and their densities written anew from the formulas."""

from itertools import pairwise

import numpy as np
from scipy import stats

from mechanisms.examples import EXAMPLES
from mechanisms.test_noisy_histogram import BOUNDS, RECORDS, UNEQUAL
from privmix.mechanisms import SmoothedHistogram

SMOOTHED, NOISY = EXAMPLES["SmoothedHistogram"], EXAMPLES["NoisyHistogram"]
HISTOGRAMS = [*SMOOTHED, *NOISY]


def name(mechanism):
    """Return a name for test ids."""
    given = [k for k in ("epsilon", "delta", "rho", "uniform") if getattr(mechanism, k, None) is not None]
    shape = "unequal" if np.ndim(mechanism.bins) else str(mechanism.bins)
    return "-".join(
        [
            getattr(mechanism, "noise", "smoothed"),
            shape,
            *(given or ["scale"]),
            *([] if mechanism.neighbours == "replace" else ["add-remove"]),
        ]
    )


def counts_of(mechanism, y):
    """Return counts bin by bin: closed on the left, the last closed on both sides, what is outside in the end bins."""
    edges = mechanism.edges.copy()
    edges[0], edges[-1] = -np.inf, np.inf
    return np.array([np.sum((y >= a) & (y < b)) for a, b in pairwise(edges)])


def log_density(mechanism, z, y):
    """Return log q(z|y) from the formulas, by scipy where it has the law."""
    c = counts_of(mechanism, y)
    if isinstance(mechanism, SmoothedHistogram):
        widths, whole, share = np.diff(mechanism.edges), np.ptp(mechanism.edges), mechanism.uniform
        heights = (1 - share) * c / (len(y) * widths) + share / whole
        inside = [(x >= mechanism.edges[:-1]) & (x < mechanism.edges[1:]) for x in np.minimum(z, np.nextafter(5, 0))]
        return sum(np.log(heights[i][0]) for i in inside)
    if mechanism.noise == "laplace":
        return stats.laplace.logpdf(z, c, mechanism.scale).sum()
    if mechanism.noise == "gaussian":
        return stats.norm.logpdf(z, c, mechanism.scale).sum()
    if mechanism.noise == "discrete laplace":
        return stats.dlaplace.logpmf(z - c, 1 / np.asarray(mechanism.scale)).sum()
    k = np.arange(-400, 401)
    norm = np.log(np.exp(-(k**2) / (2 * mechanism.scale**2)).sum())
    return (-((z - c) ** 2) / (2 * mechanism.scale**2) - norm).sum()


def data(seed, n=RECORDS):
    """Return records inside the bounds, some of them on edges."""
    rng = np.random.default_rng(seed)
    return rng.choice(np.concatenate([UNEQUAL, rng.uniform(*BOUNDS, 20)]), n)
