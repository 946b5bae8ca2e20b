"""Discrete Laplace noise on records: a lattice, its law, its promise, and what OpenDP's releases are."""

import re

import numpy as np
import pytest
from scipy import stats

from kernels.examples import row_of
from pairs.pairs import log_g_of
from privmix.kernels import Normal, TruncatedNormal
from privmix.mechanisms import DiscreteGaussian, DiscreteLaplace, Laplace, Rounded, Withheld
from privmix.pairs import find
from privmix.privacy import audit

EXAMPLES = [
    DiscreteLaplace(epsilon=2.0, bounds=(0.0, 20.0)),
    DiscreteLaplace(rho=0.5, bounds=(-3.0, 5.0), step=0.5),
    DiscreteLaplace(scale=1.5, step=0.1),
]
KINDS = [DiscreteLaplace, DiscreteGaussian]


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_are_half_a_step_beyond_the_points(kind):
    mechanism = kind(rho=0.5, bounds=(0.0, 20.0))
    assert mechanism.bounds == (-0.5, 20.5)
    assert mechanism.points.tolist() == list(range(21))
    assert mechanism.sensitivity == 20.0
    assert kind(rho=0.5, bounds=mechanism.bounds) == mechanism
    tenth = kind(rho=0.5, bounds=(0.0, 1.0), step=0.1)
    assert len(tenth.points) == 11
    assert kind(rho=0.5, bounds=tenth.bounds, step=0.1).ends == tenth.ends == (0.0, 10.0)
    assert kind(rho=0.5, bounds=(0.2, 3.8)).ends == (0.0, 4.0)


