"""The shares of categories: bars with their intervals, where a density of numbers has a curve with its band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.plots.style import (
    COLOURS,
    PRIOR_COLOUR,
    RELEASE_COLOUR,
    RELEASE_EDGE,
    TRUTH_COLOUR,
    doubt_in_words,
    doubts_of,
    mark_doubt,
    plain,
)

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from privmix.posterior import Posterior

# The legend stands above the bars.
HEADROOM = 1.35
MARK = "privmix-shares"
# Names longer than this together are written at a slant.
LONGEST_IN_A_ROW = 50


def draw_shares(
    ax: Axes,
    posterior: Posterior,
    shares: xr.Dataset,
    expected: np.ndarray | None = None,
    doubt: str = "",
    *,
    truth: np.ndarray | None = None,
    release: bool = True,
    label: str | None = None,
    simultaneous: bool = False,
) -> None:
    """Draw what was computed: shares with their intervals and, where given, those of the prior and the truth."""
    x = shares["y"].values
    if release and posterior.model.mechanism.releases_categories:
        z = np.asarray(posterior.datatree["observed_data"]["z"])
        seen = np.array([np.mean(z == place) for place in x])
        ax.bar(x, seen, width=0.9, color=RELEASE_COLOUR, edgecolor=RELEASE_EDGE, label="release (noisy)", zorder=1)
    draw_bars(ax, shares, label, "simultaneous_" if simultaneous else "")
    for values, name, colour, marker in (
        (expected, "prior mean", PRIOR_COLOUR, "."),
        (truth, "truth", TRUTH_COLOUR, "x"),
    ):
        if values is not None:
            ax.plot(x, values, marker, color=colour, markersize=8, label=name, zorder=4)
    before = doubts_of(ax)
    name_categories(ax.xaxis, shares["category"].values, x)
    ax.set_ylim(0.0, max(ax.get_ylim()[1], HEADROOM * float(shares["upper"].max())))
    ax.set_ylabel("share")
    if not ax.get_title():
        ax.set_title("Shares of the confidential data, estimated from the noisy release", fontsize="medium")
    ax.legend(loc="upper center", ncols=2, frameon=False, fontsize="small")
    mark_doubt(ax, before, doubt_in_words(doubt, label))


def draw_bars(ax: Axes, shares: xr.Dataset, label: str | None = None, band: str = "") -> None:
    """Draw shares as bars with intervals; those of a second fit beside those of the first."""
    index = sum(artist.get_gid() == MARK for artist in ax.collections)
    colour, kind = COLOURS[index % len(COLOURS)], "simultaneous intervals" if band else "intervals"
    x, mean = shares["y"].values + 0.15 * index, shares["mean"].values
    if index == 0:
        ax.bar(x, mean, width=0.6, color=colour, alpha=0.35, label=label or "posterior mean", zorder=2)
    named = f"{100 * shares.attrs['level']:g}% {kind}"
    # Drawn by themselves: the mean may lie outside an interval, where error bars have no length.
    lines = ax.vlines(
        x, shares[f"{band}lower"], shares[f"{band}upper"], color=colour, linewidth=2.5, zorder=3,
        label=named if label is None else f"{label}, {named}",
    )  # fmt: skip
    lines.set_gid(MARK)
    ax.plot(x, mean, "_", color=colour, markersize=9, zorder=3)


def name_categories(axis: Any, names: Any, places: Any) -> None:
    """Write the names of categories at their places of an axis, slanted where they are long."""
    long = sum(len(str(name)) for name in names) > LONGEST_IN_A_ROW and axis.axis_name == "x"
    slant: dict[str, Any] = {"rotation": 30, "ha": "right"} if long else {}
    axis.set_ticks(places, [plain(name) for name in names], **slant)
