"""Examples of every prior that `privmix.priors` exports: a new one is picked up with its defaults."""

from dataclasses import is_dataclass

import numpy as np

from privmix import priors
from privmix.priors import Dirichlet, DirichletProcess, FiniteMixture, PitmanYor, slots

BUILT_IN = [cls for cls in (getattr(priors, name) for name in priors.__all__) if is_dataclass(cls)]

#: three settings of each, the last learned; any other prior is tried with its defaults
SETTINGS = {
    DirichletProcess: [DirichletProcess(), DirichletProcess(0.2), DirichletProcess((4.0, 2.0))],
    PitmanYor: [PitmanYor(0.5, 0.5), PitmanYor(0.25, -0.1), PitmanYor(0.25, (4.0, 2.0))],
    Dirichlet: [Dirichlet(4, 0.5), Dirichlet(30, 0.05), Dirichlet(4, (4.0, 4.0))],
    FiniteMixture: [
        FiniteMixture("poisson", 4.0, 0.5),
        FiniteMixture("beta negative binomial", 3.0, 1.0),
        FiniteMixture("geometric", 4.0, (4.0, 4.0)),
    ],
}
EXAMPLES = {cls: SETTINGS.get(cls) or [cls()] for cls in BUILT_IN}
ALL = [prior for examples in EXAMPLES.values() for prior in examples]


def hook(prior, slot, *arguments):
    """Call the function with which a prior fills a slot."""
    return prior.hooks()[slot](prior, *arguments)


def law_of(prior, n, rng):
    """Return what a chain on n records keeps of a prior, drawn from it."""
    law = np.zeros(prior.law_size(n))
    law[0] = prior.draw_concentration(rng)
    hook(prior, slots.draw_unseen, rng, law)
    return law
