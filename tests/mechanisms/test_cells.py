"""Mechanisms that are piecewise constant in y: randomized response, square wave, and the cells of all three."""

import copy
import json
import math
import pickle
import re

import numpy as np
import pytest
from scipy import stats

from numerics.quadrature import ALPHA
from privmix import PrivateMixture, kernels, samplers
from privmix.jit import bind, slot
from privmix.mechanisms import HaarWavelet, RandomizedResponse, SquareWave, Staircase, SubsetSelection, UnaryEncoding
from privmix.mechanisms.slots import log_q
from privmix.parts import part_from_dict, part_to_dict
from privmix.privacy import audit
from privmix.testing import joint_test

BOUNDS = (-3.0, 5.0)
EPSILONS = [0.1, 1.0, 5.0, 50.0]
RESPONSES = [
    RandomizedResponse(cells=2, epsilon=1.0, bounds=(0.0, 1.0)),
    RandomizedResponse(cells=7, epsilon=0.1, bounds=BOUNDS),
    RandomizedResponse(cells=5, truth=0.6, bounds=BOUNDS),
]
WAVES = [
    SquareWave(epsilon=1.0, bounds=(0.0, 1.0)),
    SquareWave(epsilon=0.1, bounds=BOUNDS),
    SquareWave(epsilon=5.0, bounds=BOUNDS),
    SquareWave(epsilon=2.0, bounds=BOUNDS, half_width=0.05),
    SquareWave(epsilon=2.0, bounds=BOUNDS, half_width=1.5),
]
HAARS = [HaarWavelet(epsilon=1.0), HaarWavelet(levels=1, epsilon=4.0, bounds=BOUNDS)]
STAGGERED = [
    RandomizedResponse(cells=2, epsilon=1.0, bounds=(0.0, 1.0), staggered=True),
    RandomizedResponse(cells=7, epsilon=3.0, bounds=BOUNDS, staggered=True),
]
SUBSETS = [
    SubsetSelection(cells=13, epsilon=1.0, bounds=BOUNDS),
    SubsetSelection(cells=7, epsilon=0.1, bounds=BOUNDS, staggered=True),
    SubsetSelection(cells=6, epsilon=1.0, bounds=(0.0, 1.0), staggered=True),
    SubsetSelection(cells=7, epsilon=1.0, bounds=BOUNDS, size=4),
]
FEW = [*RESPONSES, *STAGGERED, *SUBSETS]
STAIRS = [
    Staircase(epsilon=1.0, bounds=(0.0, 1.0)),
    Staircase(epsilon=0.2, bounds=BOUNDS),
    Staircase(epsilon=5.0, bounds=BOUNDS),
    Staircase(epsilon=2.0, bounds=BOUNDS, gamma=0.7),
    Staircase(epsilon=2.0, bounds=BOUNDS, gamma=1.0),
]
BITS = [
    UnaryEncoding(cells=5, epsilon=2.0, bounds=BOUNDS),
    UnaryEncoding(cells=6, epsilon=1.0, bounds=(0.0, 1.0), probabilities="symmetric"),
]
EVERY = [*FEW, *WAVES, *HAARS, *STAIRS, *BITS]


def outside(mechanism, n, seed=1):
    """Return values of y in the bounds and as far outside them again, the bounds among them."""
    lower, upper = mechanism.bounds
    width = upper - lower
    return np.append(np.random.default_rng(seed).uniform(lower - width, upper + width, n), [lower, upper])


# Cells


@slot
def count(mechanism, z):
    """Number of cells."""


@slot
def edge(mechanism, z, j):
    """Left edge of cell j."""


@slot
def value(mechanism, z, j):
    """Log q on cell j."""


def fill_cells(mechanism, z, edges, values):
    """Write the inner edges and the values of the cells; return their number (compiled)."""
    n = count(mechanism, z)
    for j in range(n):
        values[j] = value(mechanism, z, j)
        if j > 0:
            edges[j - 1] = edge(mechanism, z, j)
    return n


