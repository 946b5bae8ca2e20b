"""A mass at one value is noted, smooth data are not; records that are said to be whole are not chased."""

import numpy as np
import pytest

from privmix import default_model, mechanisms
from privmix.checks.check import check_narrow, narrow_components

pytestmark = pytest.mark.xdist_group("fits")

BOUNDS = (0.0, 100.0)


def ages(kind, seed=1, n=1000):
    """Return smooth ages, whole ones, whole ones of which 30% were told as the nearest ten, or smooth with a peak."""
    rng = np.random.default_rng(seed)
    smooth, some = np.clip(rng.gamma(6.0, 7.0, n), *BOUNDS), rng.random(n) < 0.3
    return {
        "smooth": smooth,
        "whole": np.round(smooth),
        "heaped": np.where(some, 10.0 * np.round(smooth / 10.0), np.round(smooth)),
        "peak": np.where(some, rng.normal(40.0, 1.5, n), smooth),
    }[kind]


def fit(kind, epsilon=400.0, resolution=None):
    mechanism = mechanisms.Laplace(epsilon=epsilon, bounds=BOUNDS)
    model, z = default_model(mechanism, resolution=resolution), mechanism.privatize(ages(kind), seed=2)
    return model.sample(z, draws=150, warmup=2500, thin=2, chains=2, seed=1)


def test_heaped_ages_are_noted():
    (finding,) = check_narrow(fit("heaped"))
    assert (finding.level, finding.title) == ("note", "narrow component")
    assert "below 0.5, the distance of the points at which the density is shown" in finding.text
    assert "resolution=" in finding.advice


@pytest.mark.parametrize("kind", ["smooth", "whole", "peak"])
def test_smooth_ages_are_not(kind):
    assert check_narrow(fit(kind)) == []


def test_with_a_resolution_nothing_is_gained_by_being_narrower():
    """With less noise the spike becomes narrower without a lattice, and stays as it was with one."""
    _, free, _ = narrow_components(fit("heaped", 1000.0))
    assert free < 0.05
    whole = fit("heaped", 1000.0, resolution=1.0)
    limit, sd, _ = narrow_components(whole)
    assert limit == pytest.approx(12.0**-0.5)
    assert 0.1 < sd < limit
    (finding,) = check_narrow(whole)
    assert "rounding to multiples of 1: a mass at one value, whose width is unknown" in finding.text
    assert "posterior.probability" in finding.advice
    # What the lattice can tell is told right: the share of those who said 40.
    found = whole.probability(39.5, 40.5)
    assert float(found["lower"]) < np.mean(ages("heaped") == 40.0) < float(found["upper"])
