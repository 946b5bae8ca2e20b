"""Releases whose noise OpenDP draws: their law, their guarantee, what they state and what is refused.

OpenDP takes no seed, so these draws differ from run to run: tests of a law reject at p < 1e-9.
"""

import importlib.metadata
import json
import sys

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

from privmix.cli import app
from privmix.mechanisms import (
    Clamped,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    NoisyHistogram,
    RandomizedResponse,
    SquareWave,
)
from privmix.privacy import ZCDP, ApproxDP, PureDP
from privmix.release import Release
from privmix.release.hardened import harden

dp = pytest.importorskip("opendp.prelude", reason="OpenDP is not installed: pip install 'privmix[opendp]'")
VERSION = f"OpenDP {importlib.metadata.version('opendp')}"
SURELY = 1e-9
UNIT = (0.0, 1.0)
Y = np.linspace(0.01, 0.99, 60)


@pytest.fixture(autouse=True)
def contrib():
    dp.enable_features("contrib")


def check_law(noise, probability, reach):
    """Compare whole-number draws with a law: values from −reach to reach, and all others."""
    values = np.arange(-reach, reach + 1)
    expected = np.array([probability(k) for k in values])
    observed = np.array([np.count_nonzero(noise == k) for k in values])
    inside = np.append(observed, len(noise) - observed.sum()), np.append(expected, 1.0 - expected.sum())
    assert stats.chisquare(inside[0], len(noise) * inside[1]).pvalue > SURELY


@pytest.mark.parametrize("noise", ["discrete laplace", "discrete gaussian"])
def test_counts_have_the_law_that_the_fit_uses(noise):
    mechanism = NoisyHistogram(5, bins=20_000, noise=noise, scale=2.5, bounds=UNIT)
    release = Release.from_data(np.full(5, 0.5), mechanism, hardened=True)
    zeros = release.z[: mechanism.bin_count // 2]
    assert release.mechanism.noise == noise
    check_law(zeros, lambda k: np.exp(release.mechanism.log_bin(np.array([float(k)]), 0, 0.0)), 8)


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian])
def test_records_have_the_law_that_the_fit_uses_on_opendps_lattice(kind):
    mechanism = kind(scale=1.0, step=0.25, bounds=UNIT)
    release = Release.from_data(np.full(4000, 0.6), mechanism, hardened=True)  # 0.5 is the nearest point
    assert np.array_equal(release.z, 0.25 * np.rint(release.z / 0.25))
    law = release.mechanism
    check_law(release.z / 0.25 - 2, lambda k: np.exp(law.log_q(0.5 + 0.25 * k, 0.6)), 12)


def test_halves_are_rounded_and_ends_kept_as_the_fit_has_it():
    """Noise this small is none: what is released is the point, and nothing beyond the last."""
    nearly_none = harden(DiscreteLaplace(scale=1e-3, step=0.25, bounds=UNIT))
    y = np.array([0.0, 0.124, 0.125, 0.374, 0.375, 0.99, 1.0, 1.124, 1.125, -0.125])
    z = nearly_none.draw(y)
    assert z.tolist() == [0.0, 0.0, 0.25, 0.25, 0.5, 1.0, 1.0, 1.0, 1.0, 0.0]
    assert (nearly_none.logpdf(z, y) > -1e-6).all()


def test_continuous_noise_is_put_on_a_lattice_that_is_fine_for_it():
    for mechanism in (Laplace(epsilon=1.0, bounds=(0.1, 0.93)), Gaussian(scale=0.01, bounds=(0.1, 0.93))):
        hard = harden(mechanism)
        points = hard.points
        assert points[0] <= 0.1 < points[1]
        assert points[-2] < 0.93 <= points[-1]
        assert len(points) > 256
        assert hard.step <= mechanism.scale / 8
        assert hard.drawn_by == f"{VERSION}, on the multiples of 2^{round(np.log2(hard.step))}"


@pytest.mark.parametrize("staggered", [False, True])
def test_responses_tell_the_truth_as_often_as_they_say(staggered):
    mechanism = RandomizedResponse(4, epsilon=1.5, bounds=UNIT, staggered=staggered)
    release = Release.from_data(np.full(4000, 0.6), mechanism, hardened=True)
    z = mechanism.outputs
    expected = np.exp(release.mechanism.logpdf(z, 0.6))
    np.testing.assert_allclose(expected, np.exp(mechanism.logpdf(z, 0.6)), rtol=1e-12)
    assert stats.chisquare(np.bincount(release.z.astype(int), minlength=len(z)), 4000 * expected).pvalue > SURELY


