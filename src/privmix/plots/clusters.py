"""The number of clusters: what the posterior says beside what the prior said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privmix.plots.style import COLOURS, PRIOR_COLOUR, PRIOR_LINE, as_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmix.posterior import Posterior

# Numbers of clusters beyond these tails of either law are left out of the picture.
TAIL = 1e-3


def plot_clusters(posterior: Posterior, *, ax: Axes | None = None, prior: bool = True) -> Axes:
    """Draw the posterior probability of each number of clusters as bars, and the prior law as dots.

    Bars that follow the dots say that the release taught nothing about the number of clusters.

    Parameters
    ----------
    posterior
        A fit.
    ax
        Axes to draw on; by default those of a new figure.
    prior
        Whether to draw the prior law; known for the Dirichlet process, left out under other priors.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes drawn on.
    """
    ax = as_axes(ax)
    counts = np.bincount(posterior.n_clusters.values.reshape(-1))
    law = counts / counts.sum()
    before = posterior.model.prior.cluster_law(posterior.records) if prior else None
    low, high = _range([law] if before is None else [law, before])
    k = np.arange(low, high + 1)
    ax.bar(k, _at(law, k), width=0.8, color=COLOURS[0], alpha=0.55, edgecolor=COLOURS[0], label="posterior")
    if before is not None:
        dots = {"color": PRIOR_COLOUR, "linestyle": PRIOR_LINE, "marker": "o", "markersize": 4}
        ax.plot(k, _at(before, k), label="prior", **dots)
    _finish(ax, posterior)
    return ax


def _at(law: np.ndarray, k: np.ndarray) -> np.ndarray:
    return np.array([law[j] if j < len(law) else 0.0 for j in k])


def _range(laws: list[np.ndarray]) -> tuple[int, int]:
    """Return the least and the greatest number of clusters that any of the laws makes probable."""
    lows = [int(np.searchsorted(np.cumsum(law), TAIL)) for law in laws]
    highs = [int(np.searchsorted(np.cumsum(law), 1.0 - TAIL)) for law in laws]
    return max(1, min(lows)), max(highs)


def _finish(ax: Axes, posterior: Posterior) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel("number of clusters")
    ax.set_ylabel("probability")
    if not ax.get_title():
        ax.set_title(f"Number of clusters among {posterior.records:,} records", fontsize="medium")
    ax.legend(frameon=False, fontsize="small")
