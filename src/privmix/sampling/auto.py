"""The pilot of `samplers.Auto`: the candidate that gives more effective draws of the density for the same cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from privmix.curves.density import density_draws
from privmix.engine import Plan
from privmix.engine.chains import run_chain
from privmix.engine.draws import stack_draws
from privmix.samplers import Auto, Sampler
from privmix.samplers.auto import Candidate

# The pilot of a candidate takes this share of the sweeps that were asked for, within limits: below the first it would
# tell nothing, beyond the second nothing more.
SHARE, LEAST, MOST = 0.03, 150, 1500
# The rule's choice stands unless the other is this many times better: a short pilot sees no more.
CLEARLY = 2.0
# Where the density is followed: quantiles of the plausible records.
WATCHED = (0.02, 0.2, 0.4, 0.6, 0.8, 0.98)


def choose(auto: Auto, plan: Plan, seed: Any) -> tuple[Sampler, str]:
    """Return a sampler for the plan, and why."""
    candidates = auto.candidates(plan.model, plan.z)
    first = candidates[0]
    sweeps = min(int(SHARE * plan.sweeps), MOST)
    if not auto.pilot or sweeps < LEAST or len(candidates) == 1 or plan.model.kernel.dimension > 1:
        return first.sampler, f"{first.sampler!r} by rule: {first.reason}"
    rates = [pilot_rate(candidate, plan, sweeps, seed) for candidate in candidates]
    chosen = 1 if rates[1] > CLEARLY * rates[0] else 0
    other = candidates[1 - chosen].sampler
    return candidates[chosen].sampler, (
        f"{candidates[chosen].sampler!r}: {first.reason}; a pilot of {sweeps} sweeps gave it "
        f"{rates[chosen] / max(rates[1 - chosen], 1e-300):.2g} times the effective draws of {other!r} at the same cost"
    )


def pilot_rate(candidate: Candidate, plan: Plan, sweeps: int, seed: Any) -> float:
    """Return the least effective sample size of the density over the watched points, for a unit of nominal cost."""
    model = plan.model
    half = sweeps // 2
    short = replace(plan, sampler=candidate.sampler, draws=sweeps - half, warmup=half, thin=1, allocations=False)
    draws = stack_draws([run_chain(short, seed).draws])
    points = np.unique(np.quantile(model.mechanism.initial(plan.z), WATCHED))
    lower, upper = model.kernel.support
    points = np.ascontiguousarray(points[(points > lower) & (points < upper)])
    values = density_draws(model.kernel, draws, points)[0]
    return min(effective_size(values[:, j]) for j in range(len(points))) / candidate.cost


def effective_size(values: np.ndarray, batches: int = 10) -> float:
    """Return the effective sample size of a short chain by batch means."""
    length = len(values) // batches
    means = values[: batches * length].reshape(batches, length).mean(axis=1)
    spread = np.var(values)
    return float(len(values) * spread / max(length * np.var(means, ddof=1), 1e-300)) if spread > 0.0 else 0.0
