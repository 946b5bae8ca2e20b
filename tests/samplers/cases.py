"""The models, samplers and planted bugs of the statistical tests, and the rules by which `make test` takes some."""

import numpy as np
import pytest

from kernels.examples import BUILT_IN as KERNELS
from mechanisms.examples import ALL as EXAMPLES_OF_MECHANISMS
from mutants import all_mutants
from priors.examples import EXAMPLES as EXAMPLES_OF_PRIORS
from privmix import PrivateMixture, kernels, mechanisms, priors, samplers
from privmix.samplers.binned.bits import tells_sets
from privmix.samplers.capabilities import check_served

WIDE, NARROW, UNIT = (-10.0, 10.0), (-3.0, 3.0), (0.0, 1.0)

# Every sampler that the library exports, as it is by default; then what its settings make of it.
# Trajectories are short and their table coarse, so that their twin in plain Python is not waited for.
QUICK = {"Lifted": samplers.Lifted(most_steps=2, grid=(40, 12))}
BUILT_IN = [
    QUICK.get(name) or getattr(samplers, name)() for name in samplers.__all__ if name not in ("Auto", "Sampler")
]
SETTINGS = [
    samplers.Neal5(auxiliaries=5),
    samplers.Neal5(exact=True),
    samplers.Neal5(exact=True, update="impute"),
    samplers.Neal8(auxiliaries=1, update="impute"),
    samplers.Slice(records="exact"),
    samplers.Slice(records="integrated"),
    samplers.Slice(records="integrated", update="walk"),
    samplers.SplitMerge(samplers.Neal5(exact=True), proposals=2, allocation="restricted"),
    samplers.SplitMerge(samplers.Neal2()),
    samplers.SplitMerge(samplers.Neal3()),
    samplers.SplitMerge(samplers.Neal3(), proposals=2, allocation="restricted"),
]
SAMPLERS = BUILT_IN + SETTINGS


def _kernels():
    yield kernels.Normal(), WIDE
    yield kernels.HierarchicalNormal(WIDE), WIDE
    yield kernels.Beta(), UNIT
    yield kernels.TruncatedNormal(UNIT, location=0.0, rate=0.1), UNIT


def _mechanisms(bounds):
    """Every mechanism that perturbs each record; the first of each kernel comes first."""
    yield mechanisms.Laplace(epsilon=5.0, bounds=bounds)
    yield mechanisms.Gaussian(epsilon=5.0, delta=0.01, bounds=bounds)
    yield mechanisms.HaarWavelet(levels=3, epsilon=5.0, bounds=bounds)
    yield mechanisms.RandomizedResponse(cells=6, epsilon=3.0, bounds=bounds)
    yield mechanisms.SquareWave(epsilon=3.0, bounds=bounds)
    yield mechanisms.Identity()


def _processed(bounds, kernel):
    """Records after post-processing: clamped and rounded, withheld, on a lattice; of additive noise and of a wave."""
    lower, upper = bounds
    laplace, width = mechanisms.Laplace(epsilon=5.0, bounds=bounds), upper - lower
    step = mechanisms.Clamped(mechanisms.Rounded(laplace, to=0.15 * width), lower - 0.15 * width, upper)
    yield PrivateMixture(mechanisms.Withheld(step, at_or_below=lower + 0.3 * width), kernel)
    gaussian = mechanisms.Gaussian(scale=0.1 * width, bounds=bounds)
    yield PrivateMixture(mechanisms.Clamped(gaussian, lower=lower + 0.45 * width, upper=upper), kernel)
    yield PrivateMixture(mechanisms.Withheld(mechanisms.SquareWave(epsilon=3.0, bounds=bounds), above=upper), kernel)
    lattice = mechanisms.OnLattice(mechanisms.Laplace(epsilon=10.0, bounds=bounds), 0.15 * width)
    yield PrivateMixture(mechanisms.Clamped(lattice, lower=lower + 0.4 * width), kernel)


