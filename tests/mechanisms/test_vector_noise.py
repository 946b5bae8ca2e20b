"""Noise on all columns of a record at once: rows in and out, what it promises, missing entries, and bad input."""

import copy
import itertools
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from privmix.mechanisms import Gaussian, Laplace, VectorGaussian, VectorLaplace
from privmix.mechanisms.gaussian import gaussian_scale
from privmix.parts import part_from_dict, part_to_dict
from privmix.privacy import ZCDP, ApproxDP, PureDP

BOX = {"x": (0.0, 3.0), "y": (-2.0, 2.0)}
RNG = np.random.default_rng(1)
DATA = pd.DataFrame({"x": RNG.uniform(0.0, 3.0, 50), "y": RNG.uniform(-2.0, 2.0, 50)})
TILTED = np.array([[[1.0 + k, 0.5], [0.5, 1.0]] for k in range(50)])
EVERY = [
    VectorGaussian(BOX, rho=0.5),
    VectorGaussian(BOX, epsilon=1.0, delta=1e-5),
    VectorGaussian(BOX, radius=1.0, rho=0.5),
    VectorGaussian(("x", "y"), radius=1.0, rho=0.5),
    VectorGaussian(("x", "y"), scale=[1.0, 2.0]),
    VectorGaussian(BOX, scale=np.full((50, 2), [1.0, 2.0])),
    VectorGaussian(BOX, scale=TILTED),
    VectorLaplace(BOX, epsilon=2.0),
    VectorLaplace(BOX, rho=0.5),
    VectorLaplace(BOX, radius=1.0, epsilon=2.0),
    VectorLaplace(("x", "y"), scale=1.5),
    VectorLaplace(BOX, scale=np.full((50, 2), [1.0, 2.0])),
]


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
def test_rows_of_every_kind_are_released_alike(mechanism):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        z = mechanism.privatize(DATA, seed=1)
        rows = mechanism.privatize(DATA.to_numpy(), seed=1)
        other = mechanism.privatize(pl.DataFrame(DATA[["y", "x"]]), seed=1)
    assert list(z) == ["x", "y"]
    assert np.array_equal(z.to_numpy(), rows)
    assert np.array_equal(other.to_numpy(), rows)
    assert np.array_equal(mechanism.check_release(z[["y", "x"]]), rows)
    assert mechanism.initial(rows).shape == rows.shape


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
@pytest.mark.parametrize(
    "again",
    [
        copy.deepcopy,
        lambda m: pickle.loads(pickle.dumps(m)),
        lambda m: part_from_dict(json.loads(json.dumps(part_to_dict(m)))),
    ],
)
def test_copies_are_equal(mechanism, again):
    assert [again(mechanism) == other for other in EVERY].count(True) == 1
    assert hash(again(mechanism)) == hash(mechanism)
    assert again(mechanism).guarantee == mechanism.guarantee


def test_density_and_noise_have_the_stated_law():
    y, z = DATA.to_numpy(), DATA.to_numpy() + RNG.standard_normal((50, 2))
    exact = stats.norm(0.0, [1.0, 2.0]).logpdf(z - y).sum(axis=1)
    assert EVERY[5].logpdf(z, y) == pytest.approx(exact, rel=1e-12)
    assert EVERY[4].logpdf(z, y) == pytest.approx(exact, rel=1e-12)
    exact = [stats.multivariate_normal(np.zeros(2), c).logpdf(e) for c, e in zip(TILTED, z - y, strict=True)]
    assert EVERY[6].logpdf(z, y) == pytest.approx(exact, rel=1e-12)
    exact = stats.laplace(0.0, [1.0, 2.0]).logpdf(z - y).sum(axis=1)
    assert EVERY[11].logpdf(z, y) == pytest.approx(exact, rel=1e-12)
    for mechanism in (EVERY[4], EVERY[10]):
        assert mechanism.log_q(z[0], y[0]) == pytest.approx(mechanism.logpdf(z[0], y[0]), rel=1e-14)
    many = np.stack([EVERY[6].perturb(np.random.default_rng(k), y) - y for k in range(300)])
    white = np.einsum("nij,rnj->rni", np.linalg.inv(np.linalg.cholesky(TILTED)), many).reshape(-1, 2)
    for direction in ([1.0, 0.0], [0.6, 0.8]):
        assert stats.kstest(white @ direction, stats.norm.cdf).pvalue > 1e-6
    noise = VectorLaplace(("x", "y"), scale=[1.0, 2.0]).privatize(np.zeros((20_000, 2)), seed=1)
    for j in range(2):
        assert stats.kstest(noise[:, j], stats.laplace(0.0, 1.0 + j).cdf).pvalue > 1e-6


