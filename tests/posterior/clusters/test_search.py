"""The steps of the search: each record goes where trying all places puts it, and the tables stay true."""

import numpy as np
import pytest

from oracles.partition_losses import expected, random_draws, same
from privmix.jit import bind
from privmix.posterior.clusters.estimate import similarity_of
from privmix.posterior.clusters.evidence import BY_MATRIX, BY_TABLES, Matrix, make_tables
from privmix.posterior.clusters.losses import Loss, expected_loss
from privmix.posterior.clusters.partitions import gather
from privmix.posterior.clusters.search import begin, best_cluster, descend, make_work, objective, rebuild_cluster

FORMS = [("vi", 1.0, BY_TABLES), ("vi", 0.7, BY_TABLES), ("binder", 1.3, BY_TABLES), ("binder", 1.3, BY_MATRIX)]


def prepared(loss, weight, hooks, draws, most):
    """Return the draws as the search sees them, empty work, and a function that runs a step by plain Python."""
    partitions = gather(draws)
    chosen = Loss(loss, weight)
    seen = Matrix(similarity_of(partitions)) if hooks is BY_MATRIX else make_tables(partitions, most)
    work = make_work(chosen.phi(partitions.records + 1), weight, partitions.records, most)
    return seen, work, lambda step, *args: bind(step, hooks, compiled=False)(seen, work, *args)


def check_best_place(loss, weight, draws, run, labels, i):
    """The place chosen for record i has the least expected loss of all, a new cluster among them."""
    used = len(set(np.delete(labels, i)) - {-1}) + (labels[i] >= 0 and (labels == labels[i]).sum() == 1)
    tried = [np.where(np.arange(len(labels)) == i, k, labels) for k in range(used + 1)]
    values = [expected(loss, draws, one, weight) for one in tried]
    assert values[run(best_cluster, i, labels[i])] == pytest.approx(min(values), abs=1e-12)


@pytest.mark.parametrize(("loss", "weight", "hooks"), FORMS)
def test_best_place_is_the_best_of_all(loss, weight, hooks):
    for seed in range(6):
        draws = random_draws(seed, n=9, draws=15)
        _, _, run = prepared(loss, weight, hooks, draws, 9)
        labels = gather(random_draws(100 + seed, n=9, draws=1)).labels[0].astype(np.int64)
        run(begin, labels)
        for i in range(9):
            check_best_place(loss, weight, draws, run, labels, i)
        # A record without a place; the others are named anew without it.
        unplaced = np.array([*same(labels[:8]), -1])
        run(begin, unplaced)
        check_best_place(loss, weight, draws, run, unplaced, 8)


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
    draws = random_draws(5, n=15, draws=30)
    partitions, rng = gather(draws), np.random.default_rng(1)
    _, work, run = prepared(loss, weight, hooks, draws, 15)
    changed = 0
    for _ in range(25):
        start = np.unique(rng.integers(0, 4, 15), return_inverse=True)[1]
        run(begin, start)
        before = expected_loss(Loss(loss, weight), partitions, start)
        run(rebuild_cluster, rng)
        after = expected_loss(Loss(loss, weight), partitions, work.label.copy())
        changed += after < before
        assert after < before or same(work.label) == same(start)
    assert changed > 0
