"""The shape that is planned for: a density, a sample, a distribution of SciPy, or a panel where nothing is known."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from privmix.frames import as_floats
from privmix.planning.experiment import CELLS, edges_of

# Points of a cell at which a density is evaluated.
POINTS_IN_A_CELL = 16
# A sample is smoothed by a normal of this many standard deviations over n^{1/5}, as a kernel estimate is.
BANDWIDTH = 0.9
# A pilot of which more than this lies outside the bounds is refused.
MOST_OUTSIDE = 0.05
# Shapes of the panel, and the standard deviations of their components in units of the bounds. With .05 to .16 nearly
# every plan chose the fewest cells that it tried, and too few is the dangerous side: on fifteen shapes that it was not
# told, errors of what it chose were predicted 18% above those of the best settings, where these give 12%.
PANEL, PANEL_SDS = 6, (0.02, 0.12)
# A mode counts where it stands out from the valley beside it by this share of the highest.
LEAST_PROMINENCE = 0.1


class Shape(NamedTuple):
    """Probabilities of the cells, where they come from, in words, and whether they were given.

    A shape of the panel stands for shapes that nobody knows: that it is a mixture of few normals is not to be counted
    on.
    """

    probability: np.ndarray
    words: str
    is_given: bool = True


def read_shapes(shape: Any, bounds: tuple[float, float]) -> list[Shape]:
    """Return the shapes that a user means: one, or a panel where none is given.

    Parameters
    ----------
    shape
        A function of points, a distribution of SciPy, a sample (an array or a column), or None.
    bounds
        Range of a record.
    """
    if shape is None:
        return _panel()
    if hasattr(shape, "pdf"):
        _refuse_outside(shape, bounds)
        return [Shape(_of_density(shape.pdf, bounds), "the distribution that was given")]
    if callable(shape):
        return [Shape(_of_density(shape, bounds), "the density that was given")]
    sample = as_floats(shape, "the sample of the shape")
    if sample.ndim != 1 or len(sample) < 10:
        raise ValueError(
            f"shape must be a density, a distribution or a sample of at least 10 numbers; got an array of shape "
            f"{sample.shape}."
        )
    outside = int(np.count_nonzero((sample < bounds[0]) | (sample > bounds[1])))
    if outside > MOST_OUTSIDE * len(sample):
        raise ValueError(
            f"{outside} of {len(sample)} numbers of the sample of the shape lie outside the bounds {bounds[0]:g} to "
            f"{bounds[1]:g}; a release would clip such records. Give bounds that hold them, or clip the sample."
        )
    words = f"a smoothed sample of {len(sample)} numbers"
    return [Shape(_of_sample(sample, bounds), words + (f", {outside} of them outside the bounds" if outside else ""))]


def _refuse_outside(law: Any, bounds: tuple[float, float]) -> None:
    """Refuse a distribution much of which lies outside the bounds, as a sample is refused."""
    if hasattr(law, "cdf"):
        outside = 1.0 - float(law.cdf(bounds[1]) - law.cdf(bounds[0]))
        if outside > MOST_OUTSIDE:
            raise ValueError(
                f"{outside:.0%} of the distribution of the shape lies outside the bounds {bounds[0]:g} to "
                f"{bounds[1]:g}; a release would clip such records. Give bounds that hold it."
            )


def _of_density(density: Callable, bounds: tuple[float, float]) -> np.ndarray:
    """Return the probabilities of the cells under a density, which need not be normalised."""
    edges = edges_of(bounds, CELLS * POINTS_IN_A_CELL)
    middle = 0.5 * (edges[:-1] + edges[1:])
    values = np.asarray(density(middle), dtype=np.float64)
    if values.shape != middle.shape or not np.isfinite(values).all() or (values < 0.0).any() or not values.any():
        raise ValueError(
            "shape must be a density: one finite value of at least 0 for each point of an array, not all of them 0."
        )
    probability = values.reshape(CELLS, POINTS_IN_A_CELL).sum(axis=1)
    return probability / probability.sum()


def _of_sample(sample: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    """Return a kernel estimate on the cells, reflected at the bounds."""
    inside = sample[(sample >= bounds[0]) & (sample <= bounds[1])]
    edges = edges_of(bounds)
    counts = np.histogram(inside, edges)[0].astype(np.float64)
    quartiles = np.quantile(inside, [0.25, 0.75])
    spread = min(float(np.std(inside)), float(np.diff(quartiles)[0]) / 1.34) or float(np.std(inside))
    width = max(BANDWIDTH * spread * len(inside) ** -0.2, edges[1] - edges[0]) / (edges[1] - edges[0])
    reach = int(np.ceil(4.0 * width))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    padded = np.pad(counts, min(reach, CELLS - 1), mode="symmetric")
    smooth = np.convolve(padded, kernel / kernel.sum(), mode="same")[min(reach, CELLS - 1) :][:CELLS]
    return smooth / smooth.sum()


def _panel() -> list[Shape]:
    """Return mixtures of one to three truncated normals, as the prior of a fit has them: the same in every plan."""
    rng = np.random.default_rng(20)
    x = (np.arange(CELLS) + 0.5) / CELLS
    made = []
    for number in range(PANEL):
        components = 1 + number % 3
        weight = rng.dirichlet(np.full(components, 4.0))
        mean = (np.arange(components) + rng.uniform(0.15, 0.85, components)) / components
        sd = rng.uniform(*PANEL_SDS, components)
        values = (weight / sd * np.exp(-0.5 * ((x[:, None] - mean) / sd) ** 2)).sum(axis=1)
        plural = "s" if components > 1 else ""
        words = f"shape {number + 1} of a panel, {components} component{plural}"
        made.append(Shape(values / values.sum(), words, is_given=False))
    return made


def find_modes(probability: np.ndarray) -> list[tuple[int, int, int]]:
    """Return valleys between modes that stand out, as (mode, valley, next mode), from left to right.

    Parameters
    ----------
    probability
        Of each cell.
    """
    least = LEAST_PROMINENCE * float(probability.max())
    modes, top, valley = [], 0, -1  # places of the highest cell since a valley, and of the lowest since a mode
    for k, p in enumerate(np.append(probability, 0.0)):
        if valley < 0:
            top = k if p > probability[top] else top
            if p < probability[top] - least:
                modes.append(top)
                valley = k
        elif k < len(probability):
            valley = k if p < probability[valley] else valley
            if p > probability[valley] + least:
                top, valley = k, -1
    return [(a, a + int(np.argmin(probability[a : b + 1])), b) for a, b in pairwise(modes)]
