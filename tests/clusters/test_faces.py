"""What a posterior answers about clusters, and what it refuses."""

import numpy as np
import pytest

import privmix
from oracles.partition_losses import expected
from privmix import PrivateMixture, mechanisms

pytestmark = pytest.mark.xdist_group("fits")

MECHANISM = mechanisms.Laplace(epsilon=20.0, bounds=(-10.0, 10.0))
Z = MECHANISM.privatize(np.repeat([-5.0, 5.0], 10), seed=1)
ANSWERS = [
    lambda p: p.similarity(),
    lambda p: p.clustering(),
    lambda p: p.credible_ball(),
    lambda p: p.predict([1.0]),
    lambda p: p.predict_proba([1.0], np.arange(20) % 2),
]


@pytest.fixture(scope="module")
def posterior():
    return PrivateMixture(MECHANISM).sample(Z, draws=40, warmup=100, thin=1, chains=2, seed=1)


def test_chains_are_pooled(posterior):
    draws = posterior.datatree["posterior"]["allocation"].values.reshape(80, 20)
    matrix = posterior.similarity()
    assert matrix.dims == ("record", "record2")
    assert matrix.values == pytest.approx((draws[:, :, None] == draws[:, None, :]).mean(axis=0), abs=1e-15)
    estimate = posterior.clustering("binder", weight=1.2)
    assert estimate.draws == 80
    assert estimate.expected_loss == pytest.approx(expected("binder", draws, estimate.labels, 1.2), abs=1e-12)
    assert repr(estimate).startswith(f"<privmix.Clustering: {estimate.n_clusters} clusters of 20 records, expected bin")


def test_saved_posteriors_answer_alike(posterior, tmp_path):
    posterior.save(tmp_path / "fit.nc")
    loaded = privmix.load(tmp_path / "fit.nc")
    assert np.array_equal(loaded.clustering().labels, posterior.clustering().labels)
    assert np.array_equal(loaded.predict_proba([3.0]), posterior.predict_proba([3.0]))


def test_ball_takes_an_estimate_labels_or_nothing(posterior):
    estimate = posterior.clustering()
    radius = posterior.credible_ball(estimate).radius
    assert posterior.credible_ball().radius == radius
    assert posterior.credible_ball(5 - estimate.labels).radius == radius
    assert posterior.credible_ball(estimate.labels.tolist(), level=0.5).radius <= radius
    assert posterior.credible_ball(estimate.labels, loss="binder").loss == "binder"


@pytest.mark.parametrize("answer", ANSWERS)
def test_allocations_that_were_not_kept(answer):
    bare = PrivateMixture(MECHANISM).sample(Z, draws=5, warmup=5, thin=1, chains=1, seed=1, allocations=False)
    with pytest.raises(ValueError, match=r"were not kept in this posterior\. Sample again with allocations=True"):
        answer(bare)


@pytest.mark.parametrize("answer", ANSWERS)
def test_release_of_the_whole_data_set(answer, posterior, monkeypatch):
    monkeypatch.setattr(mechanisms.Laplace, "is_global", True, raising=False)
    with pytest.raises(ValueError, match=r"no information on individual records, .* use posterior\.density\(\)"):
        answer(posterior)
    assert posterior.density()["mean"].size == 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "rand"}, "^loss must be one of 'vi', 'binder'; got 'rand'"),
        ({"weight": 0.0}, "must be between 0 and 2; got 0.0"),
        ({"weight": 2.0}, "must be between 0 and 2; got 2.0"),
        ({"weight": np.nan}, "must be between 0 and 2; got nan"),
        ({"weight": "a"}, "must be between 0 and 2; got 'a'"),
        ({"max_clusters": 0}, "^max_clusters must be a whole number of at least 1; got 0"),
        ({"max_clusters": 2.5}, "^max_clusters must be a whole number of at least 1; got 2.5"),
        ({"visited": 0}, "^visited must be a whole number of at least 1; got 0"),
        ({"runs": -1}, "^runs must be a whole number of at least 0; got -1"),
        ({"runs": True}, "^runs must be a whole number of at least 0; got True"),
    ],
)
def test_bad_options(posterior, options, message):
    with pytest.raises(ValueError, match=message):
        posterior.clustering(**options)


@pytest.mark.parametrize("level", [0.0, 1.0, 95, np.nan])
def test_bad_level(posterior, level):
    with pytest.raises(ValueError, match=rf"^level must be between 0 and 1; got {level!r}\.$"):
        posterior.credible_ball(level=level)


@pytest.mark.parametrize("labels", [[0, 1], np.zeros((20, 1), int), np.zeros(20), "vi", 3])
def test_bad_labels(posterior, labels):
    for answer in (lambda: posterior.credible_ball(labels), lambda: posterior.predict([1.0], labels)):
        with pytest.raises(
            ValueError, match=r"^clustering must be a Clustering or one whole number for each of 20 rec"
        ):
            answer()


def test_bad_new_records(posterior):
    for z in ([np.nan], [[1.0, 2.0]], []):
        with pytest.raises(ValueError, match="the release z"):
            posterior.predict(z, np.arange(20) % 2)


def test_one_record():
    one = PrivateMixture(MECHANISM).sample([1.0], draws=5, warmup=5, thin=1, chains=1, seed=1)
    assert one.similarity().values.tolist() == [[1.0]]
    for loss in ("vi", "binder"):
        estimate = one.clustering(loss)
        assert (estimate.labels.tolist(), estimate.certainty.tolist(), estimate.expected_loss) == ([0], [1.0], 0.0)
    assert one.credible_ball().radius == 0.0
