"""What every kernel that the room exports must do."""

import copy
import json
import pickle

import numpy as np
import pytest
from scipy import stats

from kernels.examples import ALL, BUILT_IN, CASES, Exponential, drawn_parameters, draws_of, hyper_of, row_of
from numerics.quadrature import ALPHA, distribution_function, edges_around, panel_masses
from privmix.jit import bind
from privmix.kernels import Beta, HierarchicalNormal, Normal
from privmix.kernels.slots import draw_atom, draw_hyper, draw_y, log_base, log_f, update_atom, update_hyper
from privmix.parts import part_from_dict, part_to_dict

pytestmark = pytest.mark.xdist_group("kernels")


@pytest.mark.parametrize("cls", BUILT_IN)
def test_every_kernel_has_usable_defaults(cls):
    for theta in drawn_parameters(cls()):
        assert np.isfinite(cls().logpdf(draws_of(cls(), theta, 5), theta)).all()


# A kernel on an interval may treat this much of it, at either end, as one cell of constant density.
CELL = 1e-10


def edges_for(kernel, theta):
    """Return edges of panels that hold all mass: beyond the draws, or up to the ends of a bounded support."""
    lower, upper = kernel.support
    if np.isfinite([lower, upper]).all():
        # Densities may be infinite at the ends: panels that shrink towards them.
        ends = np.concatenate([[0.0], np.geomspace(1e-12, CELL, 100), np.geomspace(CELL, 0.1, 500)[1:]])
        unit = np.concatenate([ends, np.linspace(0.1, 0.9, 400)[1:-1], 1.0 - ends[::-1]])
        return np.unique(lower + (upper - lower) * unit)
    return np.unique(np.clip(edges_around(draws_of(kernel, theta, 1000), reach=20.0), lower, upper))


def through_json(part):
    return part_from_dict(json.loads(json.dumps(part_to_dict(part))))


@pytest.mark.parametrize("kernel", ALL, ids=repr)
@pytest.mark.parametrize("again", [copy.deepcopy, lambda k: pickle.loads(pickle.dumps(k)), through_json])
def test_copies_are_equal(kernel, again):
    assert again(kernel) == kernel
    assert hash(again(kernel)) == hash(kernel)


def test_different_kernels_are_unequal():
    for i, one in enumerate(ALL):
        assert [one == other for other in ALL] == [i == j for j in range(len(ALL))]


@pytest.mark.parametrize(("kernel", "theta"), CASES, ids=repr)
def test_density_integrates_to_one(kernel, theta):
    total = panel_masses(lambda y: kernel.logpdf(y, theta), edges_for(kernel, theta)).sum()
    # The beta's edge cell has the cell's mean density to first order in its width, 1e-10.
    assert total == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize(("kernel", "theta"), CASES, ids=repr)
def test_draws_follow_the_density(kernel, theta):
    cdf = distribution_function(lambda y: kernel.logpdf(y, theta), edges_for(kernel, theta))
    y = draws_of(kernel, theta)
    assert stats.kstest(y, cdf).pvalue > ALPHA
    lower, upper = kernel.support
    assert ((y >= lower) & (y <= upper)).all()


@pytest.mark.parametrize(("kernel", "theta"), [c for c in CASES if hasattr(c[0], "cdf")], ids=repr)
def test_cdf_is_the_integral_of_the_density(kernel, theta):
    edges = edges_for(kernel, theta)
    exact = np.concatenate([[0.0], np.cumsum(panel_masses(lambda y: kernel.logpdf(y, theta), edges))])
    row, (lower, upper) = row_of(kernel, theta), kernel.support
    whole = (edges - lower >= 2 * CELL * (upper - lower)) & (upper - edges >= 2 * CELL * (upper - lower))
    whole |= ~np.isfinite(upper - lower)
    assert np.array([kernel.cdf(y, row) for y in edges])[whole] == pytest.approx(exact[whole], abs=1e-8)


