"""Whether a release is told from noise: the distance, the null releases and the verdict."""

import numpy as np
import pytest
from scipy import integrate, stats

import privmix
from privmix import PrivateMixture, mechanisms, samplers
from privmix.checks.informativeness import Yardstick, hellinger, judge

pytestmark = pytest.mark.xdist_group("fits")

BOUNDS = (-10.0, 10.0)
SHORT = {"draws": 60, "warmup": 60, "thin": 1, "chains": 1}


def data(n=150):
    rng = np.random.default_rng(1)
    return rng.choice([-6.0, 6.0], n) + 0.3 * rng.standard_normal(n)


def posterior_at(epsilon):
    mechanism = mechanisms.Laplace(epsilon=epsilon, bounds=BOUNDS)
    z = mechanism.privatize(data(), seed=1)
    return PrivateMixture(mechanism).sample(z, samplers.Neal5(), draws=300, warmup=300, thin=1, chains=1, seed=1)


def test_hellinger_is_that_of_quadrature():
    p, q = stats.norm(0.0, 1.0), stats.norm(1.0, 2.0)
    step = 0.01
    grid = np.arange(-20.0, 20.0, step) + 0.5 * step
    overlap = integrate.quad(lambda y: np.sqrt(p.pdf(y) * q.pdf(y)), -20.0, 20.0)[0]
    assert hellinger(p.pdf(grid), q.pdf(grid), step) == pytest.approx(np.sqrt(1.0 - overlap), abs=1e-6)
    assert hellinger(p.pdf(grid), p.pdf(grid), step) == pytest.approx(0.0, abs=1e-6)
    # Outside the grid is one more cell: two densities that differ nowhere else are at no distance.
    part = grid[grid > 0.0]
    assert hellinger(p.pdf(part), p.pdf(part), step) == pytest.approx(0.0, abs=1e-6)
    assert hellinger(p.pdf(part), 0.0 * part, step) == pytest.approx(np.sqrt(1.0 - np.sqrt(0.5)), abs=1e-6)


def test_judgement():
    null = np.linspace(0.01, 0.20, 20)
    assert judge(0.21, null).informative
    assert not judge(0.19, null).informative
    assert judge(0.19, null).null_upper == 0.20
    many = np.arange(1.0, 100.0) / 1000.0
    assert judge(0.5, many).null_upper == pytest.approx(0.095)  # exceeded by 5 of 100
    answer = judge(0.21, null)
    assert "tells more than the prior: the posterior mean density is at Hellinger distance 0.210" in answer.sentence
    assert "20 simulated releases" in str(answer)
    assert judge(0.1, null).sentence.startswith("The release does not show that it tells more than the prior")


def test_weak_noise_is_informative_and_strong_noise_is_not():
    clear = posterior_at(100.0).informativeness(null=19, **SHORT)
    drowned = posterior_at(0.01).informativeness(null=19, **SHORT)
    assert clear.informative
    assert clear.distance > 0.5
    assert not drowned.informative
    assert clear.null_distances.shape == (19,)
    assert clear.null_upper == clear.null_distances.max()


def test_seed_repeats_the_answer():
    posterior = posterior_at(100.0)
    first, second, other = (posterior.informativeness(null=2, seed=seed, **SHORT) for seed in (1, 1, 2))
    assert np.array_equal(first.null_distances, second.null_distances)
    assert not np.array_equal(first.null_distances, other.null_distances)


@pytest.mark.parametrize("cut", [False, True])
def test_null_records_follow_the_prior_mean_density(cut):
    """The distribution of null records inside the bounds, against the cumulative prior mean density."""
    mechanism = mechanisms.Laplace(epsilon=1e6, bounds=BOUNDS)
    z = np.zeros(4000)
    if cut:
        posterior = privmix.fit(z[:5], mechanism, sampler=samplers.Neal5(), draws=2, warmup=1, thin=1, chains=1, seed=1)
    else:
        posterior = PrivateMixture(mechanism).sample(
            z[:5], samplers.Neal5(), draws=2, warmup=1, thin=1, chains=1, seed=1
        )
    yardstick = Yardstick.of(posterior, np.random.default_rng(1))
    y = yardstick._null_records(4000, np.random.default_rng(2))
    assert (np.abs(y) <= 10.0).all()
    step = yardstick.grid[1] - yardstick.grid[0]
    mass = np.concatenate([[0.0], np.cumsum(yardstick.prior_mean)]) * step
    edges = np.concatenate([yardstick.grid - 0.5 * step, [10.0]])
    assert stats.kstest(y, lambda x: np.interp(x, edges, mass / mass[-1])).pvalue > 1e-4


def test_bad_input():
    posterior = posterior_at(100.0)
    for counts in ({"null": 0}, {"draws": 0}, {"warmup": -1}, {"thin": 1.5}, {"chains": True}):
        (name,) = counts
        with pytest.raises(ValueError, match=rf"^{name} must be a whole number of at least \d; got"):
            posterior.informativeness(**counts)