def cells_of(mechanism, z, compiled=True):
    """Return the inner edges and the values of the cells of one encoded record."""
    kind = type(mechanism)
    run = bind(
        fill_cells,
        {count: kind.cell_count, edge: kind.cell_edge, value: kind.cell_log_q},
        compiled=compiled,
        owner="cells",
    )
    edges, values = np.full(64, np.nan), np.full(64, np.nan)
    n = run(mechanism.numbers(), z, edges, values)
    return edges[: n - 1], values[:n]


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
def test_log_q_is_that_of_the_cell(mechanism):
    y = outside(mechanism, 300)
    for z in mechanism.perturb(np.random.default_rng(2), outside(mechanism, 40)):
        edges, values = cells_of(mechanism, mechanism.encode(z[None])[0])
        assert (np.diff(edges) > 0.0).all()
        assert ((edges >= mechanism.bounds[0]) & (edges <= mechanism.bounds[1])).all()
        assert np.array_equal(mechanism.logpdf(z, y), values[np.searchsorted(edges, y, side="right")])


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
def test_both_sides_of_an_edge_lie_in_its_two_cells(mechanism):
    """On the edge itself rounding may decide, and no law gives it mass."""
    for z in mechanism.perturb(np.random.default_rng(3), outside(mechanism, 10)):
        edges, values = cells_of(mechanism, mechanism.encode(z[None])[0])
        step = 1e-12 * (mechanism.bounds[1] - mechanism.bounds[0])
        assert np.array_equal(mechanism.logpdf(z, edges - step), values[:-1])
        assert np.array_equal(mechanism.logpdf(z, edges + step), values[1:])


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
def test_hooks_in_python_equal_the_compiled_ones(mechanism):
    for z in mechanism.encode(mechanism.perturb(np.random.default_rng(4), outside(mechanism, 10))):
        for one, other in zip(cells_of(mechanism, z), cells_of(mechanism, z, compiled=False), strict=True):
            assert np.array_equal(one, other)
        edges, values = cells_of(mechanism, z)
        assert mechanism.cell_count(z) == len(values)
        assert [mechanism.cell_edge(z, j) for j in range(1, len(values))] == edges.tolist()
        assert [mechanism.cell_log_q(z, j) for j in range(len(values))] == values.tolist()


def test_square_wave_drops_edges_outside_the_bounds():
    wave = SquareWave(epsilon=1.0, bounds=(0.0, 1.0), half_width=0.25)
    high, low = wave.log_high, wave.log_low
    expected = {
        -0.25: ([0.0], [high, low]),  # of y in the bounds the lower one alone, and all that counts as it
        0.0: ([0.25], [high, low]),
        0.25: ([0.5], [high, low]),  # the left edge is the lower bound
        0.5: ([0.25, 0.75], [low, high, low]),
        0.75: ([0.5], [low, high]),
        1.0: ([0.75], [low, high]),
        1.25: ([1.0], [low, high]),
    }
    for z, (edges, values) in expected.items():
        found = cells_of(wave, z)
        assert (found[0].tolist(), found[1].tolist()) == (edges, values)
    below, above = np.array([-9.0, -1e300, 0.0]), np.array([9.0, 1e300, 1.0])
    for z, (_, values) in expected.items():
        assert (wave.logpdf(z, below) == values[0]).all()
        assert (wave.logpdf(z, above) == values[-1]).all()


@pytest.mark.parametrize("z", [-0.5, 0.0, 0.3, 1.0, 1.5])
def test_wave_that_covers_the_bounds_is_one_cell(z):
    wave = SquareWave(epsilon=1.0, bounds=(0.0, 1.0), half_width=1.5)
    assert cells_of(wave, z)[1].tolist() == [wave.log_high]
    assert wave.logpdf(z, [-9.0, 0.0, 0.5, 1.0, 9.0]).tolist() == [wave.log_high] * 5


@pytest.mark.parametrize("mechanism", [*FEW, *HAARS], ids=repr)
def test_far_values_count_as_the_nearest_bound(mechanism):
    """1e19 cells do not fit into an integer of 64 bits."""
    lower, upper = mechanism.bounds
    far = np.array([1e6, 1e19, 1e300])
    z = mechanism.privatize(np.full(3, lower), seed=1)
    assert np.array_equal(mechanism.logpdf(z, far), mechanism.logpdf(z, upper))
    assert np.array_equal(mechanism.logpdf(z, -far), mechanism.logpdf(z, lower))
    for y, bound in [(far, upper), (-far, lower)]:
        drawn = mechanism.perturb(np.random.default_rng(1), y)
        assert np.array_equal(drawn, mechanism.perturb(np.random.default_rng(1), np.full(3, bound)))