@pytest.mark.parametrize(("kernel", "theta"), CASES, ids=repr)
def test_hook_in_python_equals_the_compiled_one(kernel, theta):
    y = draws_of(kernel, theta, 50)
    row = row_of(kernel, theta)
    assert [kernel.log_f(point, row) for point in y] == pytest.approx(kernel.logpdf(y, theta), rel=1e-13)
    assert kernel.logpdf(y.reshape(5, 10), theta).shape == (5, 10)


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_density_of_one_number_is_one_number(kernel):
    theta = next(theta for case, theta in CASES if case == kernel)
    found = kernel.logpdf(0.5, theta)
    assert found.shape == ()
    assert found == kernel.logpdf([0.5], theta)[0]


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_row_has_a_column_for_everything(kernel):
    assert kernel.columns == len(kernel.parameters) + kernel.constants
    assert set(kernel.positive) <= set(kernel.parameters)
    lower, upper = kernel.support
    assert lower < upper


@pytest.mark.parametrize("kernel", [*[k for k in ALL if k.has("log_base")], Exponential()], ids=repr)
def test_base_draws_have_the_density_log_base(kernel):
    """For a normalised q narrower than G₀, E[q(θ)/g₀(θ)] = 1 over θ ~ G₀, whatever the constants in g₀."""
    rng = np.random.default_rng(1)
    hyper = hyper_of(kernel, rng)
    last = (hyper,) if len(hyper) else ()
    rows = np.zeros((20_000, kernel.columns))
    for row in rows:
        kernel.base(rng, row, *last)
        kernel.prepare(row)
    p = len(kernel.parameters)
    positive = np.array([name in kernel.positive for name in kernel.parameters])
    u = np.where(positive, np.log(np.where(positive, rows[:, :p], 1.0)), rows[:, :p])
    q = stats.multivariate_normal(np.median(u, axis=0), 0.2 * np.atleast_2d(np.cov(u.T)))
    # q is a density of log θ where θ is positive: its density in θ carries 1/θ.
    log_q = q.logpdf(u) - u[:, positive].sum(axis=1)
    ratio = np.exp(log_q - [kernel.log_base(row, *last) for row in rows])
    error = ratio.std() / np.sqrt(len(ratio))
    assert error < 0.02
    assert abs(ratio.mean() - 1.0) < stats.norm.isf(ALPHA / 2) * error


# An update must leave the law of (θ, y) as it was: draw both from the model, update θ, and compare.


def many_updates(kernel, rng, row, ys, hyper, tune, before, after, likelihood):
    """Fill θ before and after an update, and Σ log f(y|θ) before and after; each line a replicate of its own."""
    for r in range(len(before)):
        draw_hyper(kernel, rng, hyper)
        draw_atom(kernel, rng, row, hyper)
        for j in range(len(ys)):
            draw_y(kernel, rng, row, ys, j)
        for step in range(2):
            likelihood[r, step] = 0.0
            for j in range(len(ys)):
                likelihood[r, step] += log_f(kernel, ys[j], row)
            target = before if step == 0 else after
            for p in range(before.shape[1]):
                target[r, p] = row[p]
            if step == 0:
                update_atom(kernel, rng, row, ys, tune, hyper)


def update_pvalues(kernel, records, replicates=60_000, seed=1):
    """Return p-values that θ and the likelihood have one law before and after, from disjoint replicates."""
    p = len(kernel.parameters)
    before, after = np.zeros((2, replicates, p))
    likelihood = np.zeros((replicates, 2))
    row, ys = np.zeros(kernel.columns), np.zeros(records)
    hyper, tune = np.zeros(len(kernel.hyperparameters)), np.zeros(1 + kernel.tuning)
    run = bind(many_updates, kernel.hooks(), owner=repr(kernel))
    run(kernel.numbers(), np.random.default_rng(seed), row, ys, hyper, tune, before, after, likelihood)
    assert not np.array_equal(before, after)
    half = replicates // 2
    pairs = [(before[:half, c], after[half:, c]) for c in range(p)]
    if records:
        pairs += [(likelihood[:half, 0], likelihood[half:, 1])]
        first = kernel.parameters[0]
        assert np.mean(before[:, 0] != after[:, 0]) > 0.1, f"{first} hardly moves"
    return [stats.ks_2samp(*pair).pvalue for pair in pairs]


