"""Rows of bits on counts of cells: the likelihood by sets of ones, the law of a record's cell, and planted bugs."""

import types

import numpy as np
import pytest
from scipy import stats

import privmix
from privmix import kernels, samplers
from privmix.mechanisms import UnaryEncoding
from privmix.model import PrivateMixture
from privmix.priors import DirichletProcess
from privmix.samplers.auto import serves
from privmix.samplers.binned import bits
from privmix.testing import Mutant, joint_test
from privmix.testing.twin import twin_gap

BOUNDS = (-6.0, 6.0)
MODEL = PrivateMixture(UnaryEncoding(4, epsilon=3.0, bounds=BOUNDS), kernels.Normal(), DirichletProcess((2.0, 1.0)))


def state_of(mechanism, z):
    """Return a state that has read some rows, each record in the first cell."""
    cells, n = mechanism.cells, len(z)
    state = types.SimpleNamespace(
        ones=np.zeros(n, np.int64),
        cell=np.zeros(n, np.int64),
        partial=np.zeros((-(-cells // bits.TABLE_BITS), bits.TABLE_SIZE)),
        node=np.array([np.expm1(mechanism.epsilon)]),
        counts=np.zeros(cells),
        size=np.zeros(1, np.int64),
        table=np.zeros((1, cells), np.int64),
        chance=np.random.default_rng(5).dirichlet(np.ones(cells)),
    )
    latent = types.SimpleNamespace(labels=np.zeros(n, np.int64), y=np.full(n, mechanism.bounds[0]))
    bits.seat_rows(
        types.SimpleNamespace(mechanism=mechanism), types.SimpleNamespace(z=mechanism.encode(z)), state, latent
    )
    return state


@pytest.mark.parametrize("probabilities", ["optimised", "symmetric"])
@pytest.mark.parametrize("cells", [3, 8, 9, 21, 62])
def test_likelihood_is_that_of_the_rows(cells, probabilities):
    mechanism = UnaryEncoding(cells, epsilon=1.7, bounds=BOUNDS, probabilities=probabilities)
    rng = np.random.default_rng(cells)
    z = mechanism.perturb(rng, rng.normal(size=400))
    z[0], z[1] = 0.0, 1.0  # rows that tell nothing
    state, other = state_of(mechanism, z), rng.dirichlet(np.ones(cells))
    q = np.exp(mechanism.encode(z))
    expected = np.log(q @ other).sum() - np.log(q @ state.chance).sum()
    found = bits.log_of_bits(state, other) - bits.log_of_bits(state, state.chance)
    assert found == pytest.approx(expected, abs=1e-9)


def test_likelihood_at_the_largest_budget_does_not_overflow():
    mechanism = UnaryEncoding(3, epsilon=bits.LARGEST_EPSILON, bounds=BOUNDS)
    state = state_of(mechanism, np.eye(3)[[0, 1, 2, 2] * 50])
    share = np.array([0.25, 0.25, 0.5])
    expected = 200 * bits.LARGEST_EPSILON + 200 * (share @ np.log(share))
    assert bits.log_of_bits(state, share) == pytest.approx(expected, rel=1e-9)


def test_a_probability_that_rounding_made_negative_counts_as_none():
    mechanism = UnaryEncoding(4, epsilon=150.0, bounds=BOUNDS, probabilities="symmetric")
    state = state_of(mechanism, np.eye(4)[[0, 1, 2] * 20])
    found = bits.log_of_bits(state, np.array([0.5, -1e-17, 0.5, 0.0]))
    assert found == pytest.approx(40 * (150.0 + np.log(0.5)), rel=1e-9)


def test_cells_are_drawn_by_their_probability_and_by_the_row():
    mechanism = UnaryEncoding(9, epsilon=1.5, bounds=BOUNDS)
    row = np.array([0, 1, 0, 0, 1, 0, 0, 0, 1.0])
    state, draws = state_of(mechanism, np.tile(row, (40_000, 1))), 40_000
    state.chance[2] = 0.0
    bits.redraw_cells(state, np.random.default_rng(1))
    assert np.array_equal(state.counts, np.bincount(state.cell, minlength=9))
    law = state.chance * np.exp(mechanism.encode(row[None]))[0]
    kept = law > 0.0
    assert state.counts[2] == 0.0
    assert stats.chisquare(state.counts[kept], draws * law[kept] / law.sum()).pvalue > 1e-3


def test_joint_law_is_unchanged():
    result = joint_test(MODEL, samplers.Binned())
    assert not result.rejected, str(result)


def test_plain_python_makes_the_same_draws():
    assert twin_gap(MODEL, samplers.Binned(), n=12) < 1e-9


BUGS = [
    Mutant(name, (edit,), MODEL, samplers.Binned())
    for name, edit in {
        "rows that say more than they do": (bits.log_of_bits, "1.0 + more", "0.2 + more"),
        "cells drawn without the rows": (bits.redraw_cells, "(whole + inside)", "whole"),
        "cells drawn from the rows alone": (bits.cell_at, "ones\n", "ones & 7\n"),
    }.items()
]


@pytest.mark.parametrize(
    "bug", [BUGS[1], *[pytest.param(b, marks=pytest.mark.long) for b in BUGS[::2]]], ids=lambda bug: bug.name
)
def test_planted_bugs_are_rejected(bug):
    result = joint_test(bug.model, bug.sampler, replacements=bug.replacements())
    assert result.rejected, str(result)


def test_many_rows_mix_where_records_would_not():
    rng = np.random.default_rng(2)
    mechanism = UnaryEncoding(10, epsilon=2.0, bounds=BOUNDS)
    z = mechanism.privatize(rng.normal(-1.0, 1.0, 2000), seed=3)
    fit = privmix.fit(z, mechanism, chains=2, draws=150, warmup=300, thin=2, seed=1)
    assert fit.sampler == samplers.Binned()
    grid = np.linspace(*BOUNDS, 61)
    error = np.abs(fit.density(grid)["mean"].values - stats.norm(-1.0, 1.0).pdf(grid)).mean() * 12.0
    assert error < 0.25
    labels = fit.datatree["posterior"].get("allocation")
    assert labels is None or labels.sizes["record"] == 2000


def test_what_has_no_sets_of_cells_is_left_to_others():
    for mechanism in (
        UnaryEncoding(63, epsilon=1.0, bounds=BOUNDS),
        UnaryEncoding(4, epsilon=bits.LARGEST_EPSILON + 1.0, bounds=BOUNDS),
        UnaryEncoding(categories=("a", "b", "c"), epsilon=1.0),
    ):
        model = privmix.default_model(mechanism)
        assert not serves(samplers.Binned(), model)
        assert serves(samplers.Slice(), model)
        with pytest.raises(ValueError, match=r"at most 62 cells of numbers, ε ≤ 200 and a kernel with cdf"):
            samplers.Binned().check(model)
    with pytest.raises(ValueError, match=r"noise was added to the counts, or to the bits of each record. Use Binned"):
        samplers.Lifted().check(MODEL)
