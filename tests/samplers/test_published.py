"""Records that were clamped, rounded or withheld: the exact law of the partition of four, and rounding to bins."""

import numpy as np
import pytest

from oracles import truncated_partitions
from privmix import PrivateMixture, kernels, mechanisms, priors, samplers
from privmix.mechanisms import Clamped, Gaussian, Laplace, Rounded, Withheld
from privmix.samplers.binned.bins import find_bins
from privmix.testing import enumeration_test
from record import note
from samplers.cases import SAMPLERS, rest_long

# bounds, location, spread, shape, rate
EDGE = ((0.0, 1.0), 0.1, 0.25, 3.0, 0.06)
KERNEL = kernels.TruncatedNormal(EDGE[0], EDGE[3], *EDGE[1:3], EDGE[4])
NOISE = {"laplace": Laplace(scale=0.2, bounds=EDGE[0]), "gaussian": Gaussian(scale=0.2, bounds=EDGE[0])}
#: what was published, and by hand the noisy values behind it
CASES = {
    "clamped": ([0.1, 0.3, 0.35, 0.9], [(-np.inf, 0.1), (0.3, 0.3), (0.35, 0.35), (0.9, 0.9)]),
    "all": ([0.0, np.nan, 0.5, 0.75], [(-np.inf, 0.125), (0.875, np.inf), (0.375, 0.625), (0.625, 0.875)]),
}


def model_of(case, noise):
    mechanism = Clamped(NOISE[noise], lower=0.1)
    if case == "all":
        mechanism = Withheld(Rounded(Clamped(NOISE[noise], lower=0.0), to=0.25), above=0.9)
    return PrivateMixture(mechanism, KERNEL, priors.DirichletProcess(1.0))


def takes(case, noise, sampler):
    try:
        sampler.check(model_of(case, noise))
    except ValueError:
        return False
    return case == "all" or not isinstance(sampler, samplers.Binned)  # bins that are the published values


EVERY = [(case, noise, s) for case in CASES for noise in NOISE for s in SAMPLERS if takes(case, noise, s)]


@pytest.mark.parametrize(("case", "noise", "sampler"), rest_long([], EVERY), ids=repr)
def test_partitions_follow_their_exact_law(case, noise, sampler):
    released, behind = CASES[case]
    exact = truncated_partitions.partition_posterior(np.array(behind), noise, 0.2, 1.0, *EDGE)
    many, sweeps = (4000, 40) if isinstance(sampler, samplers.Binned) else (8000, 150)
    result = enumeration_test(model_of(case, noise), sampler, np.array(released), exact, chains=many, sweeps=sweeps)
    note(f"{case}, {noise}, enumeration", f"`{sampler!r}`", f"{result.p_value:.2g}", "law of the partition")
    assert result.p_value > 1e-6, str(result)


@pytest.mark.long
def test_forgotten_clamp_is_seen():
    released, behind = CASES["clamped"]
    exact = truncated_partitions.partition_posterior(np.array(behind), "laplace", 0.2, 1.0, *EDGE)
    naive = PrivateMixture(NOISE["laplace"], KERNEL, priors.DirichletProcess(1.0))
    chosen = samplers.Neal8()
    result = enumeration_test(naive, chosen, np.array(released), exact, chains=20_000, sweeps=150)
    assert result.p_value < 1e-6, str(result)


@pytest.mark.parametrize("noise", NOISE)
def test_bins_divide_no_published_value(noise):
    mechanism = model_of("all", noise).mechanism
    bins = find_bins(model_of("all", noise), None)
    assert bins.node == pytest.approx([-np.inf, 0.125, 0.375, 0.625, 0.875, np.inf])
    assert bins.size == 5
    clamped = find_bins(model_of("clamped", noise), 40).node
    assert clamped[0] == -np.inf
    assert clamped[1] == 0.1
    assert (np.diff(clamped[1:-1]) > 0.0).all()
    fine = find_bins(PrivateMixture(Rounded(mechanism.mechanism, to=1e-3), KERNEL), 100).node[1:-1]
    assert len(fine) == 99
    assert (fine + 0.5e-3) / 1e-3 == pytest.approx(np.rint((fine + 0.5e-3) / 1e-3), abs=1e-6)


def test_auto_takes_counts_of_published_values():
    mechanism = mechanisms.Rounded(NOISE["laplace"], to=0.25)
    model = PrivateMixture(mechanism, KERNEL)
    z = mechanism.privatize(np.linspace(0.2, 0.8, 600), seed=1)
    assert isinstance(samplers.Auto(pilot=False).candidates(model, z)[0].sampler, samplers.Binned)
    withheld = Withheld(NOISE["laplace"], below=0.9)
    z = withheld.privatize(np.linspace(0.2, 0.8, 60), seed=1)
    assert samplers.Auto(pilot=False).candidates(PrivateMixture(withheld, KERNEL), z)
    assert samplers.Auto(pilot=False).candidates(PrivateMixture(withheld, KERNEL), np.full(9, np.nan))
