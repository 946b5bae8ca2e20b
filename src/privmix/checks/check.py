"""Checks of a fit, in words: did the chains converge, does the model fit the release, what limits the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from privmix.checks.clipped import words_of_beyond
from privmix.checks.predictive_check import BAR, columns_of, compared_parts, predictive_check
from privmix.curves.density import interval_mass
from privmix.curves.mixture import count_of, load_atom, run_over
from privmix.kernels.slots import central_moments
from privmix.model import LARGEST_R_HAT, LEAST_ESS

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from privmix.model import Limits
    from privmix.posterior.posterior import Posterior

# Fewer draws than this of a chain cannot show how it moves.
LEAST_DRAWS = 100
# Below this share of accepted proposals a record waits a hundred sweeps for a move.
LEAST_ACCEPTANCE = 0.01
# A predictive p-value below this, after Bonferroni, is a misfit.
LEAST_P = 0.01
# Bars that a finding names.
MOST_BARS = 3
# Posterior mass outside the bounds that is worth a word.
NOTABLE_MASS = 0.02
# Outermost share of the bounds, the mass and the density against its neighbourhood that look like clipping, and the
# share of draws that must show them.
EDGE, EDGE_MASS, EDGE_FACTOR, EDGE_SURE = 0.02, 0.05, 3.0, 0.9


@dataclass(frozen=True)
class Finding:
    """One thing that a check found.

    Parameters
    ----------
    level
        "good", "note" (know it) or "warning" (the answer may be wrong).
    title, text
        What was looked at, and what was found.
    advice
        What to do; empty where nothing is to be done.
    doubt
        Why no band of the fit is to be trusted, in a few words; empty where this finding is no reason.
    """

    level: Literal["good", "note", "warning"]
    title: str
    text: str
    advice: str = ""
    doubt: str = ""

    def __str__(self) -> str:
        return f"{self.level}: {self.title}: {self.text}" + (f" {self.advice}" if self.advice else "")


def doubt_of(findings: list[Finding]) -> str:
    """Return why no band of a fit is to be trusted, in a few words; empty where the chains have converged."""
    return next((finding.doubt for finding in findings if finding.doubt), "")


def check(posterior: Posterior, replicates: int | None, seed: Any) -> list[Finding]:
    """Return what the checks of a posterior found, warnings first."""
    found = [*check_run(posterior), *check_convergence(posterior.summary()), *check_acceptance(posterior)]
    found += check_sampler(posterior)
    for name, alone in columns_of(posterior):
        found += _titled(name, check_density(alone))
    for name, part in compared_parts(posterior):
        found += _titled(name, check_fit(part, replicates, seed))
    return sorted(found, key=lambda finding: ("warning", "note", "good").index(finding.level))


def _titled(name: str, found: list[Finding]) -> list[Finding]:
    """Return findings with the name of their column, if they are of one."""
    return [replace(f, title=f"{name}: {f.title}") for f in found] if name else found


def check_density(posterior: Posterior) -> list[Finding]:
    """Look at the density of numbers: at its bounds, and for spikes."""
    kernel = posterior.model.kernel
    line = kernel.dimension == 1 and kernel.categories is None
    return [*check_bounds(posterior), *check_narrow(posterior)] if line else []


def check_run(posterior: Posterior) -> list[Finding]:
    """Look at the length of the run and whether it was finished."""
    found = []
    if not posterior.datatree.attrs["complete"]:
        text = f"the run was stopped; {posterior.chains} chains of {posterior.draws} draws were kept."
        found.append(Finding("warning", "interrupted", text, "Go on with posterior.resume(draws)."))
    if posterior.draws < LEAST_DRAWS:
        text = f"{posterior.draws} draws a chain are too few to judge how it moves; {LEAST_DRAWS} is the least."
        advice = "Raise draws, or go on with posterior.resume(draws)."
        found.append(Finding("warning", "short chains", text, advice, "chains are too short"))
    if posterior.chains == 1:
        text = "there is one chain, so that nothing shows whether it forgot its start."
        found.append(Finding("note", "one chain", text, "Run at least 2 chains, better 4."))
    return found


def check_convergence(summary: pd.DataFrame) -> list[Finding]:
    """Look at R-hat and effective sample sizes of quantities that do not depend on labels."""
    found = worst(summary)
    if found.missing:
        text = f"effective sample sizes are not known ({found.missing})."
        return [Finding("warning", "chains", text, "Raise draws and warmup.", "some chain did not move")]
    r_hat, ess = found.r_hat, found.ess
    if math.isnan(r_hat) or math.isnan(ess):
        text = f"R-hat cannot be told from this run; the worst ESS is {ess:.0f}, aim above {LEAST_ESS:.0f}."
        return [Finding("warning", "chains", text, "Run at least 2 chains, raise draws.", "chains cannot be compared")]
    if found.within(LARGEST_R_HAT, LEAST_ESS):
        text = f"the worst R-hat is {r_hat:.3f} and the least effective sample size {ess:.0f}."
        return [Finding("good", "chains", text)]
    text = (
        f"the worst R-hat is {r_hat:.3f} (of {found.r_hat_of}) and the worst ESS {ess:.0f} (of {found.ess_of}); aim at "
        f"R-hat below {LARGEST_R_HAT} and ESS above {LEAST_ESS:.0f}."
    )
    advice = "Go on with posterior.resume(until=dict(r_hat=1.01, ess=400)) or privmix resume; else raise warmup."
    doubt = "chains disagree" if r_hat > LARGEST_R_HAT else "too few effective draws"
    return [Finding("warning", "chains", text, advice, doubt)]


class Worst(NamedTuple):
    """The quantities of a summary with the largest R-hat and the least effective sample size; what is missing."""

    r_hat: float
    r_hat_of: str
    ess: float
    ess_of: str
    missing: str

    def within(self, r_hat: float, ess: float) -> bool:
        """Return whether no quantity is beyond these limits; not where one is unknown."""
        return not self.missing and self.r_hat <= r_hat and self.ess >= ess

    def beyond(self, limits: Limits) -> str:
        """Return which limits are not kept, and what stands there instead, as a sentence."""
        if self.missing:
            return f"the effective sample size is not known ({self.missing})."
        told = []
        if not self.r_hat <= limits.r_hat:
            told.append(f"the worst R-hat is {self.r_hat:.3f} (of {self.r_hat_of}), above {limits.r_hat:g}")
        if not self.ess >= limits.ess:
            told.append(f"the worst ESS is {self.ess:.0f} (of {self.ess_of}), below {limits.ess:g}")
        return "; ".join(told) + "."


def worst(summary: pd.DataFrame) -> Worst:
    """Return the largest R-hat and the least effective sample size of a summary, and of which quantities."""
    table = summary.drop(index="acceptance")
    missing = "; ".join(f"{name}: {note}" for name, note in table["note"].items() if note)
    least, r_hat = table[["ess_bulk", "ess_tail"]].min(axis=1, skipna=False), table["r_hat"]
    if missing or least.isna().any() or r_hat.isna().any():
        return Worst(float(r_hat.max(skipna=False)), "", float(least.min(skipna=False)), "", missing)
    return Worst(float(r_hat.max()), str(r_hat.idxmax()), float(least.min()), str(least.idxmin()), "")


def check_acceptance(posterior: Posterior) -> list[Finding]:
    """Look at the acceptance of proposed records, against its bound e^−ε where that holds."""
    rate, bound = posterior.acceptance, acceptance_bound(posterior)
    if math.isnan(rate) or not posterior.sampler.proposes_records:
        return []
    if bound is not None and rate < bound:
        text = (
            f"{rate:.2%} of proposed records are accepted, below the bound e^−ε = {bound:.2%} that holds for every "
            "proposal under this guarantee. Then log_q or the guarantee of the mechanism is wrong."
        )
        advice = "Check them with privmix.privacy.audit(mechanism)."
        return [Finding("warning", "acceptance", text, advice)]
    if rate < LEAST_ACCEPTANCE:
        text = f"only {rate:.2%} of proposed records are accepted."
        advice = "Use samplers.Auto(), Slice(), Neal5(auxiliaries=5) or an exact sampler such as Neal8()."
        return [Finding("warning", "acceptance", text, advice)]
    above = f", above the bound e^−ε = {bound:.2g}" if bound is not None else ""
    return [Finding("good", "acceptance", f"{rate:.0%} of proposed records are accepted{above}.")]


def check_sampler(posterior: Posterior) -> list[Finding]:
    """Look at what a sampler says of its own run."""
    reported = {str(name): values.values for name, values in posterior.datatree["sample_stats"].to_dataset().items()}
    name = type(posterior.sampler).__name__
    return [Finding("warning", name, *words) for words in posterior.sampler.doubts(reported)]


def acceptance_bound(posterior: Posterior) -> float | None:
    """Return e^−ε, the least probability with which a proposed record is accepted, or None where no bound holds.

    The paper's Proposition 1 needs pure ε-differential privacy and proposals inside the bounds that it is stated for:
    a kernel on the whole line leaves them, and then the ratio of two densities has no bound.
    """
    guarantee, bounds = posterior.model.mechanism.guarantee, posterior.model.mechanism.bounds
    epsilon = None if guarantee is None else guarantee.pure_epsilon
    if epsilon is None or bounds is None or posterior.model.kernel.dimension > 1:
        return None
    lower, upper = posterior.model.kernel.support
    return math.exp(-epsilon) if bounds[0] <= lower and upper <= bounds[1] else None


def check_bounds(posterior: Posterior) -> list[Finding]:
    """Look at mass outside the bounds, and at mass that crowds at an end as clipped records do."""
    bounds = posterior.model.mechanism.bounds
    if posterior.model.mechanism.clipped_at is not None:
        return [Finding("note", "clipped records", words_of_beyond(posterior))]
    if bounds is None:
        return []
    kernel, draws = posterior.model.kernel, posterior.arrays
    try:
        inside = float(interval_mass(kernel, draws, bounds[0], bounds[1], None).mean())
    except ValueError:  # a kernel without a distribution function on a half-line
        return []
    found = [_outside(posterior, 1.0 - inside)] if 1.0 - inside > NOTABLE_MASS else []
    return found + [f for f in (_crowded(posterior, draws, end) for end in ("lower", "upper")) if f is not None]


def _outside(posterior: Posterior, mass: float) -> Finding:
    lower, upper = posterior.model.mechanism.bounds
    name = type(posterior.model.kernel).__name__
    text = (
        f"{name} puts {mass:.1%} of the posterior mass outside the bounds {lower:g} to {upper:g}, where no record lies"
    )
    if posterior.model.restricted_to is not None:
        return Finding("note", "mass outside the bounds", text + "; the density was cut there and renormalised.")
    advice = "Give the model restricted_to=mechanism.bounds, as privmix.fit does, or kernels.Beta, which stays inside."
    return Finding("note", "mass outside the bounds", text + ".", advice)


def _crowded(posterior: Posterior, draws: Any, end: str) -> Finding | None:
    kernel, (lower, upper) = posterior.model.kernel, posterior.model.mechanism.bounds
    strip, at = EDGE * (upper - lower), lower if end == "lower" else upper
    if end == "lower":
        outer, inner = (lower, lower + strip), (lower + strip, lower + 3.0 * strip)
    else:
        outer, inner = (upper - strip, upper), (upper - 3.0 * strip, upper - strip)
    edge, beside = (interval_mass(kernel, draws, a, b, posterior.model.restricted_to) for a, b in (outer, inner))
    # Most draws must show it: without information a beta kernel may pile up mass at an end in some of them.
    if np.mean((edge > EDGE_MASS) & (edge > EDGE_FACTOR * 0.5 * beside)) < EDGE_SURE:
        return None
    text = (
        f"{edge.mean():.0%} of the posterior mass crowds in the last {EDGE:.0%} at the {end} bound {at:g}, "
        "as it does when records beyond a bound were clipped to it."
    )
    advice = "Ask the data holder how many were clipped; the density near this bound is then not that of the data."
    return Finding("note", "crowded bound", text, advice)


def check_narrow(posterior: Posterior) -> list[Finding]:
    """Look for a component that is narrower than the data can tell: a mass at one value."""
    found = narrow_components(posterior)
    if found is None:
        return []
    limit, sd, weight = found
    step = posterior.model.mechanism.lattice_step
    text = f"a component with {weight:.0%} of the records has a standard deviation of {sd:.3g}, below "
    if step is not None:
        text += f"the {limit:.3g} of rounding to multiples of {step:g}: a mass at one value, whose width is unknown."
        advice = "Read the probability of a step with posterior.probability(lower, upper), not the density's height."
    else:
        text += f"{limit:.3g}, the distance of the points at which the density is shown: a mass at one value, or a "
        text += "peak that no curve shows."
        advice = "If records are whole numbers, or multiples of some number, say so with resolution=."
    return [Finding("note", "narrow component", text, advice)]


def check_fit(posterior: Posterior, replicates: int | None, seed: Any) -> list[Finding]:
    """Look at whether the density that is shown could have made the release."""
    table = predictive_check(posterior, None, replicates, seed)
    p = table["p_value"].values
    worst = int(np.argmin(p))
    name = str(table["statistic"].values[worst])
    if p[worst] * len(p) >= LEAST_P:
        text = f"the release looks like one that the model makes (least predictive p-value {p[worst]:.2g}, of {name})."
        return [Finding("good", "fit to the release", text)]
    text = f"the model hardly makes a release like this one (predictive p-value {p[worst]:.2g}): "
    if BAR in table["statistic"] and float(table["p_value"].sel(statistic=BAR)) * len(p) < LEAST_P:
        text += _worst_bars(table)
    else:
        low, high = np.quantile(table["replicated"].values[worst], [0.025, 0.975])
        text += f"its {name} is {float(table['observed'][worst]):.4g}, and that of 95% of replicated releases lies in "
        text += f"{low:.4g} to {high:.4g}."
    advice = (
        "Check that the mechanism and its noise are those of the release; then try another kernel or base measure. "
        "posterior.predictive_check() has the figures."
    )
    return [Finding("warning", "fit to the release", text, advice)]


def _worst_bars(table: xr.Dataset) -> str:
    """Return the bars that are furthest from what the density predicts, with their released and expected shares."""
    deviation = table["deviation"].values
    usual = np.quantile(table["replicated"].sel(statistic=BAR), 1.0 - LEAST_P)
    found = [j for j in np.argsort(-deviation)[:MOST_BARS] if deviation[j] > usual or deviation[j] == deviation.max()]
    return "; ".join(_bar_in_words(table.isel(bar=j)) for j in found) + "."


def _bar_in_words(bar: xr.Dataset) -> str:
    lower, upper, made = float(bar["bar_lower"]), float(bar["bar_upper"]), bar["replicated_share"].values
    low, high = np.quantile(made, [0.025, 0.975])
    where = f"{lower:g}" if lower == upper else f"from {lower:g} to {upper:g}"
    where = str(bar["bar_name"].values) if "bar_name" in bar.coords else where
    return (
        f"the {bar.attrs['bar']} {where} has {float(bar['observed_share']):.3f} of the release, where the density "
        f"shown predicts {made.mean():.3f} ({low:.3f} to {high:.3f} in 95% of replicated releases)"
    )


# Share of the records that a component must have, and of the draws that must have such a component.
NOTABLE_WEIGHT, SURE = 0.02, 0.9
# Where nothing is known of the lattice: the distance of the points at which a density is shown, as a share of the
# bounds. A narrower component is a spike between two of them.
SHOWN = 1.0 / 200.0


def narrow_components(posterior: Posterior) -> tuple[float, float, float] | None:
    """Return limit, sd and weight of the narrowest notable component, where nearly all draws have one below the limit.

    With a lattice of step s the limit is s/√12, the standard deviation of rounding: data that were rounded cannot tell
    a component below it from a single point.
    """
    mechanism, kernel = posterior.model.mechanism, posterior.model.kernel
    if mechanism.bounds is None or kernel.dimension > 1 or not kernel.has("central_moments"):
        return None
    width = mechanism.bounds[1] - mechanism.bounds[0]
    limit = SHOWN * width if mechanism.lattice_step is None else mechanism.lattice_step / math.sqrt(12.0)
    found = np.empty((count_of(posterior.arrays), 2))
    run_over(kernel, narrowest, posterior.arrays, NOTABLE_WEIGHT, np.zeros((1, 4)), found)
    below = found[:, 0] < limit
    if np.mean(below) < SURE:
        return None
    sd, weight = np.median(found[below], axis=0)
    return limit, float(sd), float(weight)


def narrowest(kernel, weight, atom, components, row, least, part, out):
    """Fill out[d] with sd and weight of the narrowest component of draw d that has at least this weight (compiled)."""
    theta, moment = row[0], part[0]
    for d in range(len(weight)):
        out[d, 0], out[d, 1] = math.inf, 0.0
        for h in range(components[d]):
            if weight[d, h] >= least:
                load_atom(kernel, atom, d, h, theta)
                central_moments(kernel, theta, moment)
                sd = math.sqrt(max(moment[1], 0.0))
                if sd < out[d, 0]:
                    out[d, 0], out[d, 1] = sd, weight[d, h]