# Privacy


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cells", [2, 5, 16])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), BOUNDS])
def test_randomized_response_keeps_its_claim(cells, epsilon, bounds):
    mechanism = RandomizedResponse(cells=cells, epsilon=epsilon, bounds=bounds)
    for outputs in (np.arange(cells), None):
        found = audit(mechanism, outputs=outputs)
        assert found.claimed == epsilon
        assert found.worst == pytest.approx(epsilon, abs=1e-9)
        assert found.holds
        assert found.tight


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("half_width", [None, 0.01, 2.0])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), BOUNDS])
def test_square_wave_keeps_its_claim(half_width, epsilon, bounds):
    mechanism = SquareWave(epsilon=epsilon, bounds=bounds, half_width=half_width)
    ends = bounds[0] - mechanism.reach, bounds[1] + mechanism.reach
    for outputs in (np.concatenate([np.linspace(*ends, 500), np.linspace(*bounds, 257)]), None):
        found = audit(mechanism, outputs=outputs)
        assert found.claimed == epsilon
        assert found.worst == pytest.approx(epsilon, abs=1e-9)
        assert found.holds
        assert found.tight


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("kind", "cells"), [(RandomizedResponse, 5), (SubsetSelection, 13), (SubsetSelection, 7)])
@pytest.mark.parametrize("staggered", [False, True])
def test_every_output_keeps_the_claim(kind, cells, epsilon, staggered):
    mechanism = kind(cells=cells, epsilon=epsilon, bounds=BOUNDS, staggered=staggered)
    found = audit(mechanism, outputs=mechanism.outputs)
    assert found.claimed == epsilon
    assert found.worst == pytest.approx(epsilon, abs=1e-9)
    table = np.exp(mechanism.logpdf(mechanism.outputs[:, None], outside(mechanism, 50)))
    assert table.sum(axis=0) == pytest.approx(np.ones(52), abs=1e-13)
    others = [-1.0, 0.5, len(mechanism.outputs), 1e19, math.inf, -math.inf]
    assert (mechanism.logpdf(others, 0.0) == -math.inf).all()
    assert np.isnan(mechanism.logpdf(math.nan, 0.0))


@pytest.mark.parametrize("truth", [0.21, 0.5, 0.999999])
def test_given_truth_has_the_epsilon_of_its_ratio(truth):
    mechanism = RandomizedResponse(cells=5, truth=truth, bounds=BOUNDS)
    assert mechanism.guarantee.epsilon == pytest.approx(math.log(truth * 4.0 / (1.0 - truth)), rel=1e-12)
    assert np.exp(mechanism.logpdf(0.0, BOUNDS)) == pytest.approx([truth, (1.0 - truth) / 4.0], rel=1e-9)
    assert audit(mechanism, outputs=np.arange(5)).worst == pytest.approx(mechanism.guarantee.epsilon, abs=1e-12)


# Laws


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cells", [2, 5, 16])
def test_probabilities_sum_to_one(cells, epsilon):
    mechanism = RandomizedResponse(cells=cells, epsilon=epsilon, bounds=BOUNDS)
    table = np.exp(mechanism.logpdf(np.arange(cells)[:, None], outside(mechanism, 50)))
    assert table.sum(axis=0) == pytest.approx(np.ones(52), abs=1e-14)
    others = [-1.0, 0.5, cells - 0.999, cells, 1e19, math.inf, -math.inf]
    assert (mechanism.logpdf(others, 0.0) == -math.inf).all()
    assert np.isnan(mechanism.logpdf(math.nan, 0.0))


@pytest.mark.parametrize("mechanism", [*WAVES, SquareWave(epsilon=50.0, bounds=BOUNDS)], ids=repr)
def test_density_integrates_to_one(mechanism):
    """The density is constant between the ends of the range and the edges of the wave: middles integrate exactly."""
    lower, upper = mechanism.bounds
    reach = mechanism.reach
    for y in outside(mechanism, 20):
        inside = min(max(y, lower), upper)
        edges = [lower - reach, inside - reach, inside + reach, upper + reach]
        middles = np.array([0.5 * (edges[0] + edges[1]), inside, 0.5 * (edges[2] + edges[3])])
        # The length of the wave is not the difference of its edges, which at ε = 50 is rounded to 0.
        lengths = np.array([inside - lower, 2.0 * reach, upper - inside])
        density = np.exp(mechanism.logpdf(middles, y))
        assert (density * lengths).sum() == pytest.approx(1.0, abs=1e-12)
        beyond = np.array([lower - reach - 1e-6, upper + reach + 1e-6, math.inf, -math.inf])
        assert (mechanism.logpdf(beyond, y) == -math.inf).all()
    assert np.isnan(mechanism.logpdf(math.nan, 0.0))