@pytest.mark.parametrize("kind", KINDS)
def test_records_are_rounded_to_the_nearest_point(kind):
    mechanism = kind(scale=1e-3, bounds=(0.0, 8.0), step=2.0)
    assert mechanism.privatize([0.9, 1.0, 3.1, 8.4], seed=1).tolist() == [0.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize(
    "mechanism", [*EXAMPLES, DiscreteGaussian(scale=2.0, bounds=(0.0, 9.0)), DiscreteGaussian(scale=0.05, step=0.1)]
)
def test_probabilities_sum_to_one_and_draws_follow_them(mechanism):
    z = mechanism.step * np.arange(-3000, 3001)
    mass = np.exp(mechanism.logpdf(z, 3.2))
    assert mass.sum() == pytest.approx(1.0, abs=1e-12)
    assert mechanism.logpdf(0.3 * mechanism.step, 3.2) == -np.inf
    drawn = mechanism.privatize(np.full(100_000, 3.2), seed=1)
    count = np.bincount(np.rint(drawn / mechanism.step).astype(int) + 3000, minlength=6001)
    many = mass > 1e-4
    expected = np.append(mass[many], 1.0 - mass[many].sum()) * len(drawn)
    observed = np.append(count[many], count[~many].sum())
    keep = expected > 5.0
    assert stats.chi2.sf(np.sum((observed - expected)[keep] ** 2 / expected[keep]), keep.sum() - 1) > 1e-6
    sd = np.sqrt(mass @ z**2 - (mass @ z) ** 2)
    assert mechanism.noise_spread() == pytest.approx(sd, rel=1e-6 if mechanism.scale > mechanism.step else 0.5)


def test_law_is_scipys():
    k = np.arange(-20, 21)
    assert DiscreteLaplace(scale=3.0).logpdf(k, 0.0) == pytest.approx(stats.dlaplace(1 / 3).logpmf(k), rel=1e-12)
    assert DiscreteLaplace(scale=1.5, step=0.5).logpdf(0.5 * k, 0.0) == pytest.approx(
        stats.dlaplace(1 / 3).logpmf(k), rel=1e-12
    )


@pytest.mark.parametrize(
    "mechanism",
    [
        *EXAMPLES[:2],
        DiscreteGaussian(rho=0.3, bounds=(0.0, 6.0)),
        DiscreteGaussian(rho=0.3, bounds=(-1.0, 1.0), step=0.25),
        DiscreteGaussian(epsilon=1.0, delta=0.01, bounds=(0.0, 6.0)),
        DiscreteGaussian(epsilon=3.0, delta=1e-4, bounds=(0.0, 1.0)),
    ],
    ids=repr,
)
def test_audit_finds_the_claim_to_the_ninth_digit(mechanism):
    found = audit(mechanism)
    assert found.holds, str(found)
    assert found.worst == pytest.approx(found.claimed, rel=1e-9)


def test_density_of_a_release_is_the_sum_over_the_points():
    for mechanism in (*EXAMPLES[:2], DiscreteGaussian(scale=2.0, bounds=(0.0, 20.0))):
        for kernel in (Normal(), TruncatedNormal(mechanism.bounds)):
            theta, points = (9.0, 30.0), mechanism.points
            z = mechanism.privatize(points, seed=1)
            row = row_of(kernel, theta)
            inner = [kernel.cdf(edge, row) for edge in 0.5 * (points[1:] + points[:-1])]
            mass = np.diff([0.0, *inner, 1.0])
            q = np.exp(mechanism.logpdf(z[:, None], points[None, :]))
            assert log_g_of(mechanism, kernel, z, theta) == pytest.approx(np.log(q @ mass), rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_masses_after_post_processing(kind):
    """Whole numbers clamped, rounded or withheld: `<` and `≤` differ."""
    mechanism = kind(scale=3.0, bounds=(0.0, 20.0))
    k = np.arange(-400, 401.0)
    mass = np.exp(mechanism.logpdf(k, 7.0))
    for limit, name in ((5.0, "below"), (5.0, "at_or_below")):
        processed = Withheld(mechanism, **{name: limit})
        wanted = mass[k < limit].sum() if name == "below" else mass[k <= limit].sum()
        assert np.exp(processed.logpdf(np.nan, 7.0)) == pytest.approx(wanted, rel=1e-12)
    rounded = Rounded(mechanism, to=5.0, how="half even")
    for value in (0.0, 5.0, 10.0):
        inside = mass[np.rint(k / 5.0) * 5.0 == value].sum()
        assert np.exp(rounded.logpdf(value, 7.0)) == pytest.approx(inside, rel=1e-12)
    assert rounded.logpdf(5.0, 7.0) == Rounded(mechanism, to=5.0).logpdf(5.0, 7.0)
    same = Rounded(mechanism, to=1.0)
    assert same.logpdf(4.0, 7.0) == pytest.approx(mechanism.logpdf(4.0, 7.0), rel=1e-14)


@pytest.mark.parametrize(("kind", "line"), [(DiscreteLaplace, "normal-Laplace"), (DiscreteGaussian, "normal-normal")])
def test_fine_lattice_is_the_line(kind, line):
    """OpenDP's granularity: with so many points the closed form of the line stands in, within its bound."""
    coarse = kind(scale=1.0, bounds=(0.0, 4.0), step=2.0**-8)
    fine = kind(scale=1.0, bounds=(0.0, 4.0), step=2.0**-10)
    assert not coarse.is_fine
    assert fine.is_fine
    assert find(fine, Normal()).convolution.name == f"{line}, fine lattice"
    assert kind(scale=1.0, step=2.0**-20).is_fine
    assert find(kind(scale=1.0, step=0.5), Normal()).convolution is None
    z = np.array([-2.0, 0.5, 1.25, 7.0])
    exact = log_g_of(coarse, TruncatedNormal(coarse.bounds), z, (1.0, 0.5)) + 2.0 * np.log(0.5)
    found = log_g_of(fine, TruncatedNormal(fine.bounds), z, (1.0, 0.5))
    assert np.abs(found - exact).max() < 8.0 * 2.0**-9


def test_opendp_release_is_expressible():
    mechanism = DiscreteLaplace(scale=2.0, bounds=(0.0, 1.0), step=2.0**-4)
    assert mechanism.guarantee.epsilon == 0.5
    assert mechanism.check_release([0.0625, -3.5]).tolist() == [0.0625, -3.5]


def test_one_scale_a_record():
    for kind in KINDS:
        scale = np.array([0.5, 2.0])
        mechanism = kind(scale=scale, bounds=(0.0, 9.0))
        each = [kind(scale=s, bounds=(0.0, 9.0)).logpdf([4.0], 3.0)[0] for s in scale]
        assert mechanism.logpdf([4.0, 4.0], 3.0) == pytest.approx(each, rel=1e-13)
        assert mechanism.guarantee == kind(scale=0.5, bounds=(0.0, 9.0)).guarantee
        assert mechanism.privatize([3.0, 3.0], seed=1).shape == (2,)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: EXAMPLES[0].check_release([3.0, 2.5]),
            "row 1 of the release is 2.5, which is no multiple of 1: discrete noise on a lattice of that step gives "
            "none. Check the value and the step.",
        ),
        (
            lambda: Rounded(DiscreteLaplace(scale=1.0, step=3.0), to=2.0).check_release([0.0, 4.0, 2.0]),
            "row 2 of the release is 2.0, which no record gives: each record was rounded to a multiple of 3 and "
            "published with discrete Laplace noise; values rounded to multiples of 2. Check the value and what was "
            "done to it.",
        ),
        (
            lambda: DiscreteLaplace(epsilon=1.0, bounds=(0.1, 0.3)),
            "DiscreteLaplace: a lattice of step 1 has fewer than two points between 0.1 and 0.3. Give a smaller step.",
        ),
        (lambda: DiscreteLaplace(scale=1.0, step=0.0), "DiscreteLaplace: step must be positive; got 0.0."),
        (
            lambda: DiscreteGaussian(scale=1.0, step=1e-15),
            "DiscreteGaussian: noise of scale 1 on a lattice of step 1e-15 is beyond what floats hold. Use Gaussian, "
            "which differs by less than a billionth.",
        ),
        (
            lambda: DiscreteGaussian(epsilon=1.0, bounds=(0.0, 9.0)),
            "DiscreteGaussian has a guarantee in (ε, δ): give epsilon= and delta= together; got epsilon=1.0 and "
            "delta=None. For a single budget use rho=.",
        ),
        (
            lambda: DiscreteLaplace(),
            "DiscreteLaplace takes exactly one of epsilon=, rho=, scale= to set its noise; got none.",
        ),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make()


def test_close_to_the_line_in_its_promise():
    assert DiscreteLaplace(epsilon=2.0, bounds=(0.0, 20.0)).scale == Laplace(epsilon=2.0, bounds=(0.0, 20.0)).scale
