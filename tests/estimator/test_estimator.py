"""The estimator does what the library does, under scikit-learn's names."""

import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import integrate, stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import privmix
from privmix import PrivateMixture, PrivateMixtureEstimator, kernels, mechanisms, priors, samplers

pytestmark = pytest.mark.xdist_group("fits")

BOUNDS = (-10.0, 10.0)
MECHANISM = mechanisms.Laplace(epsilon=40.0, bounds=BOUNDS)
TRUTH = np.repeat([0, 1], [25, 15])
Z = MECHANISM.privatize(
    np.array([-5.0, 5.0])[TRUTH] + np.random.default_rng(1).normal(0, 0.5, 40), np.random.default_rng(1)
)
X = Z.reshape(-1, 1)
FEW = {"sampler": samplers.Neal5(), "draws": 60, "warmup": 100, "thin": 1, "chains": 2}
HISTOGRAM = mechanisms.NoisyHistogram(40, bins=8, epsilon=5.0, bounds=BOUNDS)


@pytest.fixture(scope="module")
def fitted():
    return PrivateMixtureEstimator(MECHANISM, random_state=3, **FEW).fit(X)


def test_draws_are_those_of_fit(fitted):
    same = privmix.fit(Z, MECHANISM, seed=3, **FEW)
    assert fitted.posterior_.dataset.identical(same.dataset)
    assert fitted.posterior_.model == same.model == privmix.default_model(MECHANISM)
    again = clone(fitted).fit(X)
    assert np.array_equal(again.posterior_.dataset["weight"], same.dataset["weight"])
    other = clone(fitted).set_params(random_state=4).fit(X)
    assert not np.array_equal(other.posterior_.dataset["weight"], same.dataset["weight"])


def test_parts_reach_the_model():
    parts = {"kernel": kernels.Normal(mean=1.0), "prior": priors.DirichletProcess(2.0)}
    found = PrivateMixtureEstimator(MECHANISM, **parts, random_state=3, **FEW).fit(X)
    wanted = PrivateMixture(MECHANISM, **parts).sample(Z, seed=3, **FEW)
    assert found.posterior_.model.restricted_to is None
    assert np.array_equal(found.posterior_.dataset["mean"], wanted.dataset["mean"], equal_nan=True)


def test_generators_give_their_next_number():
    by_state = [PrivateMixtureEstimator(MECHANISM, random_state=np.random.RandomState(1), **FEW) for _ in range(2)]
    first, second = (estimator.fit(X).posterior_.dataset["weight"] for estimator in by_state)
    assert np.array_equal(first, second)
    assert not np.array_equal(by_state[0].fit(X).posterior_.dataset["weight"], second)
    PrivateMixtureEstimator(MECHANISM, random_state=np.random.default_rng(1), **FEW).fit(X)


def test_clusters_are_those_of_the_posterior(fitted):
    assert fitted.labels_.tolist() == TRUTH.tolist()
    assert fitted.n_clusters_ == 2
    assert fitted.n_features_in_ == 1
    new = np.array([[-5.0], [5.0], [0.3]])
    assert fitted.predict(new[:2]).tolist() == [0, 1]
    wanted = fitted.posterior_.predict_proba(new[:, 0], fitted.clustering_)
    assert np.array_equal(fitted.predict_proba(new), wanted)
    assert np.array_equal(fitted.predict(new), fitted.posterior_.predict(new[:, 0], fitted.clustering_))
    assert np.array_equal(clone(fitted).fit_predict(X), fitted.labels_)


def test_score_samples_is_the_density_of_the_confidential_data(fitted):
    points = np.array([[-5.0], [0.0], [12.0]])
    with np.errstate(divide="ignore"):
        assert np.array_equal(fitted.score_samples(points), np.log(fitted.posterior_.density(points[:, 0])["mean"]))
    assert fitted.score_samples(points)[2] == -np.inf
    grid = np.linspace(*BOUNDS, 4001)
    assert np.trapezoid(np.exp(fitted.score_samples(grid[:, None])), grid) == pytest.approx(1.0, abs=1e-3)


def test_score_released_is_the_density_convolved_with_the_noise(fitted):
    """By SciPy: Σ w_h ∫ Laplace(z − y) f(y|μ_h, σ²_h) dy with truncated normals f, averaged over draws."""
    draws = fitted.posterior_.dataset.stack(sample=("chain", "draw"))
    points = np.array([-5.5, 0.5, 11.0])
    keep = draws["weight"].values > 0.0
    weight, mean, sd = (draws[name].values[keep] for name in ("weight", "mean", "variance"))
    sd = np.sqrt(sd)
    lower, upper = MECHANISM.bounds
    part = stats.truncnorm((lower - mean) / sd, (upper - mean) / sd, mean, sd)

    def mixture(y):
        return float((weight * part.pdf(y)).sum()) / draws.sizes["sample"]

    def g(z):
        ends = sorted({lower, -5.0, 0.0, 5.0, min(max(z, lower), upper), upper})
        pieces = itertools.pairwise(ends)
        parts = [integrate.quad(lambda y: mixture(y) * stats.laplace.pdf(z, y, 0.5), *p, limit=200)[0] for p in pieces]
        return sum(parts)

    assert fitted.score_released(points[:, None]) == pytest.approx(np.log([g(z) for z in points]), abs=1e-5)
    assert fitted.score(X) == pytest.approx(fitted.score_released(X).mean())


