"""Diagnostics on quantities that do not depend on labels: the number of clusters, the density at several points."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def summarise(quantities: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return mean, sd, effective sample sizes and R-hat of named quantities (chain, draw).

    A quantity that did not move in some chain has no effective sample size: its ESS and R-hat are missing, and the
    column `note` says so, where the usual formulas would report a perfect chain.
    """
    import pandas as pd

    return pd.DataFrame.from_dict({name: _row(values) for name, values in quantities.items()}, orient="index")


def _row(values: np.ndarray) -> dict[str, Any]:
    row: dict[str, Any] = {"mean": values.mean(), "sd": values.std(), "ess_bulk": np.nan, "ess_tail": np.nan}
    row |= {"r_hat": np.nan, "note": ""}
    still = np.flatnonzero(np.ptp(values, axis=1) == 0.0)
    if not np.isfinite(values).all():
        row["note"] = "not finite"
    elif values.shape[1] < 4:
        row["note"] = "too few draws"
    elif len(still):
        which = "no chain" if len(still) == len(values) else f"chain {', '.join(str(c + 1) for c in still)} never"
        row["note"] = f"{which} moved"
    else:
        row |= _effective(values)
    return row


def _effective(values: np.ndarray) -> dict[str, float]:
    from arviz_stats.base import array_stats  # imported here: it takes longer to load than a fit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "ess_bulk": float(array_stats.ess(values, chain_axis=0, draw_axis=1, method="bulk")),
            "ess_tail": float(array_stats.ess(values, chain_axis=0, draw_axis=1, method="tail", prob=(0.05, 0.95))),
            "r_hat": float(array_stats.rhat(values, chain_axis=0, draw_axis=1)),
        }
