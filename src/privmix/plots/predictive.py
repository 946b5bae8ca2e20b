"""The release beside releases that the fitted model makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privmix.curves.predictive import replicator
from privmix.plots.style import COLOURS, as_axes, doubt_in_words, mark_doubt, plain

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from privmix.posterior import Posterior

# Replicates of the counts of a histogram.
REPLICATES = 400


def plot_predictive(
    posterior: Posterior,
    *,
    ax: Axes | None = None,
    level: float = 0.95,
    check: xr.Dataset | None = None,
    doubt: str = "",
) -> Axes:
    """Draw the histogram of the release over the range that replicated releases have in each bin.

    A line that leaves the range in many bins says that the model could not have made this release: a wrong noise scale,
    or a kernel that cannot follow the data. A few bins outside are chance.

    Parameters
    ----------
    posterior
        A fit.
    ax
        Axes to draw on; by default those of a new figure.
    level
        Share of the replicates inside the range of each bin.
    check
        What ``posterior.predictive_check`` returned; computed with its defaults if not given.
    doubt
        Why the fit is not to be trusted, to be written above the legend, such as ``posterior.doubt()``.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes drawn on.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1; got {level!r}.")
    table = posterior.predictive_check() if check is None else check
    ax = as_axes(ax)
    named = f"{100 * level:g}% of replicated releases"
    edges = posterior.model.mechanism.counted_edges
    if edges is not None:
        _draw_counts(ax, posterior, edges, level, named)
    elif _few_outputs(posterior, table):
        _draw_outputs(ax, posterior, table, level, named)
    else:
        low, high = _range(table["replicated_histogram"].values, level)
        edges = np.append(table["bin_lower"].values, table["bin_upper"].values[-1])
        ax.stairs(high, edges, baseline=low, fill=True, color=COLOURS[0], alpha=0.3, label=named)
        ax.stairs(table["observed_histogram"].values, edges, color="black", linewidth=1.4, label="the release")
        ax.set_ylabel("density")
    _finish(ax, posterior, table)
    mark_doubt(ax, doubt_in_words(doubt))
    return ax


def _range(values: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.quantile(values, [0.5 * (1.0 - level), 0.5 * (1.0 + level)], axis=0)
    return low, high


def _few_outputs(posterior: Posterior, table: xr.Dataset) -> bool:
    """Return whether the release takes few values, each in a bin of its own."""
    outputs = posterior.model.mechanism.outputs
    width = float(table["bin_upper"][0] - table["bin_lower"][0])
    return outputs is not None and (len(outputs) < 2 or float(np.diff(np.sort(outputs)).min()) > width)


def _draw_outputs(ax: Axes, posterior: Posterior, table: xr.Dataset, level: float, named: str) -> None:
    """Draw few outputs one by one: between them there is nothing."""
    width = (table["bin_upper"] - table["bin_lower"]).values
    low, high = (width * end for end in _range(table["replicated_histogram"].values, level))
    seen = width * table["observed_histogram"].values
    full = np.flatnonzero((seen > 0.0) | (high > 0.0))
    outputs = np.asarray(posterior.model.mechanism.outputs)
    at = outputs[np.abs(outputs[:, None] - table["bin"].values[full]).argmin(axis=0)]
    ax.vlines(at, low[full], high[full], color=COLOURS[0], alpha=0.4, linewidth=7, label=named)
    ax.plot(at, seen[full], "o", color="black", markersize=4, label="the release")
    ax.set_ylabel("share of the release")


def _draw_counts(ax: Axes, posterior: Posterior, edges: np.ndarray, level: float, named: str) -> None:
    """Draw noisy counts in their bins: replicated ones, and those released."""
    model = posterior.model
    replicate = replicator(model, posterior.arrays, posterior.records_of_draws, np.random.default_rng(1))
    counts = np.stack([model.mechanism.fill_withheld(replicate()[1]) for _ in range(REPLICATES)])
    low, high = _range(counts, level)
    ax.stairs(high, edges, baseline=low, fill=True, color=COLOURS[0], alpha=0.3, label=named)
    z = np.asarray(posterior.datatree["observed_data"]["z"])
    ax.stairs(z, edges, baseline=None, color="black", linewidth=1.4, label="the released counts")
    ax.set_ylabel("count of the bin")


def _finish(ax: Axes, posterior: Posterior, table: xr.Dataset) -> None:
    low, high = ax.dataLim.intervaly
    # Room for the legend above what is drawn.
    ax.set_ylim(min(0.0, 1.05 * low), 1.25 * high or 1.0)
    ax.set_xlabel(plain(posterior.model.mechanism.output_in_words))
    if not ax.get_title():
        worst = int(np.argmin(table["p_value"].values))
        name, p = plain(table["statistic"].values[worst]), float(table["p_value"].values[worst])
        ax.set_title(f"Could the model have made the release?\nleast p-value {p:.2g} (of {name})", fontsize="medium")
    ax.legend(loc="upper center", ncols=2, frameon=False, fontsize="small")
