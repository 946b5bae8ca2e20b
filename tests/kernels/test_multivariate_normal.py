"""Normal components of several columns: densities and conjugate draws against SciPy; kernels of some columns."""

import copy
import json
import pickle

import numpy as np
import pytest
from scipy import stats

from kernels.examples import row_of
from numerics.quadrature import ALPHA
from privmix.jit import bind
from privmix.kernels import MultivariateNormal, Normal
from privmix.kernels.slots import draw_atom, draw_hyper, draw_y, update_atom, update_hyper
from privmix.mechanisms import Each, Identity, VectorGaussian
from privmix.parts import part_from_dict, part_to_dict

pytestmark = pytest.mark.xdist_group("rows")

NAMES = ("a", "b", "c")
SCALE = np.array([[3.0, 1.0, 0.5], [1.0, 4.0, -1.0], [0.5, -1.0, 5.0]])
KERNEL = MultivariateNormal(NAMES, mean=[1.0, 2.0, 3.0], precision_scale=0.3, degrees=6.0, scale=SCALE)
DIAGONAL = MultivariateNormal(NAMES, [1.0, 2.0, 3.0], 0.3, 6.0, np.diag(SCALE), "diagonal")
SHARED = MultivariateNormal(NAMES, [1.0, 2.0, 3.0], 0.3, 6.0, SCALE, "shared shape")
LEARNED = [
    MultivariateNormal(NAMES, scale=[1.0, 2.0, 3.0], covariance=c, learns_scale=True) for c in ("full", "diagonal")
]
RECORDS = np.random.default_rng(1).standard_normal((5, 3)) * [1.0, 2.0, 0.5] + [0.0, 1.0, 4.0]


def matrix_of(theta, d=3):
    """Return Σ of rows of parameters."""
    out = np.zeros((*np.shape(theta)[:-1], d, d))
    i, j = np.tril_indices(d)
    out[..., i, j] = out[..., j, i] = np.asarray(theta)[..., d : d + len(i)]
    return out


def many_draws(kernel, rng, row, ys, hyper, tune, out):
    """Fill rows of θ, each drawn given the same records."""
    for r in range(len(out)):
        draw_atom(kernel, rng, row, hyper)
        update_atom(kernel, rng, row, ys, tune, hyper)
        for p in range(out.shape[1]):
            out[r, p] = row[p]


def draws_given(kernel, ys, count=40_000, replacements=None):
    """Return parameters drawn from their conditional given records."""
    out = np.zeros((count, len(kernel.parameters)))
    run = bind(many_draws, {**kernel.hooks(), **(replacements or {})}, owner="test")
    run(kernel.numbers(), np.random.default_rng(1), np.zeros(kernel.columns), ys, np.zeros(0), np.zeros(1), out)
    return out


def posterior_of(ys):
    """Return the textbook's numbers of the normal–inverse-Wishart law given records: κ, m, ν and S."""
    n, kappa, m = len(ys), KERNEL.precision_scale, KERNEL.mean
    average = ys.mean(axis=0) if n else np.zeros(3)
    spread = (ys - average).T @ (ys - average)
    gap = np.outer(average - m, average - m) * kappa * n / (kappa + n)
    return kappa + n, (kappa * m + n * average) / (kappa + n), KERNEL.degrees + n, SCALE + spread + gap


def test_density_and_base_are_those_of_scipy():
    row = np.zeros(KERNEL.columns)
    KERNEL.base(np.random.default_rng(1), row)
    KERNEL.prepare(row)
    sigma = matrix_of(row)
    exact = stats.multivariate_normal(row[:3], sigma).logpdf(RECORDS)
    assert KERNEL.logpdf(RECORDS, row[:9]) == pytest.approx(exact, rel=1e-12)
    assert [KERNEL.log_f(y, row) for y in RECORDS] == pytest.approx(exact, rel=1e-12)
    prior = stats.invwishart(6.0, SCALE).logpdf(sigma) + stats.multivariate_normal(KERNEL.mean, sigma / 0.3).logpdf(
        row[:3]
    )
    assert KERNEL.log_base(row) == pytest.approx(prior, rel=1e-12)
    learned = LEARNED[0]
    given = stats.invwishart(8.0, np.diag([1.0, 2.0, 3.0])).logpdf(sigma)
    given += stats.multivariate_normal(np.zeros(3), sigma / 0.1).logpdf(row[:3])
    assert learned.log_base(row, np.array([1.0, 2.0, 3.0])) == pytest.approx(given, rel=1e-12)
    row[3] = -1.0
    KERNEL.prepare(row)
    assert KERNEL.log_base(row) == -np.inf