# With such small shapes a third of all records lie in the cells at the ends.
EDGY = Beta(shape=0.3, rate=2.0)


@pytest.mark.parametrize("records", [0, 1, 6])
@pytest.mark.parametrize("kernel", [*ALL, EDGY, Exponential()], ids=repr)
def test_update_leaves_the_joint_law_unchanged(kernel, records):
    pvalues = update_pvalues(kernel, records)
    assert min(pvalues) > ALPHA, pvalues


class CountsARecordTwice(Normal):
    """A planted bug: the variance's shape grows by n instead of n/2."""

    def update(self, rng, theta, ys, tune):
        n = len(ys)
        average, spread = 0.0, 0.0
        for j in range(n):
            average += ys[j] / n
        for j in range(n):
            spread += (ys[j] - average) ** 2
        precision = self.precision_scale + n
        gap = average - self.mean
        rate = self.rate + 0.5 * spread + 0.5 * self.precision_scale * n * gap * gap / precision
        theta[1] = rate / rng.standard_gamma(self.shape + n)
        theta[0] = (self.precision_scale * self.mean + n * average) / precision
        theta[0] += (theta[1] / precision) ** 0.5 * rng.standard_normal()


def test_a_wrong_update_is_seen():
    assert min(update_pvalues(CountsARecordTwice(), 6)) < ALPHA


def many_hyper_updates(kernel, rng, atoms, count, hyper, before, after, heights):
    """Fill the hyperparameters before and after an update given atoms that were drawn under the first."""
    for r in range(len(before)):
        draw_hyper(kernel, rng, hyper)
        for h in range(count):
            draw_atom(kernel, rng, atoms[h], hyper)
        for c in range(len(hyper)):
            before[r, c] = hyper[c]
        heights[r, 0] = log_base(kernel, atoms[0], hyper)
        update_hyper(kernel, rng, hyper, atoms[:count])
        for c in range(len(hyper)):
            after[r, c] = hyper[c]
        heights[r, 1] = log_base(kernel, atoms[0], hyper)


def hyper_pvalues(kernel, atoms, replicates=60_000):
    """Return p-values that hyperparameters, and the height of an atom under them, have one law before and after."""
    before, after = np.zeros((2, replicates, len(kernel.hyperparameters)))
    heights = np.zeros((replicates, 2))
    rows, rng = np.ones((4, kernel.columns)), np.random.default_rng(1)
    run = bind(many_hyper_updates, kernel.hooks(), owner=repr(kernel))
    run(kernel.numbers(), rng, rows, atoms, np.zeros(before.shape[1]), before, after, heights)
    half = replicates // 2
    pairs = [(before[:half, c], after[half:, c]) for c in range(before.shape[1])]
    if atoms:
        pairs.append((heights[:half, 0], heights[half:, 1]))
    return [stats.ks_2samp(*pair).pvalue for pair in pairs]


LEARNING = [
    HierarchicalNormal((0.0, 1.0)),
    HierarchicalNormal((-2.0, 8.0)),
    Normal(mean=(1.0, 2.0), precision_scale=0.5, rate=(3.0, 2.0)),
    Normal(mean=(1.0, 2.0), rate=0.5),
    Normal(mean=1.0, rate=(3.0, 2.0)),
]


@pytest.mark.parametrize("atoms", [0, 1, 4])
@pytest.mark.parametrize("kernel", LEARNING, ids=repr)
def test_hyperparameters_keep_their_law(kernel, atoms):
    assert min(hyper_pvalues(kernel, atoms)) > ALPHA


def test_hyperprior_is_the_documented_one():
    kernel, rng = HierarchicalNormal((-2.0, 8.0)), np.random.default_rng(1)
    hyper = np.array([hyper_of(kernel, rng) for _ in range(20_000)])
    assert stats.kstest(hyper[:, 0], stats.norm(3.0, 2.5).cdf).pvalue > ALPHA
    assert stats.kstest(hyper[:, 1], stats.invgamma(2.0, scale=2.5**2).cdf).pvalue > ALPHA
    assert stats.kstest(hyper[:, 2], stats.gamma(2.0, scale=3 * 0.5**2 / 2).cdf).pvalue > ALPHA
