"""Estimates of the clusters: exact where all partitions can be tried, and no worse than what the chains visited."""

import numpy as np
import pytest

from oracles.partition_losses import LOSSES, all_partitions, expected, random_draws, same
from privmix.clusters import estimate as module
from privmix.clusters.estimate import estimate_clusters
from privmix.clusters.losses import Loss, distances, expected_bounds, expected_loss
from privmix.clusters.partitions import gather, number_by_size

SIX = all_partitions(6)
FORMS = [("vi", 1.0), ("binder", 1.0), ("vi", 0.6), ("vi", 1.3), ("binder", 1.4), ("binder", 0.7)]


def noisy_draws(n, draws, seed=1, noise=0.25):
    rng = np.random.default_rng(seed)
    truth = np.sort(rng.integers(0, 4, n))
    return np.where(rng.random((draws, n)) < noise, rng.integers(0, 8, (draws, n)), truth)


def test_there_are_203_partitions_of_six():
    assert len(set(SIX)) == 203


@pytest.mark.parametrize(("loss", "weight"), FORMS)
def test_exact_minimiser_of_20_random_posteriors(loss, weight):
    for seed in range(20):
        draws = random_draws(seed)
        exact = {partition: expected(loss, draws, partition, weight) for partition in SIX}
        least = min(exact.values())
        found = estimate_clusters(gather(draws), Loss(loss, weight))
        assert found.expected_loss == pytest.approx(least, abs=1e-12), seed
        assert exact[same(found.labels)] == pytest.approx(least, abs=1e-12), seed


@pytest.mark.parametrize(("loss", "weight"), FORMS[:3])
def test_exact_minimiser_among_at_most_two_clusters(loss, weight):
    for seed in range(10):
        draws = random_draws(seed)
        least = min(expected(loss, draws, partition, weight) for partition in SIX if max(partition) < 2)
        found = estimate_clusters(gather(draws), Loss(loss, weight), max_clusters=2)
        assert found.n_clusters <= 2
        assert found.expected_loss == pytest.approx(least, abs=1e-12), seed


@pytest.mark.parametrize("loss", ["vi", "binder"])
@pytest.mark.parametrize("weight", [1.0, 0.4, 1.7])
def test_losses_are_those_of_their_definitions(loss, weight):
    draws, estimate = random_draws(3, n=9, draws=30), random_draws(4, n=9, draws=1)[0]
    partitions = gather(draws)
    found = distances(Loss(loss, weight), partitions.labels, number_by_size(estimate))
    assert found == pytest.approx([LOSSES[loss](list(d), list(estimate), weight) for d in partitions.labels], abs=1e-12)
    value = expected_loss(Loss(loss, weight), partitions, number_by_size(estimate))
    assert value == pytest.approx(expected(loss, draws, estimate, weight), abs=1e-12)


@pytest.mark.parametrize(("loss", "weight"), FORMS)
def test_bounds_lie_below_and_are_exact_for_binder(loss, weight):
    partitions = gather(noisy_draws(40, 60))
    chosen = Loss(loss, weight)
    bounds = expected_bounds(chosen, partitions, module.similarity_of(partitions), partitions.labels)
    exact = np.array([expected_loss(chosen, partitions, row) for row in partitions.labels])
    assert (bounds <= exact + 1e-12).all()
    if loss == "binder":
        assert bounds == pytest.approx(exact, abs=1e-12)
    else:
        assert (bounds > 0.3 * exact).all()


