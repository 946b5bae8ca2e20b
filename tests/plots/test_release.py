"""The release behind a density: shares of all records where they belong on the scale of y, or nothing."""

from types import SimpleNamespace

import numpy as np
import pytest

from privmix.mechanisms import HaarWavelet, Laplace, NoisyHistogram, RandomizedResponse, SquareWave
from privmix.plots.release import release_bars


def fitted(mechanism, z):
    z = np.asarray(z, dtype=float)
    return SimpleNamespace(model=SimpleNamespace(mechanism=mechanism), datatree={"observed_data": {"z": z}})


def test_released_cells_stand_where_the_cells_are_and_not_at_their_numbers():
    mechanism = RandomizedResponse(cells=4, epsilon=1.0, bounds=(100.0, 200.0))
    bars = release_bars(fitted(mechanism, [0, 0, 0, 1, 3]), 100.0, 200.0)
    assert bars.edges == pytest.approx([100.0, 125.0, 150.0, 175.0, 200.0])
    assert bars.heights * 25.0 == pytest.approx([0.6, 0.2, 0.0, 0.2])
    assert bars.label == "released cells (noisy)"


def test_negative_counts_are_drawn_as_they_are():
    bars = release_bars(fitted(NoisyHistogram(10, 2, epsilon=1.0, bounds=(0, 1)), [-2.0, 11.0]), 0.0, 1.0)
    assert bars.heights == pytest.approx([-0.4, 2.2])


def test_rows_and_foreign_outputs_have_no_place():
    haar = HaarWavelet(levels=1, epsilon=1.0, bounds=(0, 1))
    assert release_bars(fitted(haar, np.zeros((5, 3))), 0.0, 1.0) is None
    words = SimpleNamespace(outputs=np.array([7.0, 9.0]), reveals=False)
    assert release_bars(fitted(words, [7, 9, 9]), 0.0, 1.0) is None


@pytest.mark.parametrize("mechanism", [Laplace(epsilon=1.0, bounds=(0, 1)), SquareWave(epsilon=1.0, bounds=(0, 1))])
def test_numbers_are_shares_of_all_records(mechanism):
    bars = release_bars(fitted(mechanism, [0.1, 0.2, 0.9, 5.0]), 0.0, 1.0)
    assert np.sum(bars.heights * np.diff(bars.edges)) == pytest.approx(0.75)
    assert bars.label == "release (noisy), 25% outside the plot"
