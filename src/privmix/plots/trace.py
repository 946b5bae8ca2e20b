"""The path of the chains, draw by draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privmix.plots.style import as_axes, line_style

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from privmix.posterior import Posterior

# A moving mean over a fortieth of the draws: chains of whole numbers hide one another, their means do not.
WINDOWS = 40


def plot_trace(posterior: Posterior, *, ax: Axes | None = None, quantity: str | float = "n_clusters") -> Axes:
    """Draw a quantity by draw for each chain: every draw as a thin line, a moving mean as a thick one.

    Chains that have forgotten their starts overlap and cross; a chain that keeps to itself needs more warm-up.

    Parameters
    ----------
    posterior
        A fit.
    ax
        Axes to draw on; by default those of a new figure.
    quantity
        A number of each draw by its name in ``posterior.datatree``, such as "n_clusters" or "concentration"; or a
        point, whose density is followed.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes drawn on.
    """
    values, name = followed(posterior, quantity)
    ax = as_axes(ax)
    window = window_of(values.shape[1])
    draw = np.arange(values.shape[1])
    for c, path in enumerate(values):
        style = line_style(c)
        ax.plot(draw, path, color=style["color"], linewidth=0.5, alpha=0.35, zorder=1)
        ax.plot(draw, moving_mean(path, window), linewidth=1.8, label=f"chain {c + 1}", zorder=2, **style)
    _finish(ax, posterior, window, name, values)
    return ax


def followed(posterior: Posterior, quantity: str | float) -> tuple[np.ndarray, str]:
    """Return the values (chain, draw) of a quantity and its name."""
    if not isinstance(quantity, str):
        return posterior.density_draws([float(quantity)]).values[..., 0], f"density at {float(quantity):g}"
    known: dict[str, xr.DataArray] = {}
    for group in ("posterior", "sample_stats"):
        dataset = posterior.datatree[group].to_dataset()
        known |= {str(name): array for name, array in dataset.items() if array.dims == ("chain", "draw")}
    if quantity not in known:
        raise ValueError(
            f"quantity must be a point, or one of {', '.join(sorted(known))}, the numbers that each draw has; got "
            f"{quantity!r}."
        )
    name = "number of clusters" if quantity == "n_clusters" else quantity.replace("_", " ")
    return known[quantity].values, name


def window_of(draws: int) -> int:
    """Return the draws of a moving mean."""
    return max(1, draws // WINDOWS)


def moving_mean(values: np.ndarray, window: int) -> np.ndarray:
    """Return the mean over the window around each value, over what there is of it at the ends."""
    weights = np.ones(window)
    return np.convolve(values, weights, "same") / np.convolve(np.ones(len(values)), weights, "same")


def _finish(ax: Axes, posterior: Posterior, window: int, name: str, values: np.ndarray) -> None:
    """Name the axes and leave a line above the traces for the legend."""
    whole = np.issubdtype(values.dtype, np.integer)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if whole:
        ax.locator_params(axis="y", integer=True)
    ax.set_ylim(min(0.0, low), high + 0.15 * (high - min(0.0, low)) + (1.0 if whole else 0.0) or 1.0)
    ax.margins(x=0.0)
    ax.set_xlabel("draw")
    ax.set_ylabel(name)
    if not ax.get_title():
        lines = f"thin: every draw; thick: mean of {window} draws" if window > 1 else "every draw"
        title = name[0].upper() + name[1:]
        ax.set_title(f"{title}, {type(posterior.sampler).__name__}\n({lines})", fontsize="medium")
    ax.legend(loc="upper center", ncols=4, handlelength=3.2, frameon=False, fontsize="small")
