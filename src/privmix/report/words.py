"""The release and its guarantee in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privmix.posterior import Posterior

# A guess that may be right more often than this is hardly hindered: ε above 4.6.
WEAK = 0.99


def describe_promise(posterior: Posterior) -> str:
    """Return what the guarantee means for one person, in two sentences."""
    mechanism = posterior.model.mechanism
    guarantee = mechanism.guarantee
    surest = None if guarantee is None else guarantee.guess_bound()
    if guarantee is None or surest is None:
        return "No guarantee is known for this release: it may give any record away."
    plain = mechanism.bounds is None or mechanism.categories is not None
    bounds = "" if plain else " between {:g} and {:g}".format(*mechanism.bounds)
    known = "all other records" if mechanism.each.is_global else "everything else"
    weak = " That is a weak promise for the value itself." if surest > WEAK else ""
    asked = f"a person's value is one of two{bounds}"
    if guarantee.neighbours == "add-remove":
        asked = "a person's record is in the data or not"
    return (
        f"Suppose that somebody knows {known}, and that {asked}, both equally likely. "
        f"Guessing which of the two it is, they are right with probability 50% without the release; with it, with "
        f"probability at most {percent_above(surest)}.{weak}"
    )


def percent_above(share: float) -> str:
    """Return a share as a percentage, rounded up: it is a bound."""
    digits = 2 if share < 0.999 else 4
    shown = math.ceil(10 ** (digits + 2) * share - 1e-9) / 10**digits
    return "100%, or next to it" if shown >= 100.0 else f"{shown:.6g}%"


def why_no_clusters(posterior: Posterior) -> str | None:
    """Return why a fit has no clusters of records to show, or None where it has."""
    mechanism = posterior.model.mechanism
    if mechanism.is_counted:
        return (
            "The release is a table of counts: which record is in which bin was not kept, so which records belong "
            "together cannot be known, and no clusters are shown."
        )
    if mechanism.is_global:
        return (
            f"{type(mechanism).__name__} publishes a summary of all records at once. It says nothing on any single "
            "record, so which records belong together cannot be known, and no clusters are shown."
        )
    if "allocation" not in posterior.datatree["posterior"].data_vars:
        return (
            "The clusters of the records were not kept in this fit, to save memory. Fit again with allocations=True to "
            "see them."
        )
    return None
