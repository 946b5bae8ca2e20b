"""Layout of tables that Tumult Analytics makes, such as the page views of Wikimedia: counts, small ones left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from privmix.privacy import ZCDP, PureDP
from privmix.release.files import PathLike
from privmix.release.readers.published import read_published
from privmix.release.release import Release


def tumult_scale(*, rho: float | None = None, epsilon: float | None = None, sensitivity: float = 1.0) -> float:
    """Return the scale of Tumult's noise on a count: σ = Δ₂/√(2ρ) of zCDP, or s = Δ₁/ε of pure privacy.

    A budget alone does not tell the noise. Where one person may add to ten counts, 1 to each, Δ₂ is √10 and Δ₁ is 10:
    ρ = 0.015 means σ = 18.3, not the 5.8 of a single count.

    Parameters
    ----------
    rho, epsilon
        Budget of the table; exactly one.
    sensitivity
        How far the counts move in L2, or in L1 with ε, when one person comes or goes.

    Examples
    --------
    >>> round(tumult_scale(rho=0.015, sensitivity=10**0.5), 2)
    18.26
    """
    if (rho is None) == (epsilon is None):
        raise ValueError(f"give rho= or epsilon=, one of them; got rho={rho!r} and epsilon={epsilon!r}.")
    for name, value in (("rho", rho), ("epsilon", epsilon), ("sensitivity", sensitivity)):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (number and 0.0 < value < math.inf):
            raise ValueError(f"{name} must be a finite number above 0; got {value!r}.")
    return sensitivity / (math.sqrt(2.0 * rho) if rho is not None else epsilon)  # type: ignore[operator]


def read_tumult(
    path: PathLike,
    column: str,
    *,
    rho: float | None = None,
    epsilon: float | None = None,
    sensitivity: float = 1.0,
    withheld_below: float | None = None,
    names: Sequence[str] | None = None,
    notes: str = "",
    **stated: Any,
) -> Release:
    """Read a table of counts with the noise of Tumult Analytics, those below a threshold empty.

    Noise is discrete: Gaussian where the budget is ρ, Laplace (two-sided geometric) where it is ε. Rows are records,
    such as the views of one page each, or bins where the table has the columns ``lower`` and ``upper``. A row whose
    count is empty was withheld.

    Parameters
    ----------
    path
        A ``.tsv``, ``.csv`` or ``.parquet`` file.
    column
        Column of the counts.
    rho, epsilon, sensitivity
        What the noise follows from, see `tumult_scale`.
    withheld_below
        Threshold: noisy counts below it were not published.
    names
        Names of the columns, where a text file has no header.
    notes
        Kept with the release.
    stated
        Other fields of the mechanism: ``bounds=`` of a record, or ``records=`` of a histogram; and what
        `read_published` takes, such as ``withheld_known=False`` where withheld records have no row.
    """
    noise = "discrete gaussian" if epsilon is None else "discrete laplace"
    scale = tumult_scale(rho=rho, epsilon=epsilon, sensitivity=sensitivity)
    promised = ZCDP(rho, neighbours="add-remove") if rho is not None else PureDP(epsilon, neighbours="add-remove")  # type: ignore[arg-type]
    stated = {"column": column, "names": names, "scale": scale, "promised": promised, **stated}
    return read_published(path, noise, withheld_below=withheld_below, notes=notes, **stated)