def test_sample_follows_the_density(fitted):
    found = fitted.sample(5000)
    assert found.shape == (5000, 1)
    grid = np.linspace(*BOUNDS, 4001)
    density = np.exp(fitted.score_samples(grid[:, None]))
    law = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(grid))])
    assert stats.kstest(found[:, 0], lambda y: np.interp(y, grid, law / law[-1])).pvalue > 1e-3
    assert np.array_equal(found, fitted.sample(5000))
    assert not np.array_equal(found, fitted.sample(5000, random_state=9))
    with pytest.raises(ValueError, match=r"^n_samples must be a whole number of at least 1; got 0\.$"):
        fitted.sample(0)


def test_sample_stays_in_the_bounds():
    noisy = mechanisms.Laplace(epsilon=1.0, bounds=(0.0, 1.0))
    z = noisy.privatize(np.full(30, 0.02), seed=1)
    found = PrivateMixtureEstimator(noisy, random_state=1, **FEW).fit(z.reshape(-1, 1)).sample(2000)
    assert ((found >= 0.0) & (found <= 1.0)).all()


def test_weights_are_repeated_records():
    counts = np.random.default_rng(2).integers(0, 4, 40)
    weighted = PrivateMixtureEstimator(MECHANISM, random_state=3, **FEW).fit(X, sample_weight=counts)
    repeated = PrivateMixtureEstimator(MECHANISM, random_state=3, **FEW).fit(np.repeat(X, counts, axis=0))
    assert np.array_equal(weighted.posterior_.dataset["weight"], repeated.posterior_.dataset["weight"])
    assert weighted.labels_.shape == (40,)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])[counts > 0]
    assert np.array_equal(weighted.labels_[counts > 0], repeated.labels_[first])
    assert np.array_equal(weighted.labels_[counts == 0], weighted.predict(X[counts == 0]))


@pytest.mark.parametrize(
    ("weight", "mechanism", "message"),
    [
        (np.full(40, 0.5), MECHANISM, "^sample_weight must be whole numbers, how many records were released"),
        (np.full(40, -1), MECHANISM, "^sample_weight must be whole numbers"),
        (np.zeros(40), MECHANISM, "^sample_weight is zero for every row"),
        (np.full(40, 2), mechanisms.Laplace(scale=np.ones(40), bounds=BOUNDS), "has one scale for each record: sample"),
    ],
)
def test_weights_without_a_meaning_are_refused(weight, mechanism, message):
    with pytest.raises(ValueError, match=message):
        PrivateMixtureEstimator(mechanism, **FEW).fit(X, sample_weight=weight)


@pytest.mark.parametrize(
    "make", [pd.Series, pl.Series, lambda z, name: pa.table({name: z})], ids=["pandas", "polars", "arrow"]
)
def test_columns_of_frames(fitted, make):
    column = make(Z, name="income") if make is not pl.Series else pl.Series("income", Z)
    found = clone(fitted).fit(column)
    assert found.feature_names_in_.tolist() == ["income"]
    assert np.array_equal(found.posterior_.dataset["weight"], fitted.posterior_.dataset["weight"])
    assert np.array_equal(found.predict(column), fitted.predict(X))


def test_index_and_column_are_kept():
    frame = pd.DataFrame({"age": np.arange(40.0), "income": Z}, index=[f"p{i}" for i in range(40)])
    for column in ("income", 1, -1):
        found = PrivateMixtureEstimator(MECHANISM, column=column, random_state=3, **FEW).fit(frame)
        assert found.posterior_.dataset["record"].values.tolist() == frame.index.tolist()
        assert found.posterior_.datatree["observed_data"]["z"].attrs["long_name"] == "income"
        assert found.n_features_in_ == 2
        assert found.labels_.tolist() == TRUTH.tolist()


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (np.ones((5, 2)), {}, r"^X has 2 columns, but a release of Laplace is one number a record.*column=\.$"),
        (np.ones((5, 2)), {"column": "z"}, r"^X has no column 'z': its columns have no names\.$"),
        (pd.DataFrame({"a": [1.0], "b": [2.0]}), {"column": "z"}, r"^X has no column 'z': its columns are a, b\.$"),
        (
            np.ones((5, 2)),
            {"column": 2},
            r"^column must be the name or position of one of the 2 columns of X; got 2\.$",
        ),
        (Z, {}, "Reshape your data"),
        (X, {"mechanism": mechanisms.Laplace(scale=1.0)}, "and Laplace has none"),
        (
            X,
            {"mechanism": mechanisms.HaarWavelet(levels=1, epsilon=1.0)},
            "releases 3 numbers a record, so X must have 3",
        ),
    ],
)
def test_refusals(given, options, message):
    with pytest.raises(ValueError, match=message):
        PrivateMixtureEstimator(**{"mechanism": MECHANISM, **FEW, **options}).fit(given)