def _histograms(bounds):
    """Every global mechanism, with unequal bins in one of them."""
    yield mechanisms.SmoothedHistogram(10, 4, 12, epsilon=12.0, bounds=bounds)
    middle = 0.5 * (bounds[0] + bounds[1])
    yield mechanisms.NoisyHistogram(10, [bounds[0], middle, 0.8 * middle + 0.2 * bounds[1], bounds[1]], epsilon=2.0)
    yield mechanisms.NoisyHistogram(10, 4, noise="discrete laplace", epsilon=2.0, bounds=bounds)
    yield mechanisms.NoisyHistogram(10, 4, noise="discrete gaussian", rho=0.5, bounds=bounds)
    yield mechanisms.NoisyHistogram(10, 4, "gaussian", scale=[0.5, 2.0, 1.0, 3.0], bounds=bounds)
    whole = mechanisms.NoisyHistogram(10, 4, noise="discrete laplace", epsilon=2.0, bounds=bounds)
    yield mechanisms.Withheld(mechanisms.Rounded(whole, to=2), below=2)
    yield mechanisms.Tables(whole, mechanisms.NoisyHistogram(10, 2, "gaussian", rho=0.5, bounds=bounds))


def _chosen():
    """Every pair of the parts above, the reference first, and one with a scale for each record."""
    for kernel, bounds in _kernels():
        for mechanism in _mechanisms(bounds):
            yield PrivateMixture(mechanism, kernel)
    yield PrivateMixture(mechanisms.Gaussian(scale=2.0, bounds=WIDE), kernels.NoisyNormal(noise=2.0))
    learned = kernels.Normal(mean=(0.0, 3.0), rate=(3.0, 1.0))
    yield PrivateMixture(mechanisms.Laplace(epsilon=5.0, bounds=WIDE), learned)
    yield PrivateMixture(mechanisms.Laplace(epsilon=np.geomspace(1.0, 20.0, 10), bounds=WIDE), kernels.Normal())
    for kernel, bounds in ((kernels.Normal(), WIDE), (kernels.Beta(), UNIT), (kernels.TruncatedNormal(UNIT), UNIT)):
        yield from _processed(bounds, kernel)
    narrow = mechanisms.Laplace(epsilon=5.0, bounds=NARROW), mechanisms.Gaussian(scale=1.0, bounds=NARROW)
    for mechanism in map(mechanisms.Clipped, narrow):
        yield PrivateMixture(mechanism, kernels.Normal())
    yield PrivateMixture(mechanisms.Clamped(mechanisms.Clipped(narrow[0]), lower=-1.0), kernels.Normal())
    for kernel, bounds in ((kernels.Beta(), UNIT), (kernels.Normal(), NARROW), (kernels.TruncatedNormal(), UNIT)):
        for mechanism in _histograms(bounds):
            yield PrivateMixture(mechanism, kernel, priors.DirichletProcess((4.0, 2.0)))


def _others(chosen):
    """Every part that the library exports and no model above has, so that a new one is not left out."""
    reference = chosen[0].mechanism
    for kind in KERNELS:
        if not any(type(model.kernel) is kind for model in chosen):
            yield PrivateMixture(reference, kind.for_mechanism(reference))
    missing = [m for m in EXAMPLES_OF_MECHANISMS if not any(type(model.mechanism) is type(m) for model in chosen)]
    for mechanism in {type(m): m for m in reversed(missing) if m.bounds is not None}.values():
        yield PrivateMixture(mechanism, kernels.HierarchicalNormal(mechanism.bounds))


def _priors():
    """Every other prior than the Dirichlet process: by proposals and g, with a conjugate marginal, and on counts."""
    for kind, examples in EXAMPLES_OF_PRIORS.items():
        if kind is not priors.DirichletProcess:
            prior = examples[-1]
            yield PrivateMixture(mechanisms.Laplace(epsilon=5.0, bounds=WIDE), kernels.Normal(), prior)
            yield PrivateMixture(mechanisms.Gaussian(scale=2.0, bounds=WIDE), kernels.NoisyNormal(noise=2.0), prior)
            yield PrivateMixture(mechanisms.NoisyHistogram(10, 4, epsilon=2.0, bounds=NARROW), kernels.Normal(), prior)


CHOSEN = list(_chosen())
MODELS = [*CHOSEN, *_others(CHOSEN), *_priors()]


