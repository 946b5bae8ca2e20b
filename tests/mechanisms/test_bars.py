"""The release behind a density: shares of all records where they belong on the scale of y, or nothing."""

from dataclasses import dataclass

import numpy as np
import pytest

from privmix.mechanisms import HaarWavelet, Laplace, LocalMechanism, NoisyHistogram, RandomizedResponse, SquareWave


def test_released_cells_stand_where_the_cells_are_and_not_at_their_numbers():
    mechanism = RandomizedResponse(cells=4, epsilon=1.0, bounds=(100.0, 200.0))
    bars = mechanism.bars(np.array([0, 0, 0, 1, 3]), 100.0, 200.0)
    assert bars.edges == pytest.approx([100.0, 125.0, 150.0, 175.0, 200.0])
    assert bars.heights * 25.0 == pytest.approx([0.6, 0.2, 0.0, 0.2])
    assert bars.label == "released cells (noisy)"


def test_negative_counts_are_drawn_as_they_are():
    bars = NoisyHistogram(10, 2, epsilon=1.0, bounds=(0, 1)).bars(np.array([-2.0, 11.0]), 0.0, 1.0)
    assert bars.heights == pytest.approx([-0.4, 2.2])


@dataclass(frozen=True)
class Words(LocalMechanism):
    outputs = np.array([7.0, 9.0])


def test_rows_and_foreign_outputs_have_no_place():
    haar = HaarWavelet(levels=1, epsilon=1.0, bounds=(0, 1))
    assert haar.bars(np.zeros((5, 3)), 0.0, 1.0) is None
    assert Words().bars(np.array([7, 9, 9]), 0.0, 1.0) is None


@pytest.mark.parametrize("mechanism", [Laplace(epsilon=1.0, bounds=(0, 1)), SquareWave(epsilon=1.0, bounds=(0, 1))])
def test_numbers_are_shares_of_all_records(mechanism):
    bars = mechanism.bars(np.array([0.1, 0.2, 0.9, 5.0]), 0.0, 1.0)
    assert np.sum(bars.heights * np.diff(bars.edges)) == pytest.approx(0.75)
    assert bars.label == "release (noisy), 25% outside the plot"
