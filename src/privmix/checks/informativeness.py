"""Whether a release tells anything beyond the prior: the distance of the posterior from it, with its null range."""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.curves.counts import chances_finder, counts_unknown
from privmix.curves.density import density_mean
from privmix.curves.predictive import draw_records, release_counts, release_records
from privmix.curves.prior import inside_draws, prior_draws, prior_mean_density
from privmix.engine import Plan, run_chains
from privmix.engine.block import stack_draws
from privmix.engine.chains import root_of
from privmix.model import PrivateMixture, Settings
from privmix.parts.checks import check_count
from privmix.samplers.base import Draws, empty_records

if TYPE_CHECKING:
    from privmix.posterior.posterior import Posterior

# Sweeps of each refit: shorter runs make the null range wider, so that the answer errs towards "no".
REFIT = Settings(draws=500, warmup=500, thin=5, chains=2)
# Releases without information that are refitted.
RELEASES = 20
# Points of the grid on which densities are compared.
POINTS = 400
# Draws behind the prior mean probability of a bin. What they miss it by widens the null range: the answer errs towards
# "no".
NULL_ATOMS = 50_000
# Rounds in which null records outside the bounds are drawn again.
ROUNDS = 1000
# Share of releases without information that may be taken for informative.
ERROR = 0.05


@dataclass(frozen=True)
class Informativeness:
    """How far the posterior mean density is from the prior's, against releases that have nothing to tell.

    Parameters
    ----------
    distance
        Hellinger distance of the two mean densities: 0 for equal ones, 1 for ones without common ground.
    null_distances
        The same for simulated releases of records that follow the prior mean density itself.
    null_upper
        What a null distance exceeds with probability at most 5% (or 1 in `null` + 1, where there are fewer than 19).
    informative
        Whether the distance is beyond `null_upper`.
    sentence
        The answer in words.
    """

    distance: float
    null_distances: np.ndarray
    null_upper: float
    informative: bool
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def informativeness(
    posterior: Posterior, *, null: int, settings: Settings, seed: Any, executor: Executor | None
) -> Informativeness:
    """Compare the posterior mean density with the prior's; `Posterior.informativeness` documents the parameters."""
    check_count("null", null, 1)
    model, plan = posterior.model, posterior.plan
    if model.kernel.dimension > 1:
        raise ValueError(
            f"informativeness compares densities on a line; these records have {model.kernel.dimension} coordinates. "
            "Compare posterior.predictive(size) with draws from the prior."
        )
    if model.kernel.categories is not None:
        raise ValueError("informativeness compares densities of numbers; these records are categories.")
    short = Plan(model, plan.sampler, plan.z, settings.draws, settings.warmup, settings.thin, allocations=False)
    seeds = root_of(seed).spawn(null + 1)
    yardstick = Yardstick.of(posterior, np.random.default_rng(seeds[0]))
    distances = np.array([yardstick.null_distance(short, settings.chains, each, executor) for each in seeds[1:]])
    return judge(yardstick.distance(posterior.arrays), distances)