def serves(model, sampler):
    """Return whether a sampler serves a model, without rounding its release (for that see test_global.py)."""
    try:
        check_served(sampler, model)
    except ValueError:
        return False
    mechanism = model.mechanism
    known = mechanism.is_global or mechanism.outputs is not None or _has_few_values(mechanism) or tells_sets(model)
    return known or not isinstance(sampler, samplers.Binned)


def _has_few_values(mechanism):
    """Return whether every published record is one of few values, so that counts of bins say all of it."""
    return {type(step).__name__ for step in getattr(mechanism, "steps", ())} == {"Round", "Clamp", "Withhold"}


def likelihood(model):
    """Return how a model's records meet the release."""
    mechanism = model.mechanism
    if mechanism.is_global:
        return "all at once"
    known = {"revealed": mechanism.reveals, "a row": mechanism.row_length is not None}
    known["a scale each"] = mechanism.varying_fields()
    known["an interval"] = mechanism.publishes_intervals
    return next((name for name, holds in known.items() if holds), "a number")


def closed_form(model):
    """Return what tells the formulas of two models apart."""
    mechanism = model.mechanism
    return getattr(model.convolution, "name", ""), type(mechanism).__name__, getattr(mechanism, "noise", "")


def label_step(sampler):
    """Return the kind of a sampler's label step: what it has of the release, and whether its rows are sticks."""
    if isinstance(sampler, samplers.Binned):
        return "counts", True
    conjugate = getattr(sampler, "inner", sampler).conjugate
    return "proposals" if sampler.proposes_records else "marginals" if conjugate else "g", sampler.holds_sticks


def what_a_case_tries(model, sampler):
    """Return all that a case is an example of: each of these must have one."""
    step = label_step(sampler)
    yield "sampler", repr(sampler)
    yield "likelihood", likelihood(model), step
    if model.convolution is None or step[0] != "proposals":  # proposals know q alone
        yield "closed form", closed_form(model)
    yield "kernel", type(model.kernel), model.kernel.hyperparameters
    # Partitions and sticks use other parts of a prior; what labels know of the release is none of its business.
    yield "prior", type(model.prior), step[1]


def covering(served):
    """Return few pairs of model and sampler that try everything there is to try once.

    Every sampler; every kind of likelihood with every kind of label step; every closed form, g(z|θ) of the pair or the
    noise of a histogram; every kernel, and with hyperpriors where they are a choice; every prior by partitions and by
    sticks. Each time the case is taken that tries most of what is still missing, the first of several.
    """
    tried = [frozenset(what_a_case_tries(*case)) for case in served]
    missing, chosen = frozenset().union(*tried), []
    while missing:
        best = max(range(len(served)), key=lambda j: len(tried[j] & missing))
        chosen.append(served[best])
        missing -= tried[best]
    return chosen


EVERY = [(model, sampler) for model in MODELS for sampler in SAMPLERS if serves(model, sampler)]
COVERING = covering(EVERY)


def first_of_each(cases, kind):
    """Return the first case of each kind."""
    return list({kind(case): case for case in reversed(cases)}.values())[::-1]


def room_or_sampler(mutant):
    """Return where a bug is planted: the sampler, the moves that samplers share, or else the room."""
    parts = mutant.edits[0][0].__module__.split(".")
    return ".".join(parts[1:3]) if parts[1] == "samplers" else parts[1]


# The paper's own mistakes; then a bug for every sampler and for every other room. The long run has all.
MUTANTS = [m for m in all_mutants() if not m.equivalent]
PUBLISHED = [m for m in MUTANTS if m.name.startswith(("published", "printed"))]
DEFAULT = PUBLISHED + first_of_each([m for m in MUTANTS if m not in PUBLISHED], room_or_sampler)


def rest_long(chosen, every):
    """Return parameters of a test: the chosen ones for `make test`, the others for the long run."""
    return [*chosen, *(pytest.param(*_tuple(case), marks=pytest.mark.long) for case in every if case not in chosen)]


def _tuple(case):
    return case if isinstance(case, tuple) else (case,)


def name(value):
    """Return a short name for test ids."""
    return value.describe() if isinstance(value, PrivateMixture) else repr(value)