def counts_map(make, metric, scale, distance):
    return make(dp.vector_domain(dp.atom_domain(T="i64")), metric, scale=scale).map(distance)


def test_guarantee_is_that_of_opendps_map():
    l1, l2 = dp.l1_distance(T="i64"), dp.l2_distance(T="f64")
    laplace = harden(NoisyHistogram(10, bins=3, scale=3.0, bounds=UNIT))
    assert laplace.guarantee == PureDP(counts_map(dp.m.make_laplace, l1, 3.0, 2))
    gaussian = harden(NoisyHistogram(10, bins=3, noise="discrete gaussian", scale=3.0, bounds=UNIT))
    assert gaussian.guarantee == ZCDP(counts_map(dp.m.make_gaussian, l2, 3.0, np.sqrt(2.0)))
    one = harden(NoisyHistogram(10, bins=3, scale=3.0, bounds=UNIT, neighbours="add-remove"))
    assert one.guarantee == PureDP(counts_map(dp.m.make_laplace, l1, 3.0, 1), neighbours="add-remove")
    exact = harden(DiscreteLaplace(scale=2.0, step=2.0**-4, bounds=UNIT))
    assert exact.guarantee == PureDP(0.53125)  # and not 0.5: OpenDP's map adds a step to the distance
    atom = dp.atom_domain(T="f64", nan=False), dp.absolute_distance(T="f64")
    records = harden(DiscreteGaussian(scale=2.0, step=2.0**-4, bounds=UNIT))
    assert records.guarantee == ZCDP(dp.m.make_gaussian(*atom, scale=2.0, k=-4).map(1.0))
    response = harden(RandomizedResponse(5, truth=0.7, bounds=UNIT))
    assert response.guarantee == PureDP(dp.m.make_randomized_response(list(range(5)), 0.7).map(1))


ASKED = [
    NoisyHistogram(10, bins=3, epsilon=0.7, bounds=UNIT),
    NoisyHistogram(10, bins=3, noise="gaussian", rho=0.7, bounds=UNIT, neighbours="add-remove"),
    NoisyHistogram(10, bins=3, noise="discrete laplace", rho=0.3, bounds=UNIT),
    NoisyHistogram(10, bins=3, noise="discrete gaussian", rho=0.3, bounds=UNIT),
    NoisyHistogram(10, bins=3, noise="discrete gaussian", epsilon=0.7, delta=1e-6, bounds=UNIT),
    Laplace(epsilon=0.7, bounds=(-3.0, 11.0)),
    Laplace(rho=0.7, bounds=(0.1, 0.93)),
    Gaussian(epsilon=0.7, delta=1e-6, bounds=UNIT),
    Gaussian(rho=0.7, bounds=(-3.0, 11.0)),
    DiscreteLaplace(epsilon=0.7, bounds=(0.0, 100.0)),
    DiscreteGaussian(rho=0.7, bounds=(0.0, 100.0), step=0.5),
    *[RandomizedResponse(k, epsilon=e, bounds=UNIT) for k in (2, 7) for e in (0.1, 1.0, 9.0)],
]


@pytest.mark.parametrize("mechanism", ASKED, ids=repr)
def test_what_was_asked_for_is_kept_and_not_wasted(mechanism):
    asked, kept = mechanism.guarantee.to_dict(), harden(mechanism).guarantee.to_dict()
    for name, value in asked.items():
        if isinstance(value, float):
            assert value * (1 - 1e-12) <= kept[name] <= value