def pvalues_of_full(out, ys):
    """Return p-values of draws of (μ, Σ) against SciPy's laws: each variance, correlation and mean."""
    kappa, m, nu, s = posterior_of(ys)
    sigma, other = matrix_of(out), stats.invwishart(nu, s).rvs(len(out), random_state=2)
    laws = [stats.invgamma(0.5 * (nu - 2.0), scale=0.5 * s[j, j]) for j in range(3)]
    found = [stats.kstest(sigma[:, j, j], law.cdf).pvalue for j, law in enumerate(laws)]
    for i, j in ((1, 0), (2, 0), (2, 1)):
        ratios = [x[:, i, j] / np.sqrt(x[:, i, i] * x[:, j, j]) for x in (sigma, other)]
        found.append(stats.ks_2samp(*ratios).pvalue)
    found.append(stats.ks_2samp(np.linalg.det(sigma), np.linalg.det(other)).pvalue)
    # μ standardised by Σ: squares of three standard normals.
    away = out[:, :3] - m
    distance = kappa * np.einsum("ni,ni->n", away, np.linalg.solve(sigma, away[..., None])[..., 0])
    return [*found, stats.kstest(distance, stats.chi2(3).cdf).pvalue]


@pytest.mark.parametrize("records", [0, 1, 5])
def test_update_draws_from_the_conjugate_law(records):
    ys = RECORDS[:records]
    assert min(pvalues_of_full(draws_given(KERNEL, ys), ys)) > ALPHA


def test_update_without_slopes_draws_each_variance():
    out, (_, m, nu, s) = draws_given(DIAGONAL, RECORDS), posterior_of(RECORDS)
    sigma = matrix_of(out)
    assert np.all(sigma[:, [1, 2, 2], [0, 0, 1]] == 0.0)
    for j in range(3):
        exact = s[j, j] - SCALE[j, j] + DIAGONAL.scale[j, j]
        assert stats.kstest(sigma[:, j, j], stats.invgamma(0.5 * (nu - 2.0), scale=0.5 * exact).cdf).pvalue > ALPHA
        away = (out[:, j] - m[j]) * np.sqrt(5.3 / sigma[:, j, j])
        assert stats.kstest(away, stats.norm.cdf).pvalue > ALPHA


def test_update_of_a_shared_shape_draws_its_multiple():
    out, (_, _, _, s) = draws_given(SHARED, RECORDS), posterior_of(RECORDS)
    sigma = matrix_of(out)
    multiple = sigma[:, 0, 0] / SCALE[0, 0]
    assert np.allclose(sigma, multiple[:, None, None] * SCALE)
    rate = 0.5 * (1.0 + np.trace(np.linalg.solve(SCALE, s - SCALE)))
    assert stats.kstest(multiple, stats.invgamma(2.0 + 7.5, scale=rate).cdf).pvalue > ALPHA


def many_steps(kernel, rng, rows, ys, hyper, tune, before, after):
    """Fill statistics of (hyper, θ, y) before and after updates of both; each line a replicate of its own."""
    for r in range(len(before)):
        draw_hyper(kernel, rng, hyper)
        for h in range(len(rows)):
            draw_atom(kernel, rng, rows[h], hyper)
        for j in range(len(ys)):
            draw_y(kernel, rng, rows[0], ys, j)
        for target in (before, after):
            for c in range(len(hyper)):
                target[r, c] = hyper[c]
            for p in range(before.shape[1] - len(hyper)):
                target[r, len(hyper) + p] = rows[0, p]
            update_hyper(kernel, rng, hyper, rows)
            update_atom(kernel, rng, rows[0], ys, tune, hyper)


@pytest.mark.parametrize("kernel", LEARNED, ids=lambda kernel: kernel.covariance)
def test_learned_scale_keeps_its_law(kernel):
    replicates, width = 60_000, len(kernel.hyperparameters) + len(kernel.parameters)
    before, after = np.zeros((2, replicates, width))
    rows, rng = np.zeros((3, kernel.columns)), np.random.default_rng(1)
    run = bind(many_steps, kernel.hooks(), owner="test")
    run(kernel.numbers(), rng, rows, np.zeros((2, 3)), np.zeros(3), np.zeros(1), before, after)
    half = replicates // 2
    for c in range(width):
        assert stats.ks_2samp(before[:half, c], after[half:, c]).pvalue > ALPHA
    for j in range(3):
        assert stats.kstest(before[:, j], stats.gamma(2.0, scale=(j + 1) / 2.0).cdf).pvalue > ALPHA