@pytest.mark.parametrize("mechanism", FEW, ids=repr)
def test_responses_follow_their_probabilities(mechanism):
    n = 40_000
    for seed, y in enumerate(outside(mechanism, 6)):
        z = mechanism.perturb(np.random.default_rng(seed), np.full(n, y))
        expected = n * np.exp(mechanism.logpdf(mechanism.outputs, y))
        assert stats.chisquare(np.bincount(z.astype(int), minlength=len(expected)), expected).pvalue > ALPHA


@pytest.mark.parametrize("mechanism", WAVES, ids=repr)
def test_waves_follow_their_density(mechanism):
    lower, upper = mechanism.bounds
    reach = mechanism.reach
    for seed, y in enumerate(outside(mechanism, 6)):
        z = mechanism.perturb(np.random.default_rng(seed), np.full(20_000, y))
        inside = min(max(y, lower), upper)
        edges = np.array([lower - reach, inside - reach, inside + reach, upper + reach])
        density = np.exp(mechanism.logpdf(0.5 * (edges[1:] + edges[:-1]), y))
        masses = np.append(0.0, np.cumsum(np.diff(edges) * density))
        assert stats.kstest(z, lambda x, e=edges, m=masses: np.interp(x, e, m)).pvalue > ALPHA
        assert np.array_equal(mechanism.check_release(z), z)


def test_chain_starts_in_the_middle_of_the_released_cell():
    mechanism = RandomizedResponse(cells=4, epsilon=1.0, bounds=BOUNDS)
    assert mechanism.initial(np.arange(4.0)).tolist() == [-2.0, 0.0, 2.0, 4.0]
    wave = SquareWave(epsilon=1.0, bounds=BOUNDS)
    assert wave.initial(np.array([-4.0, 0.5, 6.0])).tolist() == [-3.0, 0.5, 5.0]


def test_staggered_grids_are_shifted_by_half_a_cell():
    """Both have k cells: the last of one is cut in half by the upper bound, the first of the other by the lower."""
    mechanism = RandomizedResponse(cells=4, epsilon=1.0, bounds=(0.0, 7.0), staggered=True)
    edges = np.array([[cells_of(mechanism, float(z))[0][0] for z in range(4 * g, 4 * g + 3)] for g in (0, 1)])
    assert edges == pytest.approx(np.array([[2.0, 2.0, 4.0], [1.0, 1.0, 3.0]]))
    assert mechanism.initial(np.arange(8.0)).tolist() == [1.0, 3.0, 5.0, 7.0, 0.0, 2.0, 4.0, 6.0]
    z = mechanism.privatize(np.full(1000, 1.5), seed=1)
    assert 400 < np.count_nonzero(z >= 4.0) < 600


def test_bars_of_staggered_cells_have_area_one():
    for mechanism in [*STAGGERED, *SUBSETS]:
        z = mechanism.privatize(np.linspace(*mechanism.bounds, 500), seed=1)
        bars = mechanism.bars(z, *mechanism.bounds)
        assert np.sum(bars.heights * np.diff(bars.edges)) == pytest.approx(1.0)
        assert len(bars.heights) == mechanism.cells * mechanism.grids - mechanism.grids + 1


def test_wave_at_extreme_budgets():
    tiny = SquareWave(epsilon=1e-12, bounds=(0.0, 1.0))
    assert tiny.half_width == pytest.approx(0.5, rel=1e-11)
    assert np.exp(tiny.logpdf([0.0, 1.0], 0.0)) == pytest.approx([0.5, 0.5], rel=1e-11)
    huge = SquareWave(epsilon=700.0, bounds=(0.0, 1.0))
    assert huge.logpdf(0.5, 0.5) - huge.logpdf(0.5, 0.6) == pytest.approx(700.0, rel=1e-14)
    z = huge.privatize(np.full(1000, 0.5), seed=1)
    assert np.mean(z == 0.5) > 0.98


# Copies and refusals


@pytest.mark.parametrize(
    "mechanism",
    [
        *RESPONSES,
        *WAVES,
        RandomizedResponse(cells=3, epsilon=50.0, bounds=BOUNDS),
        SquareWave(epsilon=700.0, bounds=BOUNDS),
    ],
    ids=repr,
)
def test_copies_are_equal(mechanism):
    through_json = part_from_dict(json.loads(json.dumps(part_to_dict(mechanism))))
    for other in (copy.deepcopy(mechanism), pickle.loads(pickle.dumps(mechanism)), through_json):
        assert other == mechanism
        assert hash(other) == hash(mechanism)
        assert other.numbers() == mechanism.numbers()
        assert other.guarantee == mechanism.guarantee


