"""What a plan says, in sentences: its settings, why one mechanism, what is assumed, and a sentence for a protocol."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from privmix.mechanisms import Laplace, Mechanism

if TYPE_CHECKING:
    from privmix.planning.plan import Plan, Row

#: what a budget is called
SYMBOLS = {"epsilon": "ε", "rho": "ρ"}
# Above this share of the error without data nothing is learnt; a rival is as good within this factor.
NEXT_TO_NOTHING, AS_GOOD = 0.97, 1.02
# Number of people beyond which an accuracy is called out of reach.
MOST = 1e12
#: columns of the table, and what they are
COLUMNS = {
    "mechanism": "with its best setting",
    "L1": "expected distance of the estimate from the density: 0 is perfect, 2 the worst there is",
    "90% range": "of L1 over collections and assumed shapes; the prediction itself may be off by a third",
    "bias": "what of it no repetition takes away: lost to smoothing and cells; more people lower it",
    "band": "mean half-width of the 95% band, in units of the uniform density",
    "modes": "chance that every valley between two modes shows",
}


def setting_of(mechanism: Mechanism) -> str:
    """Return what was chosen in a mechanism beside budget and bounds, in a few words."""
    found = [(label, getattr(mechanism, name, None)) for name, label in mechanism.details.items()]
    words = [f"{value} {label}" for label, value in found if isinstance(value, int)]
    words += [f"{value} {label}" for label, value in found if isinstance(value, str)]
    words += [name for name, option in mechanism.options().items() if option.type is bool and getattr(mechanism, name)]
    return ", ".join(words)


def named(mechanism: Mechanism) -> str:
    """Return the name of a mechanism with its setting."""
    setting = setting_of(mechanism)
    return type(mechanism).__name__ + (f" ({setting})" if setting else "")


def budget_in_words(budget: dict[str, float]) -> str:
    """Return a budget as a formula."""
    return ", ".join(f"{SYMBOLS[name]} = {value:g}" for name, value in budget.items())


def error_in_words(value: float) -> str:
    """Return an L1 error in two digits, three below 0.1."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def people_in_words(value: float) -> str:
    """Return a number of people in two digits, as it is known, rounded up."""
    unit = 10.0 ** max(0, math.floor(math.log10(max(value, 1.0))) - 1)
    return f"{math.ceil(value / unit - 1e-9) * unit:,.0f}"


def row_in_words(row: Row) -> list[str]:
    """Return a row of the table as text, in the order of `COLUMNS`."""
    spread = f"{error_in_words(row.low)}–{error_in_words(row.high)}"
    modes = "–" if row.modes is None else f"{row.modes:.0%}"
    numbers = [error_in_words(row.l1), spread, error_in_words(row.cells), error_in_words(row.band), modes]
    return [named(row.mechanism), *numbers]


def needed(plan: Plan, l1: float) -> list[str]:
    """Return what the recommended mechanism and its rival need for an error, a sentence each."""
    other = compared(plan.rows)
    kinds = [type(row.mechanism) for row in (plan.rows[0], other) if row is not None]
    people = plan.for_accuracy(l1, only=kinds).set_index("mechanism")
    budgets = plan.for_accuracy(l1, "budget", only=kinds).set_index("mechanism")
    return [_needed(plan, l1, kind.__name__, people, budgets) for kind in kinds]


def _needed(plan: Plan, l1: float, name: str, people: Any, budgets: Any) -> str:
    n, budget, symbol = people.loc[name, "needed"], budgets.loc[name, "needed"], _symbol(plan)
    first = f"{people_in_words(n)} people at {budget_in_words(plan.budget)}"
    if n != n:
        least = f"{people.loc[name, 'l1']:.2g} is the least"
        first = f"no number of people below {MOST:g} does at {budget_in_words(plan.budget)}: {least}"
    second = f"{symbol} = {budget:.2g} with {plan.n:,} people"
    if budget != budget:
        second = f"no {symbol} does with {plan.n:,} people: {budgets.loc[name, 'l1']:.2g} is the least"
    return f"{name} needs for L1 = {l1:g}: {first}; or {second}."


