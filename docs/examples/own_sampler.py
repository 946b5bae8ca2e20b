"""A sampler of one's own: private Neal 5 that visits the records at random, several times a sweep.

Run it: the sampler is tested against its posterior, then compared with the one that it varies.
"""

from dataclasses import dataclass

import numpy as np

from privmix import PrivateMixture, mechanisms, samplers
from privmix.samplers import toolkit
from privmix.samplers.toolkit import move_record, slot, uniform_index, update_clusters
from privmix.testing import check_sampler


@slot
def visits_a_record():
    """Return how often a sweep visits a record on average: the sampler's own number, filled in by `hooks`."""


@dataclass(frozen=True)
class RandomScan(toolkit.Sampler):
    """Private Neal 5, one auxiliary a record, with `visits` moves a record and sweep, in random order."""

    visits: int = 2

    proposes_records = True

    def __post_init__(self):
        toolkit.check_count("visits", self.visits, 1, owner="RandomScan")

    def check(self, model):
        samplers.Neal5().check(model)

    def allocate(self, model, n):
        return samplers.Neal5().allocate(model, n)

    def hooks(self, model):
        # Start, draws and imputed records are those of Neal 5; the sweep is new.
        own = {toolkit.sweep: sweep, visits_a_record: toolkit.constant(self.visits)}
        return {**samplers.Neal5().hooks(model), **own}


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
    update_clusters(parts, state, rng, state.auxiliary)
    return True


def main():
    mechanism = mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0))
    model = PrivateMixture(mechanism)
    print(check_sampler(model, RandomScan()))
    z = mechanism.privatize(np.random.default_rng(1).normal(3.0, 1.0, 200), seed=2)
    for sampler in (samplers.Neal5(), RandomScan()):
        posterior = model.sample(z, sampler, draws=1000, warmup=1000, thin=1, chains=2, seed=3)
        row = posterior.summary(at=3.0).loc["n_clusters"]
        print(f"{sampler!r}: {row['mean']:.1f} clusters, ESS {row['ess_bulk']:.0f}, accepts {posterior.acceptance:.0%}")


if __name__ == "__main__":
    main()
