"""How often proposals are accepted, against the bound that privacy itself puts on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privmix.checks.check import acceptance_bound
from privmix.plots.style import TRUTH_COLOUR, TRUTH_LINE, as_axes, line_style
from privmix.plots.trace import moving_mean, window_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privmix.posterior import Posterior


def plot_acceptance(posterior: Posterior, *, ax: Axes | None = None) -> Axes:
    """Draw the share of accepted proposals by draw, for each chain, with the bound e^−ε where it holds.

    Under pure ε-differential privacy, and a kernel that stays inside the bounds, each proposed record is accepted with
    probability at least e^−ε. Under other guarantees or kernels there is no such bound, and none is drawn. For samplers
    that draw labels without proposals the picture shows the share of records that changed cluster.

    Parameters
    ----------
    posterior
        A fit by a sampler that reports acceptance.
    ax
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes drawn on.
    """
    rates = np.asarray(posterior.datatree["sample_stats"]["acceptance"].values, dtype=np.float64)
    if np.isnan(rates).all():
        raise ValueError(
            f"{type(posterior.sampler).__name__} draws without proposals in this model, so it has no acceptance rate. "
            "Look at plot_trace instead."
        )
    ax = as_axes(ax)
    window = window_of(rates.shape[1])
    for c, values in enumerate(rates):
        ax.plot(moving_mean(values, window), linewidth=1.5, label=f"chain {c + 1}", **line_style(c))
    bound = acceptance_bound(posterior) if posterior.sampler.proposes_records else None
    if bound is not None:
        line = {"color": TRUTH_COLOUR, "linestyle": TRUTH_LINE, "linewidth": 1.4}
        ax.axhline(bound, label=f"bound e$^{{-ε}}$ = {bound:.2g}", **line)
    _finish(ax, posterior, window, bound)
    return ax


def _finish(ax: Axes, posterior: Posterior, window: int, bound: float | None) -> None:
    proposes = posterior.sampler.proposes_records
    ax.set_ylim(0.0, 1.0)
    ax.margins(x=0.0)
    ax.set_xlabel("draw")
    ax.set_ylabel("accepted proposals" if proposes else "accepted moves, or changed labels")
    if not ax.get_title():
        what = "Acceptance of proposed records" if proposes else "Acceptance"
        mean = f"mean of {window} draws" if window > 1 else "every draw"
        ax.set_title(f"{what}, {type(posterior.sampler).__name__} ({mean})", fontsize="medium")
    ax.legend(loc="best", ncols=4 if bound is None else 3, handlelength=3.2, frameon=False, fontsize="small")
