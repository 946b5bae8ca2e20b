"""What is done to a release before it is published: clamped, rounded, withheld.

Each function says one thing that was done to the noisy numbers of a mechanism, and they nest in the order in which it
was done: ``Rounded(Clamped(mechanism, lower=0), to=5)`` was clamped first. The guarantee is unchanged: whatever is done
to a release without looking at the data again (post-processing) tells no more of them (Dwork and Roth 2014, Prop. 2.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privmix.mechanisms.base import Mechanism
from privmix.mechanisms.post_processing import Clamp, Round, Step, Withhold
from privmix.mechanisms.processed_records import ProcessedRecords
from privmix.mechanisms.visible_records import VisibleRecords


def Clamped(  # noqa: N802 - it is used as a class is
    mechanism: Mechanism, lower: float | None = None, upper: float | None = None
) -> Mechanism:
    """Return the mechanism whose noisy numbers were moved into limits before they were published.

    A published limit stands for every noisy number beyond it: its likelihood is their whole mass. The guarantee is
    unchanged.

    Parameters
    ----------
    mechanism
        What made the noisy numbers: of each record, or of each bin of a histogram.
    lower, upper
        Limits; at least one of them. ``lower=0`` for counts whose negative values were set to 0.

    Examples
    --------
    >>> from privmix.mechanisms import Laplace
    >>> Clamped(Laplace(epsilon=1.0, bounds=(0.0, 10.0)), lower=0.0).steps
    (Clamp(lower=0.0, upper=inf),)
    """
    return _after(mechanism, Clamp(-np.inf if lower is None else lower, np.inf if upper is None else upper), "Clamped")


def Rounded(mechanism: Mechanism, to: float, how: str = "half up") -> Mechanism:  # noqa: N802
    """Return the mechanism whose noisy numbers were rounded before they were published.

    The likelihood of a published number is the mass of all that round to it. The guarantee is unchanged.

    Parameters
    ----------
    mechanism
        What made the noisy numbers: of each record, or of each bin of a histogram.
    to
        What they were rounded to multiples of.
    how
        To the nearest, with halves up (``"half up"``: 2.5 to 3, −2.5 to −2), to the even multiple (``"half even"``, as
        NumPy and R do) or away from zero (``"half away"``, as C, SQL and spreadsheets do); or ``"down"`` or ``"up"``.
        Halves matter where the noise is on a lattice.
    """
    return _after(mechanism, Round(to, how), "Rounded")


def Withheld(  # noqa: N802
    mechanism: Mechanism,
    *,
    below: float | None = None,
    at_or_below: float | None = None,
    above: float | None = None,
    at_or_above: float | None = None,
    known: bool = True,
    expected: tuple[float, float] | None = None,
) -> Mechanism:
    """Return the mechanism whose noisy numbers on one side of a limit were not published.

    A number that is missing (NaN, or an empty cell) says that it lay on that side: its likelihood is the mass there.
    The guarantee is unchanged.

    Parameters
    ----------
    mechanism
        What made the noisy numbers: of each record, or of each bin of a histogram.
    below, at_or_below, above, at_or_above
        The limit; exactly one of them. With ``below=90`` a noisy number of 90 was published, with ``at_or_below=90`` it
        was not.
    known
        Whether the release shows how many numbers were withheld, as a table does that has an empty cell for each. False
        for records that are missing without a trace: then the number of all records is not known, and is learned.
    expected
        With ``known=False``: shape and rate of the gamma prior of the mean of that number, which is Poisson. By default
        (0.5, 1e-9), Jeffreys's prior made proper.
    """
    given = {"below": below, "at_or_below": at_or_below, "above": above, "at_or_above": at_or_above}
    limits = {name: value for name, value in given.items() if value is not None}
    if len(limits) != 1:
        got = " and ".join(limits) if limits else "none"
        raise ValueError(f"Withheld takes exactly one of below=, at_or_below=, above= or at_or_above=; got {got}.")
    ((name, limit),) = limits.items()
    step = Withhold(limit, name.endswith("below"), name.startswith("at_or"))
    if known:
        if expected is not None:
            raise ValueError("Withheld: expected is the prior of an unknown number of records; give known=False too.")
        return _after(mechanism, step, "Withheld")
    return _without_trace(mechanism, step, expected)


def _without_trace(mechanism: Any, step: Withhold, expected: tuple[float, float] | None) -> Mechanism:
    if isinstance(mechanism, Mechanism) and mechanism.is_global:
        raise ValueError(
            f"Withheld(known=False) is for records that are missing without a trace. {type(mechanism).__name__} "
            "releases a number for each bin, and the bins are known: give NaN for those that were withheld, and leave "
            "known out."
        )
    done: Any = _after(mechanism, step, "Withheld")
    return VisibleRecords(done.mechanism, done.steps, expected)


def _after(mechanism: Any, step: Step, name: str) -> Mechanism:
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"{name} takes a mechanism such as mechanisms.Laplace(…) first; got {mechanism!r}.")
    bare = not (mechanism.is_global or mechanism.publishes_intervals)
    return (ProcessedRecords(mechanism) if bare else mechanism).after(step)  # type: ignore[arg-type]