def test_density_is_that_of_the_entries_that_are_there():
    y, z = DATA.to_numpy(), DATA.to_numpy() + 1.0
    z[RNG.random(z.shape) < 0.5] = np.nan
    for mechanism, law in ((EVERY[4], stats.norm), (EVERY[11], stats.laplace)):
        exact = np.nan_to_num(law(0.0, [1.0, 2.0]).logpdf(z - y)).sum(axis=1)
        assert mechanism.logpdf(z, y) == pytest.approx(exact, rel=1e-12)


# The worst case: corners of the box, or opposite ends of the ball.
CORNERS = np.array(list(itertools.product(*BOX.values())))


@pytest.mark.parametrize("scale", [1.5, (1.0, 2.0)])
def test_laplace_promises_its_worst_case(scale):
    mechanism = VectorLaplace(BOX, scale=scale)
    z = np.array(list(itertools.product(np.linspace(-5.0, 8.0, 40), np.linspace(-7.0, 7.0, 40))))
    values = np.stack([mechanism.logpdf(z, row) for row in CORNERS])
    assert mechanism.guarantee.epsilon == pytest.approx((values.max(axis=0) - values.min(axis=0)).max(), rel=1e-12)


@pytest.mark.parametrize("scale", [1.5, (1.0, 2.0)])
def test_gaussian_promises_the_loss_of_its_worst_case(scale):
    """The loss between two records is N(ρ, 2ρ) under the first, and ρ is largest between opposite corners."""
    mechanism = VectorGaussian(BOX, scale=scale)
    pairs = [(a, b) for a in CORNERS for b in CORNERS]
    z = [mechanism.perturb(np.random.default_rng(1), np.full((20_000, 2), a)) for a, _ in pairs]
    losses = [mechanism.logpdf(rows, a) - mechanism.logpdf(rows, b) for rows, (a, b) in zip(z, pairs, strict=True)]
    worst = max(losses, key=lambda loss: loss.mean())
    rho = mechanism.guarantee.rho
    assert stats.kstest(worst, stats.norm(rho, np.sqrt(2.0 * rho)).cdf).pvalue > 1e-6


def test_noise_is_set_by_the_diagonal_of_the_box_or_by_the_ball():
    assert EVERY[0].scale == pytest.approx(5.0)
    assert isinstance(EVERY[0].guarantee, ZCDP)
    assert EVERY[0].guarantee.rho == pytest.approx(0.5)
    assert EVERY[1].scale == gaussian_scale(5.0, epsilon=1.0, delta=1e-5)
    assert EVERY[1].guarantee == ApproxDP(1.0, 1e-5)
    assert EVERY[2].scale == EVERY[3].scale == pytest.approx(2.0)
    assert VectorGaussian(BOX, radius=9.0, rho=0.5).scale == pytest.approx(5.0)
    assert (EVERY[7].scale, EVERY[7].guarantee) == (3.5, PureDP(2.0))
    assert EVERY[9].scale == pytest.approx(1.0)
    assert EVERY[11].guarantee == PureDP(3.0 / 1.0 + 4.0 / 2.0)
    assert [m.guarantee for m in (EVERY[4], EVERY[6], EVERY[10])] == [None] * 3


def test_columns_by_themselves():
    assert EVERY[0].children == (Gaussian(scale=5.0, bounds=BOX["x"]), Gaussian(scale=5.0, bounds=BOX["y"]))
    assert EVERY[7].children[1] == Laplace(scale=3.5, bounds=BOX["y"])
    assert EVERY[6].children[0] == Gaussian(scale=np.sqrt(np.arange(1.0, 51.0)), bounds=BOX["x"])