@pytest.mark.parametrize(("loss", "weight"), FORMS[:4])
def test_500_records_no_worse_than_any_visited_partition(loss, weight):
    partitions = gather(noisy_draws(500, 150))
    chosen = Loss(loss, weight)
    visited = min(expected_loss(chosen, partitions, row) for row in partitions.labels)
    found = estimate_clusters(partitions, chosen)
    assert found.expected_loss <= visited
    assert found.visited == len(partitions.labels) == 150
    assert found.expected_loss == pytest.approx(expected_loss(chosen, partitions, found.labels), abs=1e-12)


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_visited_partitions_compete_even_if_the_search_finds_nothing(loss, monkeypatch):
    """With a search that stays where it starts, from one bad start, the best visited partition is the answer."""

    def stay(draws, work, rng, start, zealous):
        for i in range(len(start)):
            work.label[i] = start[i]

    monkeypatch.setattr(module, "descend", stay)
    monkeypatch.setattr(module, "starts", lambda *args: [np.arange(30) % 2])
    for draws in (20, 60):  # exact losses, and bounds by the similarity matrix
        partitions = gather(noisy_draws(30, draws, noise=0.1))
        exact = [expected_loss(Loss(loss), partitions, row) for row in partitions.labels]
        found = estimate_clusters(partitions, Loss(loss))
        assert found.expected_loss == pytest.approx(min(exact), abs=1e-12)
        assert same(found.labels) == tuple(partitions.labels[np.argmin(exact)])


def test_fewer_visited_partitions_on_request_and_where_there_are_too_many(monkeypatch):
    partitions = gather(noisy_draws(20, 50))
    assert estimate_clusters(partitions, Loss(), visited=7).visited == 7
    monkeypatch.setattr(module, "MOST_LABELS_COMPARED", 4 * 11.5 * 50 * 20)
    assert estimate_clusters(partitions, Loss()).visited == 11


@pytest.mark.parametrize("loss", ["vi", "binder"])
def test_one_certain_partition_is_returned(loss):
    truth = np.array([4, 4, 9, 9, 9, 1])
    found = estimate_clusters(gather(np.stack([truth] * 5)), Loss(loss))
    assert found.labels.tolist() == [1, 1, 0, 0, 0, 2]
    assert found.expected_loss == 0.0
    assert found.certainty.tolist() == [1.0] * 6
    assert (found.n_clusters, found.draws, found.visited, found.sizes.tolist()) == (3, 5, 1, [3, 2, 1])


def test_weight_moves_the_number_of_clusters():
    partitions = gather(noisy_draws(60, 100, noise=0.5))
    for loss, weights in (("vi", (0.2, 1.0, 1.8)), ("binder", (1.0, 1.5, 1.9))):
        counts = [estimate_clusters(partitions, Loss(loss, a)).n_clusters for a in weights]
        assert counts[0] > counts[1] >= counts[2]
        assert counts[0] > counts[2]


def test_certainty_by_definition():
    draws = noisy_draws(30, 50, noise=0.4)
    found = estimate_clusters(gather(draws), Loss("binder"))
    assert (found.sizes == 1).any()
    assert (found.sizes > 1).any()
    for i, k in enumerate(found.labels):
        mates = [j for j in range(30) if found.labels[j] == k and j != i]
        others = [j for j in range(30) if j != i]
        alone = np.mean((draws[:, others] != draws[:, [i]]).all(axis=1))
        wanted = np.mean(draws[:, mates] == draws[:, [i]]) if mates else alone
        assert found.certainty[i] == pytest.approx(wanted, abs=1e-12)


def test_seed_gives_the_estimate_and_names_play_no_part():
    rng = np.random.default_rng(5)
    draws = noisy_draws(50, 80, noise=0.6)
    renamed = np.stack([rng.permutation(8)[row] for row in draws])
    one, two, other = (estimate_clusters(gather(d), Loss(), runs=2, seed=3) for d in (draws, draws, renamed))
    assert np.array_equal(one.labels, two.labels)
    assert np.array_equal(one.labels, other.labels)
    assert one.expected_loss == other.expected_loss


def test_order_of_the_records_plays_no_part():
    draws, order = random_draws(7), np.random.default_rng(1).permutation(6)
    one, two = (estimate_clusters(gather(d), Loss()) for d in (draws, draws[:, order]))
    assert one.expected_loss == pytest.approx(two.expected_loss, abs=1e-12)
    assert same(one.labels[order]) == same(two.labels)


def test_result_cannot_be_changed():
    found = estimate_clusters(gather(random_draws(1)), Loss())
    for array in (found.labels, found.certainty):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