@pytest.mark.parametrize("kernel", [KERNEL, DIAGONAL, SHARED], ids=lambda kernel: kernel.covariance)
def test_columns_by_themselves_have_the_base_measure_that_is_stated(kernel):
    out = draws_given(kernel, np.zeros((0, 3)))
    assert kernel.children[1] == Normal(2.0, 0.3, 2.0, 2.0)
    assert stats.kstest(out[:, 3 + 2], stats.invgamma(2.0, scale=2.0).cdf).pvalue > ALPHA
    two = kernel.only(["c", "a"])
    assert (two.names, two.degrees, two.scale[0, 0], two.children[0]) == (("c", "a"), 5.0, 5.0, kernel.children[2])
    part, _ = kernel.draws_of(["c", "a"], out, np.zeros((len(out), 0)))
    assert np.array_equal(matrix_of(part, 2), matrix_of(out)[:, [2, 0]][:, :, [2, 0]])
    alone, hyper = LEARNED[0].draws_of(["b"], out, np.ones((len(out), 3)))
    assert np.array_equal(alone, out[:, [1, 5]])
    assert (hyper == 0.5).all()
    assert LEARNED[0].children[1].rate == (2.0, 2.0)


def test_column_given_others_is_the_conditional_normal():
    out = draws_given(KERNEL, RECORDS, 50).reshape(5, 10, 9)
    out[2, 3] = np.nan
    mean, sigma = out[..., :3], matrix_of(out)
    found = KERNEL.atoms_given("b", out, {"c": 0.5, "a": -1.0})
    assert np.isnan(found[2, 3]).all()
    keep, given = [0, 2], np.array([-1.0, 0.5])
    for c, d in ((0, 0), (4, 9)):
        s = sigma[c, d]
        slope = s[1, keep] @ np.linalg.inv(s[np.ix_(keep, keep)])
        assert found[c, d, 0] == pytest.approx(mean[c, d, 1] + slope @ (given - mean[c, d, keep]))
        assert found[c, d, 1] == pytest.approx(s[1, 1] - slope @ s[keep, 1])


def test_defaults_follow_the_bounds():
    kernel = MultivariateNormal.for_mechanism(VectorGaussian({"x": (0.0, 20.0), "y": (-40.0, 0.0)}, rho=1.0))
    assert (kernel.names, kernel.mean.tolist(), np.diag(kernel.scale).tolist()) == (
        ("x", "y"),
        [10.0, -20.0],
        [4.0, 16.0],
    )
    assert kernel.learns_scale
    assert MultivariateNormal.for_mechanism(Each(x=Identity((0, 20)), y=Identity((-40, 0)))) == kernel
    with pytest.raises(ValueError, match=r"bounds of the columns, and VectorGaussian does not have one for each"):
        MultivariateNormal.for_mechanism(VectorGaussian(scale=1.0))


def through_json(part):
    return part_from_dict(json.loads(json.dumps(part_to_dict(part))))


@pytest.mark.parametrize("again", [copy.deepcopy, lambda k: pickle.loads(pickle.dumps(k)), through_json])
def test_copies_are_equal(again):
    kernels = [KERNEL, DIAGONAL, SHARED, *LEARNED, MultivariateNormal()]
    for kernel in kernels:
        assert [again(kernel) == other for other in kernels].count(True) == 1
        assert hash(again(kernel)) == hash(kernel)
    assert MultivariateNormal(("a", "b", "d"), KERNEL.mean, 0.3, 6.0, SCALE) != KERNEL


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"names": ("x",)}, "needs at least two columns"),
        ({"names": ("x", "x")}, "two columns of one name"),
        ({"names": ("x", "mean")}, "'mean' cannot be the name of a column"),
        ({"names": 3}, "needs at least two columns"),
        ({"degrees": 1.0}, "degrees must be above 1 for 2 columns; got 1"),
        ({"precision_scale": -1.0}, "precision_scale must be positive"),
        ({"mean": [1.0, 2.0, 3.0]}, "mean must be a number or one for each of 2 columns"),
        ({"scale": [[1.0, 2.0], [2.0, 1.0]]}, "symmetric and positive definite"),
        ({"scale": [[1.0, 0.5], [0.0, 1.0]]}, "symmetric and positive definite"),
        ({"scale": -1.0}, "scale must be a positive number"),
        ({"covariance": "tied"}, "covariance must be one of 'full', 'diagonal', 'shared shape'; got 'tied'"),
        ({"covariance": "shared shape", "learns_scale": True}, "cannot be learned"),
        ({"scale": [[1.0, 0.5], [0.5, 1.0]], "covariance": "diagonal"}, "scale must be diagonal"),
        ({"learns_scale": 1}, "learns_scale must be True or False"),
    ],
)
def test_bad_arguments_say_what_to_do(arguments, message):
    with pytest.raises(ValueError, match=message):
        MultivariateNormal(**arguments)


def test_walks_need_a_covariance_without_fixed_entries():
    assert KERNEL.has("log_base")
    assert not DIAGONAL.has("log_base")
    steps = KERNEL.first_steps(RECORDS)
    assert steps[4] == pytest.approx(steps[0] + steps[1])
    assert steps[[3, 5, 8]].tolist() == [0.0, 0.0, 0.0]
    assert row_of(KERNEL, [0.0] * 3 + [1.0, 0.0, 1.0, 0.0, 0.0, 1.0])[-1] == 0.0