def test_numbers_of_numpy_and_whole_budgets_are_equal_to_floats():
    one = RandomizedResponse(cells=np.int64(4), epsilon=1, bounds=[0, 1])
    other = RandomizedResponse(cells=4, epsilon=1.0, bounds=(0.0, 1.0))
    assert one == other
    assert hash(one) == hash(other)
    assert SquareWave(epsilon=1, bounds=[0, 1]) == SquareWave(epsilon=1.0, bounds=(0.0, 1.0))
    assert RandomizedResponse(cells=4, truth=0.5, bounds=BOUNDS) != RandomizedResponse(
        cells=5, truth=0.5, bounds=BOUNDS
    )


WHOLE = "RandomizedResponse: cells must be a whole number of at least 2; got {}."
POSITIVE = "The noise was to be calibrated with {}, but needs {} > 0 and finite. Give a positive number."
RANGE = (
    "Randomized response with 4 cells was given truth={}, but needs 1/4 < truth < 1: at 1/4 nothing is released, "
    "at 1 nothing is promised."
)
NEEDS_BOUNDS = (
    "{} needs bounds=(lower, upper), the range that a record can take: noise is scaled to it. They must be known "
    "without looking at the data."
)
DISAGREE = "RandomizedResponse takes one of epsilon= or truth=; the given epsilon and truth disagree."
UNIT = {"bounds": (0.0, 1.0)}
REFUSED = [
    (RandomizedResponse, {"cells": 1, "epsilon": 1.0, **UNIT}, WHOLE.format("1")),
    (RandomizedResponse, {"cells": 2.5, "epsilon": 1.0, **UNIT}, WHOLE.format("2.5")),
    (RandomizedResponse, {"cells": True, "epsilon": 1.0, **UNIT}, WHOLE.format("True")),
    (RandomizedResponse, {"cells": None, "epsilon": 1.0, **UNIT}, WHOLE.format("None")),
    (RandomizedResponse, {"cells": 4, "epsilon": 0.0, **UNIT}, POSITIVE.format("epsilon=0.0", "epsilon")),
    (RandomizedResponse, {"cells": 4, "epsilon": "x", **UNIT}, POSITIVE.format("epsilon='x'", "epsilon")),
    (RandomizedResponse, {"cells": 4, "truth": "x", **UNIT}, POSITIVE.format("truth='x'", "truth")),
    (RandomizedResponse, {"cells": 4, "truth": 0.25, **UNIT}, RANGE.format("0.25")),
    (RandomizedResponse, {"cells": 4, "truth": 1.0, **UNIT}, RANGE.format("1.0")),
    (RandomizedResponse, {"cells": 4, "truth": 0.5, "epsilon": 5.0, **UNIT}, DISAGREE),
    (RandomizedResponse, {"cells": 4, "truth": "x", "epsilon": 5.0, **UNIT}, DISAGREE),
    (
        RandomizedResponse,
        {"cells": 4, **UNIT},
        "RandomizedResponse takes exactly one of epsilon=, truth= to set its noise; got none.",
    ),
    (RandomizedResponse, {"cells": 4, "epsilon": 1.0}, NEEDS_BOUNDS.format("RandomizedResponse")),
    (
        RandomizedResponse,
        {"cells": 4, "epsilon": 1.0, "staggered": 1, **UNIT},
        "RandomizedResponse: staggered must be True or False; got 1.",
    ),
    (
        RandomizedResponse,
        {"cells": 4, "epsilon": 1.0, "rho": 1.0, **UNIT},
        "RandomizedResponse takes one of epsilon= or rho=; the given epsilon and rho disagree.",
    ),
    (SquareWave, {"epsilon": 1.0}, NEEDS_BOUNDS.format("SquareWave")),
    (SquareWave, {**UNIT}, "SquareWave needs epsilon=, the ratio of its two densities being e^ε; got none."),
    (SquareWave, {"epsilon": -1.0, **UNIT}, POSITIVE.format("epsilon=-1.0", "epsilon")),
    (SquareWave, {"epsilon": 1.0, "half_width": 0.0, **UNIT}, POSITIVE.format("half_width=0.0", "half_width")),
    (
        SquareWave,
        {"epsilon": 701.0, **UNIT},
        "The square wave was given epsilon=701.0, but needs epsilon <= 700: beyond, its width is below the smallest "
        "float. Such a release is the data themselves; use a smaller epsilon.",
    ),
    (SquareWave, {"epsilon": 1.0, "bounds": (1.0, 0.0)}, "bounds must be finite with lower < upper; got (1, 0)."),
    (
        SquareWave,
        {"epsilon": [1.0, 2.0], **UNIT},
        "The noise was to be calibrated with epsilon=[1.0, 2.0], but needs one number for all records.",
    ),
]