@dataclass(frozen=True)
class Yardstick:
    """The prior mean density of a model on a grid: what posteriors are measured against.

    Where the release is a table of counts, also the probability of each bin under it.
    """

    model: PrivateMixture
    grid: np.ndarray
    prior_mean: np.ndarray
    null_chances: np.ndarray | None = None

    @classmethod
    def of(cls, posterior: Posterior, rng: np.random.Generator) -> Yardstick:
        """Return the yardstick of a posterior's model, over its default grid."""
        grid = posterior.default_grid(POINTS)
        mean = prior_mean_density(posterior.model, grid, rng)
        return cls(posterior.model, grid, mean, prior_chances(posterior.model, rng))

    def distance(self, draws: Draws) -> float:
        """Return the Hellinger distance of the mean density of draws from the prior mean density."""
        mean = density_mean(self.model.kernel, draws, self.grid, self.model.restricted_to)
        return hellinger(mean, self.prior_mean, float(self.grid[1] - self.grid[0]))

    def null_release(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return a release of n records that follow the prior mean density, inside the bounds.

        Each record has a mixing measure of its own, so that together they follow the mean and have no clusters.
        Records inside the bounds, because those behind a release are: to learn that is no information.
        """
        if self.null_chances is not None:
            return release_counts(self.model, rng.multinomial(n, self.null_chances).astype(np.float64), rng)[1]
        kept, z = self.model.mechanism.keep_published, np.zeros(0)
        for _ in range(ROUNDS):  # once, but where records are withheld without a trace: until as many are published
            made = kept(release_records(self.model, self._null_records(n, rng), rng))
            z = np.concatenate([z, made]) if len(z) else made
            if self.model.mechanism.is_global or len(z) >= n:
                break
        return z if self.model.mechanism.is_global else z[:n]

    def _null_records(self, n: int, rng: np.random.Generator) -> np.ndarray:
        model, kernel, numbers = self.model, self.model.kernel, np.arange(n)
        if model.restricted_to is not None:
            own = inside_draws(model, prior_draws(model, 2 * n + 20, rng, remainder=1e-2), model.restricted_to)
            return draw_records(kernel, own, numbers, empty_records(model, n), rng, model.restricted_to)
        lower, upper = model.mechanism.bounds or kernel.support
        y = np.full(n, np.inf)
        for _ in range(ROUNDS):
            missing = np.flatnonzero(~((y >= lower) & (y <= upper)))
            if not len(missing):
                break
            own = prior_draws(model, n, rng, remainder=1.0)
            y[missing] = draw_records(kernel, own, numbers, empty_records(model, n), rng)[: len(missing)]
        return np.clip(y, lower, upper)

    def null_distance(self, plan: Plan, chains: int, seed: Any, executor: Executor | None = None) -> float:
        """Return the distance of a short fit of a release without information."""
        data, *starts = seed.spawn(1 + chains)
        z = self.null_release(plan.records, np.random.default_rng(data))
        done, complete = run_chains(replace(plan, z=z), starts, executor=executor)
        if not complete:
            raise KeyboardInterrupt
        return self.distance(stack_draws([chain.pieces for chain in done]))


def prior_chances(model: PrivateMixture, rng: np.random.Generator) -> np.ndarray | None:
    """Return the prior mean probability of each bin of a table of counts, by simulation; None for other releases."""
    if not (model.mechanism.is_counted or counts_unknown(model)):
        return None
    lower, upper = model.kernel.support
    bounds = model.mechanism.bounds or (lower, upper)
    if lower < bounds[0] or upper > bounds[1]:
        if not model.mechanism.is_counted:  # drawn one by one
            return None
        raise ValueError(
            f"informativeness compares with records inside the bounds, and {type(model.kernel).__name__} puts some "
            "outside, which a table of counts does not tell apart. Use kernels.TruncatedNormal, or fit the records."
        )
    draws = prior_draws(model, NULL_ATOMS, rng, remainder=1.0)
    return chances_finder(model, draws)(np.arange(NULL_ATOMS))


def hellinger(p: np.ndarray, q: np.ndarray, step: float) -> float:
    """Return the Hellinger distance of two densities on the middles of equal cells; what lies outside is one more."""
    inside = step * float(np.sum(np.sqrt(p * q)))
    outside = math.sqrt(max(0.0, 1.0 - step * float(p.sum())) * max(0.0, 1.0 - step * float(q.sum())))
    return math.sqrt(max(0.0, 1.0 - inside - outside))


def judge(distance: float, null_distances: np.ndarray) -> Informativeness:
    """Return the answer: a distance against those of releases that have nothing to tell.

    A null release is exchangeable with one more of its kind, so that the k-th smallest of m null distances is exceeded
    with probability 1 − k/(m + 1); k is the least with at most 5%.
    """
    count = len(null_distances)
    k = min(count, math.ceil((1.0 - ERROR) * (count + 1)))
    upper = float(np.sort(null_distances)[k - 1])
    informative = bool(distance > upper)
    told = (
        "The release tells more than the prior"
        if informative
        else "The release does not show that it tells more than the prior"
    )
    sentence = (
        f"{told}: the posterior mean density is at Hellinger distance {distance:.3f} from the prior mean density (0 is "
        f"equal, 1 the farthest), and {count} simulated releases of records that follow the prior mean density itself "
        f"gave {float(np.min(null_distances)):.3f} to {float(np.max(null_distances)):.3f}."
    )
    return Informativeness(distance, null_distances, upper, informative, sentence)
