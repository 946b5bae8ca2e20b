"""The kernel of named categories, and products of kernels."""

import copy
import json
import pickle

import numpy as np
import pytest
from scipy import stats

from kernels.examples import draws_of, row_of
from kernels.test_contract import update_pvalues
from privmix.kernels import Categorical, HierarchicalNormal, Normal, Product, TruncatedNormal
from privmix.parts import part_from_dict, part_to_dict

KERNEL = Categorical(("a", "b", "c"), weight=(0.5, 1.0, 3.0))
SHARES = (0.2, 0.5, 0.3)


def test_draws_follow_the_shares():
    y = draws_of(KERNEL, SHARES)
    assert stats.chisquare(np.bincount(y.astype(int)), len(y) * np.array(SHARES)).pvalue > 1e-6
    assert KERNEL.logpdf([0.0, 1.0, 2.0], SHARES) == pytest.approx(np.log(SHARES), rel=1e-14)
    assert np.isneginf(KERNEL.logpdf([-1.0, 0.5, 3.0], SHARES)).all()
    assert KERNEL.log_f(1.0, row_of(KERNEL, SHARES)) == pytest.approx(np.log(0.5))


def test_base_measure_is_the_dirichlet_law():
    rng, rows = np.random.default_rng(1), np.zeros((20_000, 6))
    for row in rows:
        KERNEL.base(rng, row)
    for j, weight in enumerate(KERNEL.weights):
        assert stats.kstest(rows[:, j], stats.beta(weight, 4.5 - weight).cdf).pvalue > 1e-6
    assert rows[:, :3].sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("records", [0, 5])
def test_update_leaves_the_joint_law_unchanged(records):
    assert min(update_pvalues(KERNEL, records)) > 1e-6


def test_small_weights_keep_finite_logarithms():
    kernel, row = Categorical(("a", "b"), weight=1e-4), np.zeros(4)
    for seed in range(50):
        kernel.base(np.random.default_rng(seed), row)
        kernel.prepare(row)
        assert np.isfinite(row).all()
        assert row[:2].sum() == pytest.approx(1.0)


def test_names_of_parameters():
    assert KERNEL.parameters == ("share_a", "share_b", "share_c")
    assert Categorical(("N/A", "a b")).parameters == ("share_N_A", "share_a_b")
    assert Categorical(("a b", "a-b")).parameters == ("share_a_b_0", "share_a_b_1")


@pytest.mark.parametrize("weight", [0.0, -1.0, "x", (1.0, 2.0), [[1.0, 1.0, 1.0]]])
def test_bad_weights(weight):
    with pytest.raises(ValueError, match="weight"):
        Categorical(("a", "b", "c"), weight=weight)


PRODUCT = Product(a=HierarchicalNormal((0.0, 1.0)), b=KERNEL, c=Normal(mean=(0.0, 1.0)))


def test_a_product_has_the_numbers_of_its_columns_side_by_side():
    assert PRODUCT.parameters == ("a_mean", "a_variance", "b_share_a", "b_share_b", "b_share_c", "c_mean", "c_variance")
    assert PRODUCT.hyperparameters == ("a_location", "a_spread", "a_rate", "c_mean")
    assert PRODUCT.dimension == 3
    assert PRODUCT.columns == 7 + 5 + 6 + 5
    assert [(p.parameters.start, p.block.start, p.hyper.start) for p in PRODUCT.places] == [
        (0, 7, 0),
        (2, 12, 3),
        (5, 18, 3),
    ]
    assert PRODUCT.only(["b"]) == KERNEL
    assert PRODUCT.only(["c", "a"]).names == ("c", "a")
    assert not PRODUCT.has("log_base")
    assert Product(a=Normal(), b=Normal()).has("log_base")


def test_density_of_a_product_is_the_product_of_densities():
    theta = [0.5, 0.1, *SHARES, 1.0, 2.0]
    y = np.array([[0.2, 1.0, 0.0], [0.9, 2.0, 3.0]])
    wanted = (
        PRODUCT.children[0].logpdf(y[:, 0], theta[:2])
        + KERNEL.logpdf(y[:, 1], SHARES)
        + PRODUCT.children[2].logpdf(y[:, 2], theta[5:])
    )
    assert PRODUCT.logpdf(y, theta) == pytest.approx(wanted, rel=1e-13)


def through_json(part):
    return part_from_dict(json.loads(json.dumps(part_to_dict(part))))


@pytest.mark.parametrize("kernel", [KERNEL, PRODUCT], ids=repr)
@pytest.mark.parametrize("again", [copy.deepcopy, lambda k: pickle.loads(pickle.dumps(k)), through_json])
def test_copies_are_equal(kernel, again):
    assert again(kernel) == kernel
    assert hash(again(kernel)) == hash(kernel)
    assert Categorical(("a", "b", "c")) != KERNEL
    assert Product(a=Normal(), b=KERNEL) != Product(b=KERNEL, a=Normal())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Product(a=Normal()), "Product needs at least two columns"),
        (
            lambda: Product(a=Normal(), b=PRODUCT),
            "column 'b' has records of 3 numbers (Product); a column is one number",
        ),
        (lambda: Product(a=Normal(), reports=Normal()), "'reports' cannot be the name of a column"),
    ],
)
def test_what_makes_no_product(make, message):
    with pytest.raises(ValueError) as caught:
        make()
    assert message in str(caught.value)


def test_what_is_no_kernel():
    with pytest.raises(TypeError, match=r"column 'b' needs a Kernel; got .*Did you mean TruncatedNormal\(…\)\?"):
        Product(a=Normal(), b=TruncatedNormal)
