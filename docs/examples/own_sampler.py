"""A sampler of one's own: private Neal 5 that visits the records at random, several times a sweep.

Run it: the sampler is tested against its posterior, then compared with the one that it varies.
"""

from dataclasses import dataclass

import numpy as np

from privmix import PrivateMixture, mechanisms, samplers
from privmix.jit import slot
from privmix.numerics import uniform_index
from privmix.priors.slots import update_given_partition
from privmix.samplers import Neal5, base
from privmix.samplers.moves.atoms import update_atoms, update_base
from privmix.samplers.moves.partition import CLUSTERS, ROWS
from privmix.samplers.neal5 import move_record
from privmix.testing import check_sampler


@slot
def visits_a_record():
    """Return how often a sweep visits a record on average: the sampler's own number, filled in by `hooks`."""


def sweep(parts, data, state, rng):
    """Move records chosen at random, then update atoms, base measure and concentration.

    Which record is next does not depend on the state, and each move leaves the posterior unchanged: so does the sweep.
    """
    n = len(state.allocation)
    visits = visits_a_record() * n
    accepted = 0
    for _ in range(visits):
        accepted += move_record(parts, data, state, rng, uniform_index(rng, n))
    state.statistic[0] = accepted / visits
    rows = state.cursor[ROWS]
    update_atoms(parts.kernel, rng, state, rows, state.auxiliary)
    update_base(parts.kernel, rng, state, rows)
    state.concentration[0] = update_given_partition(parts.prior, rng, state.concentration[0], n, state.cursor[CLUSTERS])
    return True


def constant(value):
    """Return a function that returns a number: how a number of the sampler's own enters compiled code."""

    def filled():
        return value

    return filled


@dataclass(frozen=True)
class RandomScan(base.Sampler):
    """Private Neal 5, one auxiliary a record, with `visits` moves a record and sweep, in random order."""

    visits: int = 2

    def __post_init__(self):
        if not isinstance(self.visits, int) or self.visits < 1:
            raise ValueError(f"RandomScan: visits must be a whole number of at least 1; got {self.visits!r}.")

    def check(self, model):
        Neal5().check(model)

    def allocate(self, model, n):
        return Neal5().allocate(model, n)

    def hooks(self, model):
        # Start, draws and imputed records are those of Neal 5; the sweep is new.
        return {**Neal5().hooks(model), base.sweep: sweep, visits_a_record: constant(self.visits)}


def main():
    mechanism = mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0))
    model = PrivateMixture(mechanism)
    print(check_sampler(model, RandomScan()))
    z = mechanism.privatize(np.random.default_rng(1).normal(3.0, 1.0, 200), seed=2)
    for sampler in (samplers.Neal5(), RandomScan()):
        posterior = model.sample(z, sampler, draws=1000, warmup=1000, chains=2, seed=3)
        row = posterior.summary(at=3.0).loc["n_clusters"]
        print(f"{sampler!r}: {row['mean']:.1f} clusters, ESS {row['ess_bulk']:.0f}, accepts {posterior.acceptance:.0%}")


if __name__ == "__main__":
    main()