def compared(rows: list[Row]) -> Row | None:
    """Return what the first row is set against: Laplace noise, else the last row; None where it is alone."""
    others = rows[1:]
    return next((row for row in others if isinstance(row.mechanism, Laplace)), others[-1] if others else None)


def why(plan: Plan) -> str:
    """Return in one sentence why a mechanism is recommended: its error, and what another would need for it."""
    best, other = plan.rows[0], compared(plan.rows)
    words = f"{named(best.mechanism)} has the least expected L1 error, {error_in_words(best.l1)}"
    if other is None:
        return f"{words}; nothing else was compared."
    words += f", where {named(other.mechanism)} leaves {error_in_words(other.l1)} at the same {_symbol(plan)}"
    nothing = plan.error_of_nothing()
    if best.l1 > NEXT_TO_NOTHING * nothing:
        return (
            f"so few people at so small a budget tell next to nothing, whatever the mechanism: {named(best.mechanism)} "
            f"leaves an expected L1 error of {error_in_words(best.l1)}, no data {error_in_words(nothing)}."
        )
    if other.l1 < AS_GOOD * best.l1:
        return f"{words}; {named(other.mechanism)} is as good."
    needed = plan.for_accuracy(best.l1, only=[type(other.mechanism)])["needed"].iloc[0]
    if needed != needed:
        return f"{words}, which no number of people mends."
    return f"{words} and would need {people_in_words(needed)} people instead of {plan.n:,}."


def _symbol(plan: Plan) -> str:
    return SYMBOLS[next(iter(plan.budget))]


def assumptions(plan: Plan) -> list[str]:
    """Return what is assumed, a sentence or two each."""
    shapes = plan.shapes
    given = shapes[0].words if len(shapes) == 1 else f"a panel of {len(shapes)} mixtures, since none was given"
    who = (
        "Local model: each person's value is perturbed before anybody collects it; the mechanisms that need a trusted "
        "holder of the data say so."
        if plan.trusted
        else "Local model: each person's value is perturbed before anybody collects it, and no holder is trusted."
    )
    return [
        who,
        "One release a person: whoever takes part twice spends the budget twice.",
        "The bounds {:g} to {:g} were known without looking at the data.".format(*plan.bounds),
        f"The density looks like {given}. A pilot that it is taken from must be public, or paid for with a budget of "
        "its own.",
        "The density is estimated by privmix.fit or as well. Errors are predicted, not simulated: plan.check() "
        "simulates releases and fits them.",
    ]


def protocol(plan: Plan, mechanism: Any, budget: dict[str, float], n: float, l1: float, spread: str = "") -> str:
    """Return the sentence to put into a protocol.

    Parameters
    ----------
    plan
        For the bounds.
    mechanism
        What is released.
    budget
        Of each person.
    n
        Number of people.
    l1
        Expected error.
    spread
        Its range, in words, where it is known.
    """
    ranged = "(range {:g} to {:g})".format(*plan.bounds)
    through, spent = named(mechanism), budget_in_words(budget)
    start = f"Each person's value {ranged} is released once by {through} with {spent}"
    if mechanism.is_global:
        start = f"A trusted holder releases all values {ranged} once by {through} with {spent}"
    return (
        f"{start}; with n = {n:,.0f} people the L1 error of the estimated density is expected to be "
        f"{error_in_words(l1)}{spread}."
    )


def planned_protocol(plan: Plan) -> str:
    """Return the sentence at the planned setting, with the range of the error."""
    best = plan.rows[0]
    over = "a density like the one assumed" if len(plan.shapes) == 1 else f"{len(plan.shapes)} assumed shapes"
    spread = f" ({error_in_words(best.low)} to {error_in_words(best.high)} in 90% of collections, for {over})"
    return protocol(plan, best.mechanism, plan.budget, plan.n, best.l1, spread)