def test_wrong_mechanism():
    with pytest.raises(
        TypeError, match=r"^mechanism must be a mechanism such as mechanisms\.Laplace\(…\), or None; got 5"
    ):
        PrivateMixtureEstimator(5.0).fit(X)


def test_rows_of_coefficients():
    haar = mechanisms.HaarWavelet(levels=2, epsilon=20.0, bounds=BOUNDS)
    rows = haar.privatize(pd.Series(np.array([-5.0, 5.0])[TRUTH], name="y"), seed=1)
    found = PrivateMixtureEstimator(haar, random_state=1, **FEW).fit(rows)
    assert found.n_features_in_ == 7
    assert found.predict(rows).shape == (40,)
    assert np.isfinite(found.score_samples([[0.0], [5.0]])).all()
    assert found.sample(3).shape == (3, 1)


def test_one_release_of_all_records():
    table = HISTOGRAM.privatize(pd.Series(np.array([-5.0, 5.0])[TRUTH]), seed=1)
    found = PrivateMixtureEstimator(HISTOGRAM, random_state=1, **FEW).fit(table)
    again = PrivateMixtureEstimator(HISTOGRAM, random_state=1, **FEW).fit(table[["count"]].to_numpy())
    points = np.array([[-5.0], [0.0]])
    assert np.array_equal(found.score_samples(points), again.score_samples(points))
    assert np.isfinite(found.score_samples(points)).all()
    assert found.sample(4).shape == (4, 1)
    assert not hasattr(found, "labels_")
    for refused in (found.predict, found.predict_proba, found.score, found.score_released):
        with pytest.raises(ValueError, match="no information on individual records"):
            refused(points)
    with pytest.raises(ValueError, match="no information on individual records"):
        found.fit_predict(table)


def test_a_second_fit_forgets_the_clusters_of_the_first(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    again.set_params(mechanism=HISTOGRAM).fit(HISTOGRAM.privatize(Z.clip(*BOUNDS), seed=1).reshape(-1, 1))
    assert not hasattr(again, "labels_")


def test_noise_of_its_own_needs_the_mechanism_of_new_records():
    varying = mechanisms.Laplace(scale=np.full(40, 0.5), bounds=BOUNDS)
    found = PrivateMixtureEstimator(varying, random_state=3, **FEW).fit(X)
    with pytest.raises(ValueError, match="mechanism=…"):
        found.predict(X)
    assert found.predict(X, mechanism=varying).tolist() == TRUTH.tolist()
    assert np.isfinite(found.score_released(X[:2], mechanism=MECHANISM)).all()


def test_pickled_estimators_answer_the_same(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.score_samples(X), fitted.score_samples(X))
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert again.posterior_.resume(3).dataset.equals(fitted.posterior_.resume(3).dataset)


def test_no_mechanism_means_no_noise():
    found = PrivateMixtureEstimator(random_state=1, **{**FEW, "sampler": None}).fit(X)
    assert found.posterior_.model.mechanism == mechanisms.Identity()
    assert found.posterior_.model.restricted_to is None
    assert found.score_released(X) == pytest.approx(found.score_samples(X), abs=1e-9)
    same = PrivateMixtureEstimator(random_state=1, **{**FEW, "sampler": None}).fit(np.full((4, 1), 7.0))
    assert np.isfinite(same.score_samples([[7.0]])).all()


def test_cross_validation_compares_releases():
    """A kernel of the right scale explains held-out releases better than one a hundred times too wide."""
    kernel = [kernels.Normal(rate=1.0), kernels.Normal(rate=30_000.0)]
    rng = np.random.default_rng(1)
    estimator = PrivateMixtureEstimator(MECHANISM, random_state=1, **FEW)
    search = GridSearchCV(estimator, {"kernel": kernel}, cv=2).fit(rng.permutation(X))
    assert search.best_params_ == {"kernel": kernel[0]}
    assert np.isfinite(cross_val_score(search.best_estimator_, X, cv=2)).all()
