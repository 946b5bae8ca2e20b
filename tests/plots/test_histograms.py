"""Pictures of releases that were made of all records at once."""

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from privmix.mechanisms import NoisyHistogram, SmoothedHistogram
from privmix.plots.density import describe_release, draw_release


def fitted(mechanism, z):
    """Return what the pictures read of a posterior."""
    z = np.asarray(z, dtype=float)
    tree = {"observed_data": {"z": z}}
    return SimpleNamespace(
        model=SimpleNamespace(mechanism=mechanism), datatree=tree, records=mechanism.count_records(z)
    )


def test_noisy_counts_are_drawn_as_shares_in_their_own_bins():
    posterior = fitted(NoisyHistogram(10, [0.0, 1.0, 4.0], epsilon=1.0), [4.0, 6.6])
    axes = Figure().subplots()
    assert draw_release(axes, posterior, np.linspace(0.0, 4.0, 9)) == (0.0, pytest.approx(0.4))
    (stairs,) = axes.patches
    assert stairs.get_data().values == pytest.approx([0.4, 0.22])
    assert stairs.get_data().edges == pytest.approx([0.0, 1.0, 4.0])


def test_synthetic_draws_are_drawn_as_records_are():
    posterior = fitted(SmoothedHistogram(100, 2, 4, epsilon=1.0, bounds=(0, 1)), [0.1, 0.2, 0.3, 0.9])
    axes = Figure().subplots()
    draw_release(axes, posterior, np.linspace(0.0, 1.0, 9))
    (stairs,) = axes.patches
    data = stairs.get_data()
    assert np.sum(data.values * np.diff(data.edges)) == pytest.approx(1.0)


def test_title_names_the_records_and_not_the_bins():
    posterior = fitted(NoisyHistogram(12345, 2, epsilon=1.0, bounds=(0, 1)), [1.0, 2.0])
    assert describe_release(posterior) == "12,345 records through NoisyHistogram: ε-differential privacy, ε = 1"
