"""How probably each two records are together: the similarity matrix, its records ordered by the estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.plots.style import as_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmix.posterior import Clustering, Posterior

# More boundaries than this would hide the matrix.
MOST_LINES = 40


def plot_similarity(
    posterior: Posterior, *, ax: Axes | None = None, clustering: Clustering | None = None, **imshow: Any
) -> Axes:
    """Draw the posterior probability that two records share a cluster, as shades from white (0) to black (1).

    Records are ordered by the clusters of the estimate, the largest first, and within one by their certainty. Lines
    part the clusters. Dark blocks on the diagonal are clusters that the release supports; an even grey says that single
    records cannot be told apart.

    Parameters
    ----------
    posterior
        A fit that kept the clusters of the records.
    ax
        Axes to draw on; by default those of a new figure.
    clustering
        What ``posterior.clustering`` returned; computed with its defaults if not given.
    **imshow
        Passed on to ``Axes.imshow``.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes drawn on.
    """
    matrix = posterior.similarity().values
    estimate = posterior.clustering() if clustering is None else clustering
    if len(estimate.labels) != len(matrix):
        raise ValueError(
            f"clustering has {len(estimate.labels)} records, this fit {len(matrix)}. Give one of this posterior."
        )
    ax = as_axes(ax)
    order = record_order(estimate)
    n = len(order)
    options: dict[str, Any] = {"cmap": "Greys", "vmin": 0.0, "vmax": 1.0, "extent": (0.5, n + 0.5, n + 0.5, 0.5)}
    image = ax.imshow(matrix[np.ix_(order, order)], **{**options, **imshow})
    _draw_borders(ax, estimate)
    ax.figure.colorbar(image, ax=ax, label="probability of sharing a cluster")
    _finish(ax, estimate)
    return ax


def record_order(estimate: Clustering) -> np.ndarray:
    """Return the records by cluster and, within one, from the most to the least certain."""
    return np.lexsort((-estimate.certainty, estimate.labels))


def _draw_borders(ax: Axes, estimate: Clustering) -> None:
    ends = np.cumsum(estimate.sizes)[:-1]
    if len(ends) > MOST_LINES:
        return
    for end in ends:
        for draw in (ax.axhline, ax.axvline):
            # Dark dashes over a light line: seen on black and on white.
            draw(end + 0.5, color="white", linewidth=1.6)
            draw(end + 0.5, color="#D55E00", linewidth=1.0, linestyle=(0, (4, 2)))


def _finish(ax: Axes, estimate: Clustering) -> None:
    ax.locator_params(integer=True)
    ax.set_xlabel("records, by cluster of the estimate")
    ax.set_ylabel("records, in the same order")
    if not ax.get_title():
        count = f"{estimate.n_clusters} cluster" + ("s" if estimate.n_clusters > 1 else "")
        ax.set_title(f"Which records belong together\n(the estimate has {count})", fontsize="medium")
