"""Credible balls equal those found by looking at all draws, in plain Python."""

import numpy as np
import pytest

from oracles.partition_losses import ball, random_draws, same
from privmix.clusters.ball import credible_ball
from privmix.clusters.estimate import estimate_clusters
from privmix.clusters.losses import Loss, distances
from privmix.clusters.partitions import gather


@pytest.mark.parametrize(("loss", "weight"), [("vi", 1.0), ("binder", 1.0), ("vi", 1.4)])
@pytest.mark.parametrize("level", [0.3, 0.8, 0.95])
def test_ball_of_six_records(loss, weight, level):
    for seed in range(20):
        draws = random_draws(seed, draws=40)
        partitions = gather(draws)
        clustering = estimate_clusters(partitions, Loss(loss, weight), runs=4)
        found = credible_ball(partitions, clustering, level)
        radius, *bounds = ball(loss, draws, clustering.labels, level)
        assert found.radius == pytest.approx(radius, abs=1e-9)
        for rows, wanted in zip((found.lower, found.upper, found.horizontal), bounds, strict=True):
            assert {same(row) for row in rows} == wanted
            assert len(rows) == len(wanted)


def test_ball_is_the_smallest_that_holds_the_level():
    partitions = gather(random_draws(1, n=12, draws=200))
    clustering = estimate_clusters(partitions, Loss())
    distance = distances(Loss(), partitions.labels, clustering.labels)
    for level in (0.01, 0.5, 0.9, 0.999):
        found = credible_ball(partitions, clustering, level)
        assert found.probability == pytest.approx(partitions.probability[distance <= found.radius + 1e-9].sum())
        assert found.probability >= level
        assert partitions.probability[distance < found.radius - 1e-9].sum() < level - 1e-9
        assert found.upper[0].max() <= found.lower[0].max()


def test_a_certain_partition_has_a_ball_of_radius_zero():
    partitions = gather(np.array([[0, 0, 1, 1, 1]] * 9))
    found = credible_ball(partitions, estimate_clusters(partitions, Loss()), 0.95)
    assert found.radius == 0.0
    for rows in (found.lower, found.upper, found.horizontal):
        assert rows.tolist() == [[1, 1, 0, 0, 0]]
    assert repr(found) == "<privmix.CredibleBall: 95% within vi distance 0, 2 to 2 clusters>"
