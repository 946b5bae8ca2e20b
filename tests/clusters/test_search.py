"""The steps of the search: each record goes where trying all places puts it, and the tables stay true."""

import numpy as np
import pytest

from oracles.partition_losses import expected, random_draws, same
from privmix.clusters.estimate import similarity_of
from privmix.clusters.expectations import BY_MATRIX, BY_TABLES, Matrix, make_tables
from privmix.clusters.losses import Loss, expected_loss
from privmix.clusters.partitions import gather
from privmix.clusters.search import begin, descend, make_work, objective, rebuild_cluster, relocate
from privmix.jit import bind

FORMS = [("vi", 1.0, BY_TABLES), ("vi", 0.7, BY_TABLES), ("binder", 1.3, BY_TABLES), ("binder", 1.3, BY_MATRIX)]


def prepared(loss, weight, hooks, draws, most):
    """Return the draws as the search sees them, empty work, and a function that runs a step by plain Python."""
    partitions = gather(draws)
    chosen = Loss(loss, weight)
    seen = Matrix(similarity_of(partitions)) if hooks is BY_MATRIX else make_tables(partitions, most)
    work = make_work(chosen.phi(partitions.records + 1), weight, partitions.records, most)
    return seen, work, lambda step, *args: bind(step, hooks, compiled=False)(seen, work, *args)


def least_of_all_places(loss, weight, draws, labels, i):
    """Return the least expected loss over all places of record i, a cluster of its own among them."""
    tried = [np.where(np.arange(len(labels)) == i, k, labels) for k in range(len(labels))]
    return min(expected(loss, draws, one, weight) for one in tried)


@pytest.mark.parametrize(("loss", "weight", "hooks"), FORMS)
def test_a_record_moves_to_the_best_of_all_places(loss, weight, hooks):
    for seed in range(6):
        draws = random_draws(seed, n=9, draws=15)
        _, work, run = prepared(loss, weight, hooks, draws, 9)
        labels = gather(random_draws(100 + seed, n=9, draws=1)).labels[0].astype(np.int64)
        # Every record from its place, then the last one from none.
        for start, i in [*[(labels, i) for i in range(9)], (np.array([*same(labels[:8]), -1]), 8)]:
            run(begin, start)
            run(relocate, i)
            least = least_of_all_places(loss, weight, draws, start, i)
            assert expected(loss, draws, work.label, weight) == pytest.approx(least, abs=1e-9)
            assert sorted(set(work.label)) == list(range(work.used[0]))


@pytest.mark.parametrize(("loss", "weight", "hooks"), FORMS)
def test_objective_is_the_expected_loss_but_for_a_constant(loss, weight, hooks):
    draws = random_draws(3, n=9, draws=15)
    _, _, run = prepared(loss, weight, hooks, draws, 9)
    gaps = []
    for seed in range(5):
        labels = gather(random_draws(50 + seed, n=9, draws=1)).labels[0].astype(np.int64)
        run(begin, labels)
        gaps.append(run(objective) / Loss(loss).scale(9) - expected(loss, draws, labels, weight))
    assert gaps == pytest.approx([gaps[0]] * 5, abs=1e-12)


@pytest.mark.parametrize("most", [3, 20])
def test_tables_stay_true(most):
    draws = random_draws(4, n=20, draws=30)
    seen, work, _ = prepared("vi", 0.5, BY_TABLES, draws, most)
    rng = np.random.default_rng(1)
    for _ in range(20):
        start = np.unique(rng.integers(0, most, 20), return_inverse=True)[1]
        bind(descend, BY_TABLES)(seen, work, rng, start, 10)
        used = work.used[0]
        assert sorted(set(work.label)) == list(range(used))
        assert np.array_equal(work.size[:used], np.bincount(work.label))
        assert (work.size[used:] == 0).all()
        fresh = np.zeros_like(seen.table)
        np.add.at(fresh, (seen.rows, work.label[:, None]), 1)
        assert np.array_equal(seen.table, fresh)


@pytest.mark.parametrize(("loss", "weight", "hooks"), FORMS)
def test_building_a_cluster_anew_never_makes_it_worse(loss, weight, hooks):
    """From bad starts, where it helps, and from good ones, where placing records one by one may do harm."""
    draws = np.random.default_rng(9).integers(0, 3, (12, 12))
    partitions, rng = gather(draws), np.random.default_rng(1)
    seen, work, run = prepared(loss, weight, hooks, draws, 12)
    helped = 0
    for _ in range(15):
        start = np.unique(rng.integers(0, 4, 12), return_inverse=True)[1]
        for good in (False, True):
            if good:
                bind(descend, hooks)(seen, work, rng, start, 0)
            run(begin, work.label.copy() if good else start)
            before, kept = expected_loss(Loss(loss, weight), partitions, work.label), same(work.label)
            run(rebuild_cluster, rng)
            after = expected_loss(Loss(loss, weight), partitions, work.label)
            helped += after < before
            assert after < before or same(work.label) == kept
    assert helped > 0


@pytest.mark.parametrize(("loss", "weight", "hooks"), FORMS)
@pytest.mark.parametrize("mate", [1, 3])
def test_a_lone_record_joins_another_cluster(loss, weight, hooks, mate):
    """Its old cluster is empty then, and the last one takes its name: also where that is the one it joins."""
    truth = np.array([mate, 1, 1, 3, 3])
    _, work, run = prepared(loss, weight, hooks, np.stack([truth] * 3), 5)
    run(begin, np.array([0, 1, 1, 2, 2]))
    assert run(relocate, 0) == 1
    assert same(work.label) == same(truth)
    assert work.used[0] == 2