def test_records_outside_are_moved_into_box_and_ball():
    y = np.array([[5.0, 0.0], [1.5, 0.0], [3.0, 2.0]])
    with pytest.warns(UserWarning, match=r"^1 of 3 values of x lie outside the bounds \[0, 3\]") as caught:
        EVERY[0].privatize(y, seed=1)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=r"^2 of 3 records lie farther than 1 from the centre") as caught:
        z = VectorGaussian(BOX, radius=1.0, scale=1e-12).privatize(np.clip(y, -2.0, 3.0), seed=1)
    assert caught[0].filename == __file__
    assert z == pytest.approx(np.array([[2.5, 0.0], [1.5, 0.0], [1.5 + 1.5 / 2.5, 2.0 / 2.5]]), abs=1e-10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: VectorGaussian(BOX), "takes exactly one of epsilon=, rho=, scale="),
        (lambda: VectorGaussian(BOX, epsilon=1.0), "give epsilon= and delta= together"),
        (lambda: VectorGaussian(BOX, rho=[1.0, 2.0]), "needs one number for all records"),
        (lambda: VectorGaussian(("x", "y"), rho=1.0), r"needs bounds of the columns, VectorGaussian\({'x': \(lower"),
        (lambda: VectorGaussian({"x": (0, 1)}, rho=1.0), "needs at least two columns"),
        (lambda: VectorGaussian({"x": (0, 1), "y": None}, rho=1.0), "column 'y': .* needs bounds="),
        (lambda: VectorGaussian({"x": (0, 1), "y": (1, 0)}, rho=1.0), "column 'y': bounds must be finite with lower"),
        (lambda: VectorGaussian(BOX, rho=1.0, scale=3.0), "the given rho and scale disagree"),
        (lambda: VectorGaussian(BOX, radius=-1.0, rho=1.0), "radius must be positive"),
        (lambda: VectorGaussian(scale=[1.0, 2.0, 3.0]), r"one for each of 2 columns, n × d.*; got shape \(3,\)"),
        (lambda: VectorGaussian(scale=[1.0, -2.0]), "a positive number"),
        (lambda: VectorGaussian(scale=-TILTED), "every covariance must be symmetric and positive definite"),
        (lambda: VectorGaussian(scale=TILTED * [[1.0, 1.0], [0.0, 1.0]]), "every covariance must be symmetric"),
        (lambda: VectorLaplace(BOX, epsilon=1.0, rho=1.0), "takes exactly one of epsilon=, rho="),
        (lambda: VectorLaplace(scale=TILTED), r"got shape \(50, 2, 2\)"),
    ],
)
def test_bad_arguments_say_what_to_do(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("mechanism", "z", "message"),
    [
        (EVERY[0], np.zeros((3, 3)), r"rows of 2 columns \(x, y\)"),
        (EVERY[0], pd.DataFrame({"x": [1.0], "z": [1.0]}), "has no column 'y' and 'z' besides"),
        (EVERY[0], [[1.0, np.nan], [2.0, np.nan]], "all entries of column 'y' are missing"),
        (EVERY[5], np.zeros((3, 2)), "has one scale for each of 50 records, but there are 3"),
        (EVERY[6], np.where(np.eye(50, 2), np.nan, 0.0), "noise is correlated between columns"),
    ],
)
def test_releases_that_do_not_fit(mechanism, z, message):
    with pytest.raises(ValueError, match=message):
        mechanism.check_release(z)


def test_a_start_is_plausible_where_entries_are_missing():
    z = np.array([[9.0, np.nan], [np.nan, -1.0], [1.0, 5.0]])
    assert EVERY[0].initial(z).tolist() == [[3.0, -1.0], [3.0, -1.0], [1.0, 2.0]]
    tails = EVERY[0].log_tail(z, (0.0, 1.0))
    assert tails[0, 1] == 0.0
    assert tails[0, 0] == pytest.approx(stats.norm.logsf(6.0 / 5.0))


def test_a_box_and_covariances_are_of_the_columns():
    with pytest.raises(ValueError, match="box must have bounds of each of 2 columns; got 1"):
        VectorGaussian(("x", "y"), box=((0.0, 1.0),), rho=1.0)
    with pytest.raises(ValueError, match="the noise scale must be one of"):
        VectorGaussian(("x", "y"), scale=np.ones((5, 3, 2)))