def test_the_noise_of_a_pair_follows_opendps_own_conversion():
    """Its (ε, δ) comes from zCDP: more noise than the exact profile needs, and never less."""
    mechanism = NoisyHistogram(10, bins=3, noise="discrete gaussian", epsilon=1.0, delta=1e-6, bounds=UNIT)
    hard = harden(mechanism)
    assert isinstance(hard.guarantee, ApproxDP)
    assert mechanism.scale < hard.scale < 1.5 * mechanism.scale


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_release_states_who_drew_and_is_read_without_opendp(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"out.{suffix}"
    release = Release.from_data(Y, NoisyHistogram(60, bins=6, epsilon=1.0, bounds=UNIT), hardened=True)
    release.save(path)
    monkeypatch.setitem(sys.modules, "opendp", None)
    loaded = Release.load(path)
    assert loaded == release
    assert loaded.guarantee == release.guarantee
    assert loaded.mechanism.drawn_by == f"{VERSION}, on the whole numbers"
    if suffix == "csv":
        metadata = json.loads(path.with_name("out.csv.json").read_text(encoding="utf-8"))
        assert metadata["noise"] == f"The noise was drawn by {VERSION}, on the whole numbers."


@pytest.mark.parametrize("mechanism", [*ASKED[:1], Laplace(epsilon=1.0, bounds=UNIT)], ids=["counts", "records"])
def test_what_is_clamped_afterwards_still_says_who_drew(mechanism):
    hard = harden(mechanism)
    clamped = Clamped(hard, lower=0.0)
    assert (clamped.drawn_by, clamped.guarantee) == (hard.drawn_by, hard.guarantee)


def test_values_outside_the_bounds_are_clipped_with_a_warning_that_names_the_caller():
    with pytest.warns(UserWarning, match="1 of 2 values lie outside the bounds") as caught:
        Release.from_data([0.5, 7.0], RandomizedResponse(4, epsilon=1.0, bounds=UNIT), hardened=True)
    assert caught[0].filename == __file__


def test_what_cannot_be_hardened_is_refused():
    with pytest.raises(ValueError, match="SquareWave has no hardened form: OpenDP has no exact sampler for it"):
        Release.from_data(Y, SquareWave(epsilon=1.0, bounds=UNIT), hardened=True)
    with pytest.raises(ValueError, match=r"made of another mechanism\. Harden that one"):
        Release.from_data(Y, Clamped(Laplace(epsilon=1.0, bounds=UNIT), lower=0.0), hardened=True)
    with pytest.raises(ValueError, match="scale for each bin has no hardened form"):
        Release.from_data(Y, NoisyHistogram(60, bins=2, scale=[1.0, 2.0], bounds=UNIT), hardened=True)
    with pytest.raises(ValueError, match="without bounds promises nothing"):
        Release.from_data(Y, Laplace(scale=1.0), hardened=True)
    with pytest.raises(ValueError, match="Gaussian with one scale a record has no hardened form"):
        Release.from_data(Y, Gaussian(scale=np.full(60, 1.0), bounds=UNIT), hardened=True)
    with pytest.raises(ValueError, match="multiples of a power of two; the step is 0"):
        Release.from_data(Y, DiscreteLaplace(scale=1.0, step=0.1, bounds=UNIT), hardened=True)
    with pytest.raises(ValueError, match="too large for a lattice of step"):
        Release.from_data([1.0], DiscreteLaplace(scale=1.0, bounds=(0.0, 2.0**46)), hardened=True)
    with pytest.raises(ValueError, match="takes no seed"):
        Release.from_data(Y, ASKED[0], seed=1, hardened=True)
    with pytest.raises(ValueError, match="lies with a probability below 1e-16"):
        Release.from_data(Y, RandomizedResponse(4, epsilon=60.0, bounds=UNIT), hardened=True)


def test_without_opendp_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(ImportError, match=r"pip install privmix\[opendp\]"):
        Release.from_data(Y, ASKED[0], hardened=True)


def test_command_hardens_and_says_who_drew(tmp_path):
    source, output = tmp_path / "y.csv", tmp_path / "release.csv"
    source.write_text("y\n" + "\n".join(map(str, Y)), encoding="utf-8")
    told = ["--mechanism", "histogram", "--bins", "5", "--bounds", "0", "1", "--epsilon", "1", "--hardened"]
    done = CliRunner().invoke(app, ["privatize", str(source), *told, "-o", str(output)])
    assert done.exit_code == 0, done.output
    assert f"The noise was drawn by {VERSION}, on the whole numbers." in done.output
    assert "idealised" not in done.output
    assert Release.load(output).mechanism.drawn_by.startswith(VERSION)
    done = CliRunner().invoke(app, ["privatize", str(source), *told, "--seed", "1", "-o", str(tmp_path / "two.csv")])
    assert done.exit_code != 0
    assert "takes no seed" in " ".join(done.output.split())
