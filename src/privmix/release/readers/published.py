"""The generic reader: a table of noisy values or counts, with what its publisher states of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from privmix.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Mechanism, NoisyHistogram
from privmix.mechanisms.count_noise import check_noise
from privmix.release.files import PathLike
from privmix.release.readers import stated as by_scale
from privmix.release.readers.table import Layout, Processing, lattice_of, read_rows
from privmix.release.release import Release

#: mechanisms of records by the noise that they add, as a histogram calls it: from a budget, and of a stated scale
NOISES: dict[str, tuple[type[Mechanism], type[Mechanism]]] = {
    "laplace": (Laplace, by_scale.StatedLaplace),
    "gaussian": (Gaussian, by_scale.StatedGaussian),
    "discrete laplace": (DiscreteLaplace, by_scale.StatedDiscreteLaplace),
    "discrete gaussian": (DiscreteGaussian, by_scale.StatedDiscreteGaussian),
}


def read_published(
    path: PathLike,
    noise: str,
    *,
    column: str | None = None,
    scale_column: str | None = None,
    variance_column: str | None = None,
    names: Sequence[str] | None = None,
    clamped_at: float | None = None,
    rounded_to: float | None = None,
    withheld_below: float | None = None,
    withheld_known: bool = True,
    notes: str = "",
    **stated: Any,
) -> Release:
    """Read a published table: rows are bins where it has the columns lower and upper, else each is a record.

    Parameters
    ----------
    path
        A ``.csv``, ``.tsv`` or ``.parquet`` file.
    noise
        "laplace", "gaussian", "discrete laplace" or "discrete gaussian".
    column
        Column of the values; by default "count" where rows are bins, else the only column of numbers.
    scale_column, variance_column
        Column of the scale of each row's noise, or of its variance.
    names
        Names of the columns, where a text file has no header.
    clamped_at, rounded_to, withheld_below
        What was done to the noisy values, in this order: lower ones set to a limit, all rounded to multiples of a
        number (halves up), those below a limit left out. An empty cell is a value that was withheld.
    withheld_known
        False where records that were withheld have no row: then their number is learned.
    notes
        Kept with the release.
    stated
        What else the publisher states, by field of the mechanism: ``scale=``, ``bounds=``, ``epsilon=``, ``rho=``;
        of a histogram ``records=`` and ``neighbours=``. Where the noise is stated by its scale, the guarantee is not
        known: it is what ``promised=``, such as ``privacy.ZCDP(rho=0.015)``, says, or none.

    Returns
    -------
    Release
        With the mechanism that the statements describe, ready for `privmix.fit`.
    """
    check_noise("read_published", noise)
    done = Processing(clamped_at, rounded_to, withheld_below, not withheld_known)
    layout = Layout(column, scale_column, variance_column, names, noise)
    rows = read_rows(path, layout, done, lattice_of(noise, stated))
    told = rows.fields() | stated
    scaled = "scale" in told and not {"epsilon", "rho"} & set(told)
    if rows.edges is None:
        mechanism = NOISES[noise][scaled](**told)
    else:
        kind = by_scale.StatedHistogram if scaled else NoisyHistogram
        told = {"noise": noise, **NoisyHistogram.left_out(told), **told}
        if "records" not in told:
            raise ValueError(
                f"{path} is a table of bins, for which records= is missing: how many people are behind it, or "
                'records=None, neighbours="add-remove" where that is not public.'
            )
        mechanism = kind(**told)
    if withheld_below is not None and withheld_known and not np.isnan(rows.values).any():
        warnings.warn(
            f"{path} has no empty value, so that nothing was withheld below {withheld_below:g}. Where withheld rows "
            "are missing from the table, add them with an empty value; or, of records whose number is not known, say "
            "withheld_known=False.",
            stacklevel=2,
        )
    return Release(rows.values, done.around(mechanism), notes)
