"""Layouts of the United States Census Bureau: noisy measurements with their variance, estimates with their spread."""

from __future__ import annotations

from typing import Any

from privmix.release.files import PathLike
from privmix.release.readers.published import read_published
from privmix.release.release import Release


def read_noisy_measurements(path: PathLike, *, notes: str = "", **stated: Any) -> Release:
    """Read a table of noisy measurements: a column ``value`` with discrete Gaussian noise, a column ``variance``.

    The layout of the Noisy Measurement Files of 2020, flattened to a row for each measurement. Values may be negative;
    nothing was done to them after the noise. Rows are records, such as the population of one block each, or bins where
    the table has the columns ``lower`` and ``upper`` too.

    Parameters
    ----------
    path
        A ``.csv``, ``.tsv`` or ``.parquet`` file. Rows that are invariant, with variance 0, do not belong here.
    notes
        Kept with the release.
    stated
        Other fields of the mechanism: ``bounds=`` of a record, or ``records=`` of a histogram.
    """
    return read_published(path, "discrete gaussian", column="value", variance_column="variance", notes=notes, **stated)


def read_gls_estimates(path: PathLike, *, notes: str = "", **stated: Any) -> Release:
    """Read a table of least-squares estimates: a column ``estimate`` with a column ``std_dev``.

    An estimate by generalised least squares is a linear function of noisy measurements, so its error is close to
    Gaussian. Errors of different rows depend on one another; here they are taken for independent.

    Parameters
    ----------
    path
        A ``.csv``, ``.tsv`` or ``.parquet`` file. Rows with std_dev 0 do not belong here.
    notes
        Kept with the release.
    stated
        Other fields of the mechanism: ``bounds=`` of a record, or ``records=`` of a histogram.
    """
    return read_published(path, "gaussian", column="estimate", scale_column="std_dev", notes=notes, **stated)
