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
        To the nearest, with halves up (``"half up"``) or to the even multiple (``"half even"``); or ``"down"`` or
        ``"up"``.
    """
    return _after(mechanism, Round(to, how), "Rounded")


def Withheld(  # noqa: N802
    mechanism: Mechanism,
    *,
    below: float | None = None,
    at_or_below: float | None = None,
    above: float | None = None,
    at_or_above: float | None = None,
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
    """
    given = {"below": below, "at_or_below": at_or_below, "above": above, "at_or_above": at_or_above}
    limits = {name: value for name, value in given.items() if value is not None}
    if len(limits) != 1:
        got = " and ".join(limits) if limits else "none"
        raise ValueError(f"Withheld takes exactly one of below=, at_or_below=, above= or at_or_above=; got {got}.")
    ((name, limit),) = limits.items()
    return _after(mechanism, Withhold(limit, name.endswith("below"), name.startswith("at_or")), "Withheld")


def _after(mechanism: Any, step: Step, name: str) -> Mechanism:
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"{name} takes a mechanism such as mechanisms.Laplace(…) first; got {mechanism!r}.")
    bare = not (mechanism.is_global or mechanism.publishes_intervals)
    return (ProcessedRecords(mechanism) if bare else mechanism).after(step)  # type: ignore[arg-type]
