"""Mixtures of a few normals that are nearest to a shape: what a fit finds where the shape is one, or nearly.

A mixture on cells has parameters w: log weights up to a constant, means from left to right, and log standard
deviations, in units of the bounds and counted from the middle of their prior. That of the means is the law of ordered
uniform numbers, roughly, so that a mixture of which a release says nothing is spread over the bounds. Components are
normalised on the cells, as those of a fit are between the bounds.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

#: most components of a mixture that is tried
MOST_COMPONENTS = 6
# Prior of log weights and log standard deviations: middle and standard deviation.
WEIGHT, LOG_SD = (0.0, 1.5), (float(np.log(0.12)), 0.8)
# Standard deviation of a component that is added where the mixture is furthest from the shape.
ADDED_SD = 0.05
# A mixture this near to the shape, in log likelihood a record, is not improved by more components.
NEAR_ENOUGH = 1e-6
# Steps of the search: a mixture that is not quite the nearest is moved on by what is expected of a release.
MOST_STEPS = 200
# Weight of the prior against the shape in the search: that against 10,000 records.
PRIOR_OF_SEARCH = 1e-4


class Mixture(NamedTuple):
    """A mixture on cells: its parameters, and the prior variance of each."""

    weights: np.ndarray
    variances: np.ndarray


@lru_cache(maxsize=MOST_COMPONENTS)
def prior(components: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the middles of the prior, a row for each kind of parameter, and the standard deviations alike.

    The k-th of K ordered uniform numbers has mean k/(K + 1) and variance m(1 − m)/(K + 2) with that mean m.

    Parameters
    ----------
    components
        Number of components.
    """
    mean = np.arange(1, components + 1) / (components + 1)
    spread, ones = np.sqrt(mean * (1.0 - mean) / (components + 2)), np.ones(components)
    return np.stack([WEIGHT[0] * ones, mean, LOG_SD[0] * ones]), np.stack([WEIGHT[1] * ones, spread, LOG_SD[1] * ones])


def mixture_on_cells(w: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of the cells, and how they follow the parameters, a column each.

    Parameters
    ----------
    w
        Parameters, counted from the middle of their prior.
    cells
        Number of cells.
    """
    log_weight, mean, log_sd = w.reshape(3, -1) + prior(len(w) // 3)[0]
    x, sd = (np.arange(cells) + 0.5) / cells, np.exp(log_sd)
    t = (x[:, None] - mean) / sd
    each = np.exp(-0.5 * (t * t - np.min(t * t, axis=0)))
    each /= each.sum(axis=0)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    p = each @ weight
    # d log f/dμ = t/σ and d log f/d log σ = t², each less its mean over the cells.
    by_mean = each * (t - np.sum(each * t, axis=0)) / sd
    by_log_sd = each * (t * t - np.sum(each * t * t, axis=0))
    return p, np.hstack([(each - p[:, None]) * weight, by_mean * weight, by_log_sd * weight])


def nearest_mixtures(shape: np.ndarray) -> tuple[Mixture, ...]:
    """Return the nearest mixture of each number of components, in log likelihood and prior.

    Parameters
    ----------
    shape
        Probability of each cell.
    """
    return _nearest(shape.tobytes())


@lru_cache(maxsize=64)
def _nearest(shape: bytes) -> tuple[Mixture, ...]:
    p = np.frombuffer(shape)
    most = float(p @ np.log(np.maximum(p, 1e-300)))
    found: list[Mixture] = []
    for _ in range(MOST_COMPONENTS):
        w, near = _search(_start(p, found[-1].weights if found else None), p)
        found.append(Mixture(w, np.square(prior(len(w) // 3)[1]).ravel()))
        if most - near < NEAR_ENOUGH:
            break
    return tuple(found)


def _start(p: np.ndarray, before: np.ndarray | None) -> np.ndarray:
    """Return one normal of the shape's moments, or the mixture before with one more where it falls short most."""
    x = (np.arange(len(p)) + 0.5) / len(p)
    if before is None:
        mean = float(p @ x)
        made = np.array([[0.0], [mean], [0.5 * np.log(p @ (x - mean) ** 2)]])
    else:
        short = np.convolve(p - mixture_on_cells(before, len(p))[0], np.ones(9), mode="same")
        old = before.reshape(3, -1) + prior(len(before) // 3)[0]
        share = np.log(max(float(short.max()), 0.01)) + np.logaddexp.reduce(old[0])
        made = np.column_stack([old, [share, x[np.argmax(short)], np.log(ADDED_SD)]])
    made = made[:, np.argsort(made[1])]
    made[0] -= made[0].mean()
    return (made - prior(made.shape[1])[0]).ravel()


def _search(start: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the nearest parameters by a quasi-Newton search, and Σ p log of their probabilities."""
    from scipy.optimize import minimize  # loads slowly

    precision = PRIOR_OF_SEARCH / np.square(prior(len(start) // 3)[1]).ravel()

    def value(w: np.ndarray) -> tuple[float, np.ndarray]:
        made, slopes = mixture_on_cells(w, len(p))
        made = np.maximum(made, 1e-300)
        return -float(p @ np.log(made)) + 0.5 * float(w @ (precision * w)), precision * w - (p / made) @ slopes

    found = minimize(value, start, jac=True, method="BFGS", options={"maxiter": MOST_STEPS, "gtol": 1e-6})
    return found.x, float(p @ np.log(np.maximum(mixture_on_cells(found.x, len(p))[0], 1e-300)))
