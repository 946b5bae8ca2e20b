"""Values that OpenDP made: noise on the multiples of 2^k, counts of a histogram set to 0 where they fall below."""

from __future__ import annotations

from typing import Any

from privmix.release.files import PathLike
from privmix.release.readers.published import read_published
from privmix.release.release import Release

# OpenDP's own granularity where none is given is far finer than a float: its noise is then continuous to any eye.
FINEST = -50


def read_opendp(
    path: PathLike,
    noise: str,
    scale: float,
    k: int | None = None,
    *,
    column: str | None = None,
    notes: str = "",
    **stated: Any,
) -> Release:
    """Read records with noise of OpenDP's ``make_laplace`` or ``make_gaussian``, one value each.

    Parameters
    ----------
    path
        A ``.csv``, ``.tsv`` or ``.parquet`` file.
    noise
        "laplace" or "gaussian".
    scale
        OpenDP's ``scale``: of Gaussian noise the standard deviation.
    k
        OpenDP's ``k``: values are multiples of 2^k; 0 where the data type is a whole number. None if it was left out.
    column
        Column of the values; may be left out where only one column has numbers.
    notes
        Kept with the release.
    stated
        Other fields of the mechanism: ``bounds=`` of a record.
    """
    if k is None or k < FINEST:
        return read_published(path, noise, column=column, notes=notes, scale=scale, **stated)
    return read_published(path, f"discrete {noise}", column=column, notes=notes, scale=scale, step=2.0**k, **stated)


def read_opendp_histogram(
    path: PathLike, noise: str, scale: float, *, clamped: bool = True, notes: str = "", **stated: Any
) -> Release:
    """Read a histogram with noise of OpenDP on its counts: whole numbers, by default set to 0 where they fell below.

    Counts of OpenDP's ``dp.len()`` are whole numbers without a sign, so that a noisy count below 0 is published as 0.
    Those of ``make_count_by_categories`` have a sign and are published as they are: ``clamped=False``.

    Parameters
    ----------
    path
        A ``.csv``, ``.tsv`` or ``.parquet`` file with the columns lower, upper and count.
    noise
        "laplace" or "gaussian".
    scale
        OpenDP's ``scale``: of Gaussian noise the standard deviation.
    clamped
        Whether counts below 0 were set to 0.
    notes
        Kept with the release.
    stated
        Other fields of the histogram: ``records=``, their number.
    """
    limit = 0.0 if clamped else None
    stated = {"neighbours": "add-remove", **stated}
    return read_published(path, f"discrete {noise}", clamped_at=limit, notes=notes, scale=scale, **stated)