@pytest.mark.parametrize(("kind", "arguments", "message"), REFUSED)
def test_bad_arguments(kind, arguments, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        kind(**arguments)


@pytest.mark.parametrize("bad", [-1.0, 0.5, 4.0, 1e19])
def test_release_of_randomized_response_is_whole_and_in_range(bad):
    mechanism = RandomizedResponse(cells=4, epsilon=1.0, bounds=BOUNDS)
    assert mechanism.check_release([0, 3]).tolist() == [0.0, 3.0]
    message = f"releases whole numbers from 0 to 3; the release z has 1 other values, the first {bad:g}."
    with pytest.raises(ValueError, match=re.escape(message)):
        mechanism.check_release([0.0, bad, 3.0])


@pytest.mark.parametrize("bad", [-3.1, 5.1])
def test_release_of_square_wave_is_in_range(bad):
    mechanism = SquareWave(epsilon=1.0, bounds=BOUNDS, half_width=0.01)
    rounded = np.array([-3.08 - 1e-10, 5.08 + 1e-10])
    assert np.array_equal(mechanism.check_release(rounded), rounded)
    assert np.isfinite(mechanism.logpdf(rounded, 0.0)).all()
    message = f"SquareWave releases numbers from -3.08 to 5.08; the release z has 1 other values, the first {bad:g}."
    with pytest.raises(ValueError, match=re.escape(message)):
        mechanism.check_release([0.0, bad])


# In a model


def truth_taken_for_less(self, z, y):
    """The log probability of randomized response whose truth is taken for less than it is."""
    cell = z % self.cells
    width = (self.bounds[1] - self.bounds[0]) / (self.cells - 0.5)
    left = self.bounds[0] + width * (cell if z < self.cells else cell - 0.5)
    inside = (cell == 0.0 or y >= left) and (cell == self.cells - 1 or y < left + width)
    return self.log_truth - math.log(2.0) if inside else self.log_lie


def wave_too_low(self, z, y):
    """The log density of a square wave whose height is taken for less than it is."""
    inside = min(max(y, self.bounds[0]), self.bounds[1])
    return self.log_high - math.log(2.0) if abs(z - inside) <= self.reach else self.log_low


@pytest.mark.parametrize(
    ("mechanism", "wrong"),
    [
        (RandomizedResponse(cells=8, epsilon=4.0, bounds=(-10.0, 10.0), staggered=True), truth_taken_for_less),
        pytest.param(SquareWave(epsilon=4.0, bounds=(-10.0, 10.0)), wave_too_low, marks=pytest.mark.long),
    ],
    ids=["RandomizedResponse", "SquareWave"],
)
def test_joint_law_is_kept_and_a_wrong_density_is_seen(mechanism, wrong):
    model = PrivateMixture(mechanism, kernels.Normal())
    kept = joint_test(model, samplers.Neal5())
    assert not kept.rejected, str(kept)
    planted = joint_test(model, samplers.Neal5(), replacements={log_q: wrong})
    assert planted.rejected, str(planted)


@pytest.mark.parametrize("mechanism", [*RESPONSES, *WAVES[:4]], ids=repr)
def test_resolution_is_about_the_width_of_what_is_likely(mechanism):
    """Exact for responses; a wave counts the whole of the bounds for its rest, which is at most its own width more."""
    lower, upper = mechanism.bounds
    y = lower + (upper - lower) * (np.arange(20_000) + 0.5) / 20_000
    z = mechanism.cells // 2 if isinstance(mechanism, RandomizedResponse) else 0.5 * (lower + upper)
    density = np.exp(mechanism.logpdf(np.full(len(y), float(z)), y))
    width = (upper - lower) * density.mean() / density.max() / math.sqrt(12.0)
    spare = (
        0.0 if isinstance(mechanism, RandomizedResponse) else 2.0 * mechanism.half_width * math.exp(-mechanism.epsilon)
    )
    assert mechanism.resolution() == pytest.approx(width + spare * (upper - lower) / math.sqrt(12.0), rel=1e-3)
