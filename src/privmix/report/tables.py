"""Rows of tables as text: the mechanism, the summary of the chains, what the density says, how the fit was made."""

from __future__ import annotations

import math
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from privmix.privacy.guarantees import describe_guarantee

if TYPE_CHECKING:
    import pandas as pd

    from privmix.mechanisms import Mechanism
    from privmix.posterior import Posterior
    from privmix.privacy import Guarantee

# Longest text of a part in a table; scales or edges one by one would fill pages.
LONGEST = 240
QUANTILES = {0.05: "5% lie below", 0.25: "25% lie below", 0.5: "median", 0.75: "75% lie below", 0.95: "95% lie below"}


def mechanism_rows(mechanism: Mechanism, records: int | str) -> list[list[str]]:
    """Return rows that say how the records were released and what that promises; `records` may be in words."""
    each = mechanism.each
    promise = promise_of_all(mechanism.guarantee) if each.is_global else "guarantee of each record"
    rows = [["mechanism", type(each).__name__], [promise, describe_guarantee(mechanism.guarantee)]]
    if mechanism.categories is not None:
        rows.append(["categories", ", ".join(mechanism.categories)])
    elif mechanism.bounds is not None:
        lower, upper = mechanism.bounds
        rows.append(["bounds of a record", f"{lower:g} to {upper:g}"])
    parts = [each, mechanism] if mechanism.is_counted else [each]
    found = [(label, getattr(part, name, None)) for part in parts for name, label in part.details.items()]
    rows += [[label, _shown(value)] for label, value in found if isinstance(value, float | int | str)]
    public = each.is_global and not mechanism.records_unknown
    return [
        *rows,
        ["records (public)" if public else "records", records if isinstance(records, str) else f"{records:,}"],
    ]


def records_in_words(posterior: Posterior, level: float = 0.95) -> str:
    """Return the number of records, with its interval where it is not known."""
    if not posterior.model.mechanism.records_unknown:
        return f"{posterior.records:,}"
    found = posterior.record_count(level)
    lower, upper = float(found["lower"]), float(found["upper"])
    return f"about {posterior.records:,} ({100 * level:g}% interval {lower:,.0f} to {upper:,.0f}; not published)"


def promise_of_all(guarantee: Guarantee | None) -> str:
    """Return what to call the guarantee of one release of all records, by what it hides."""
    relation = "replace" if guarantee is None else guarantee.neighbours
    return "guarantee, one record " + {"replace": "replaced", "add-remove": "added or removed"}[relation]


def _shown(value: float | str) -> str:
    if isinstance(value, float):
        return number(value)
    return value if isinstance(value, str) else f"{value:,}"


def summary_rows(table: pd.DataFrame) -> list[list[str]]:
    """Return the rows of a posterior's summary as text."""
    columns = ("mean", "sd", "ess_bulk", "ess_tail")
    return [
        [str(name), *[number(row[c]) for c in columns], number(row["r_hat"], 4), str(row["note"])]
        for name, row in table.iterrows()
    ]


def number(value: Any, digits: int = 3) -> str:
    """Return a number with a few significant digits, and whole above that; a missing one as a dash."""
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def answer_rows(posterior: Posterior, level: float) -> list[list[str]]:
    """Return rows that answer common questions on the confidential data, with their intervals.

    A kernel that has no moments or no quantiles leaves its rows out.
    """
    rows = []
    try:
        moments = posterior.moments(level)
        for name, label in (("mean", "mean"), ("sd", "standard deviation")):
            rows.append([label, *interval_of(moments.sel(moment=name))])
    except (ValueError, NotImplementedError):
        pass
    try:
        quantiles = posterior.quantile(list(QUANTILES), level)
        rows += [[label, *interval_of(quantiles.isel(prob=j))] for j, label in enumerate(QUANTILES.values())]
    except (ValueError, NotImplementedError):
        pass
    return rows


def interval_of(row: Any) -> list[str]:
    """Return a mean and its interval as text."""
    return [number(float(row["mean"]), 4), f"{number(float(row['lower']), 4)} to {number(float(row['upper']), 4)}"]


def setting_rows(posterior: Posterior) -> list[list[str]]:
    """Return rows that say how the fit was made; the seed is left out, because it may have made the release too."""
    model, plan, attrs = posterior.model, posterior.plan, posterior.datatree.attrs
    seconds = max(float(value) for value in attrs["seconds"])
    rows = [["mechanism", shorten(model.mechanism)], ["kernel", shorten(model.kernel)], ["prior", shorten(model.prior)]]
    rows.append(["sampler", shorten(posterior.sampler)])
    if "auto" in attrs:
        rows.append(["why this sampler", shorten(str(attrs["auto"]).partition(": ")[2] or str(attrs["auto"]))])
    rows.append(["chains and draws", f"{counted(posterior.chains, 'chain')} of {counted(posterior.draws, 'draw')}"])
    rows.append(["warm-up and thinning", f"{counted(plan.warmup, 'sweep')} first, then {plan.thin:,} for each draw"])
    if "seeded" in attrs:
        rows.append(["random numbers", "from a seed, not shown" if attrs["seeded"] else "fresh"])
    if model.restricted_to is not None:
        rows.append(["density cut to", "{:g} to {:g}".format(*model.restricted_to)])
    return [*rows, ["time of the slowest chain", f"{number(seconds)} s"], ["versions at this report", versions()]]


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, in the plural where there is not one."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def shorten(value: Any) -> str:
    """Return a part as text, cut where it is long."""
    text = " ".join((value if isinstance(value, str) else repr(value)).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def versions() -> str:
    """Return the versions of the library, of Python and of what numbers depend on."""
    names = ("privmix", "numpy", "scipy", "numba")
    return f"Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in names)
