"""One interface for all baselines: what is served, what is refused, and what a density is."""

import re

import numpy as np
import pytest

from privmix import Release, baselines, mechanisms
from privmix.baselines import (
    EM,
    EMS,
    Deconvolution,
    Inversion,
    NaiveKernel,
    NaiveMixture,
    NumPyroMixture,
    Wavelet,
    proper,
)

BOUNDS = (-3.0, 5.0)
SERVED = {
    "laplace": mechanisms.Laplace(epsilon=8.0, bounds=BOUNDS),
    "gaussian": mechanisms.Gaussian(scale=0.8, bounds=BOUNDS),
    "haar": mechanisms.HaarWavelet(levels=2, epsilon=8.0, bounds=BOUNDS),
    "response": mechanisms.RandomizedResponse(cells=6, epsilon=2.0, bounds=BOUNDS),
    "wave": mechanisms.SquareWave(epsilon=3.0, bounds=BOUNDS),
    "identity": mechanisms.Identity(bounds=BOUNDS),
}
MIXTURE = NaiveMixture(draws=20, warmup=20, chains=1, seed=1)
PEER = NumPyroMixture(components=5, draws=20, warmup=20, chains=1, seed=1)
ADDITIVE, NUMBERS = {"laplace", "gaussian"}, {"laplace", "gaussian", "wave", "identity"}
PRIVATE = set(SERVED) - {"identity"}
SERVES = {EM(): PRIVATE, EMS(): PRIVATE, Deconvolution(): ADDITIVE, Deconvolution("plugin"): ADDITIVE}
SERVES |= {Wavelet(): {"haar"}, Inversion(): {"response"}}
SERVES |= {NaiveKernel(): NUMBERS, NaiveKernel("scott"): NUMBERS, MIXTURE: NUMBERS, PEER: ADDITIVE}
PAIRS = [(baseline, name) for baseline in SERVES for name in SERVED]


def release_of(mechanism, n=300, seed=1):
    y = np.clip(np.random.default_rng(seed).normal(1.0, 1.0, n), *BOUNDS)
    return mechanism.privatize(y, seed=seed + 1)


@pytest.mark.parametrize(("baseline", "name"), PAIRS, ids=lambda value: str(value))
def test_every_pair_is_served_or_refused(baseline, name):
    mechanism = SERVED[name]
    z = release_of(mechanism)
    if name not in SERVES[baseline]:
        with pytest.raises(ValueError, match=rf"{type(baseline).__name__} .*was made by {type(mechanism).__name__}"):
            baseline.fit(z, mechanism)
        return
    if baseline is PEER:
        pytest.importorskip("numpyro", reason="NumPyro is not installed: pip install 'privmix[numpyro]'")
    fitted = baseline.fit(z, mechanism)
    grid = np.linspace(-60.0, 60.0, 24_001 if type(baseline) in (EM, EMS, Wavelet, Inversion) else 2401)
    values = fitted.density(grid)
    assert values.shape == grid.shape
    assert np.trapezoid(values, grid) == pytest.approx(1.0, abs=5e-3)
    made = proper(values, grid)
    assert made.min() >= 0.0
    assert np.trapezoid(made, grid) == pytest.approx(1.0, rel=1e-12)


def test_every_export_is_a_baseline_or_named_here():
    found = {name for name in baselines.__all__ if name not in ("Baseline", "Fitted", "proper")}
    assert found == {type(baseline).__name__ for baseline in SERVES}


def test_release_brings_its_mechanism():
    mechanism = SERVED["laplace"]
    y = np.clip(np.random.default_rng(1).normal(1.0, 1.0, 50), *BOUNDS)
    release = Release.from_data(y, mechanism, seed=2)
    grid = np.linspace(*BOUNDS, 9)
    alone = EMS(8).fit(release).density(grid)
    assert np.array_equal(alone, EMS(8).fit(release.z, mechanism).density(grid))
    with pytest.raises(ValueError, match="the release was made by"):
        EMS(8).fit(release, mechanisms.Laplace(epsilon=1.0, bounds=BOUNDS))
    with pytest.raises(TypeError, match="mechanism must be a mechanism"):
        EMS(8).fit(release.z)


def test_proper_clips_and_normalises():
    grid = np.array([0.0, 1.0, 3.0])
    assert proper([-1.0, 2.0, 2.0], grid) == pytest.approx(np.array([0.0, 2.0, 2.0]) / 5.0)
    with pytest.raises(ValueError, match="nowhere positive"):
        proper([-1.0, 0.0, -2.0], grid)
    with pytest.raises(ValueError, match="increasing points"):
        proper([1.0, 1.0, 1.0], grid[::-1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EM(cells=1), "cells must be a whole number of at least 2; got 1"),
        (lambda: EMS(tolerance=-1.0), "EMS: tolerance must be a number ≥ 0; got -1.0"),
        (lambda: EM(max_iterations=0), "max_iterations must be"),
        (lambda: Deconvolution(bandwidth="best"), "bandwidth must be 'bootstrap', 'plugin' or a positive number"),
        (lambda: Deconvolution(bandwidth=0.0), "bandwidth must be"),
        (lambda: Deconvolution(kernel="sinc"), "kernel must be 'compact' or 'normal'; got 'sinc'"),
        (lambda: Wavelet(levels=-1), "levels must be a whole number of at least 0"),
        (lambda: NaiveKernel(bandwidth="rule"), "bandwidth must be 'silverman', 'scott' or a positive number"),
    ],
)
def test_options_are_checked(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def test_refusals_say_what_to_use():
    z = np.array([0.1, 0.2])
    with pytest.raises(ValueError, match=r"give bounds=\(lower, upper\) to it or to the mechanism"):
        EM().fit(z, mechanisms.Laplace(scale=1.0))
    with pytest.raises(ValueError, match="leave bounds= out"):
        EM(bounds=(0.0, 1.0)).fit(z, SERVED["laplace"])
    with pytest.raises(ValueError, match="use kernel='compact'"):
        Deconvolution(kernel="normal").fit(z, SERVED["gaussian"])
    with pytest.raises(ValueError, match="the release stops at 2"):
        Wavelet(levels=3).fit(release_of(SERVED["haar"]), SERVED["haar"])
    with pytest.raises(ValueError, match="sequence of finite numbers"):
        EM(4).fit(z, SERVED["laplace"]).density([0.0, np.nan])
