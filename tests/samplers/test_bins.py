"""How much a release loses when `Binned` rounds it: Fisher's information of the counts against that of the records."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from pairs.pairs import cdf_of, log_g_of, rows
from privmix import PrivateMixture
from privmix.jit import bind
from privmix.kernels import Beta, Normal
from privmix.mechanisms import (
    DiscreteLaplace,
    Gaussian,
    GlobalMechanism,
    Histogram,
    Laplace,
    OnLattice,
    Piecewise,
    Rounded,
    Staircase,
    Withheld,
)
from privmix.samplers import Binned
from privmix.samplers.binned.bins import find_bins
from privmix.samplers.binned.mixture import fill_row

STEP = 1e-3
THETA = np.array([0.3, 1.0])


def information(values, cell):
    """Return ∫ (∂f)²/f over cells of a width, or Σ (∂p)²/p, for mean and variance, by central differences."""
    centre = values(THETA)
    found = []
    for direction in np.eye(2):
        slope = (values(THETA + STEP * direction) - values(THETA - STEP * direction)) / (2.0 * STEP)
        found.append(np.sum(slope[centre > 0.0] ** 2 / centre[centre > 0.0]) * cell)
    return np.array(found)


@pytest.mark.parametrize(
    "mechanism",
    [
        *(Laplace(epsilon=epsilon, bounds=(-10.0, 10.0)) for epsilon in (5.0, 10.0, 50.0)),
        *(Staircase(epsilon=epsilon, bounds=(-10.0, 10.0)) for epsilon in (0.5, 2.0, 8.0)),
    ],
    ids=lambda mechanism: f"{type(mechanism).__name__} {mechanism.guarantee.epsilon:g}",
)
def test_rounding_loses_little_of_mean_and_variance(mechanism):
    """A component as wide as a twentieth of the bounds; with bins of a quarter of the noise its variance loses 7%."""
    edges = find_bins(PrivateMixture(mechanism, Normal()), None).node[1:-1]
    reach = 25.0 * mechanism.noise_spread()
    z = np.linspace(-10.0 - reach, 10.0 + reach, 200_001)
    records = information(lambda theta: np.exp(log_g_of(mechanism, Normal(), z, theta)), z[1] - z[0])
    counts = information(
        lambda theta: np.diff(np.concatenate([[0.0], cdf_of(mechanism, Normal(), edges, theta), [1.0]])), 1.0
    )
    assert (1.0 - counts / records < 0.02).all()
    assert (counts < 1.001 * records).all()  # rounding cannot tell more


@pytest.mark.parametrize(
    "mechanism",
    [
        Rounded(DiscreteLaplace(epsilon=2.0, bounds=(-4, 4)), to=2.0),
        Withheld(OnLattice(Gaussian(scale=1.0, bounds=(-4, 4)), 1.0), below=-1.0),
    ],
    ids=["noise on the lattice", "noise on the line"],
)
def test_bins_of_records_on_a_lattice(mechanism):
    """Sums over the points of the lattice with SciPy's masses and the noise's own distribution function."""
    model = PrivateMixture(mechanism, Normal())
    bins, state = find_bins(model, 12), Binned(bins=12).allocate(model, 5)
    out, data, points = np.zeros(bins.size), model.data(np.array([0.0])), np.arange(-4.0, 5.0)
    bind(bins.hooks[fill_row], model.hooks())(
        model.parts(), data, state, rows(mechanism, Normal(), (0.7, 2.5), 1)[0], out
    )
    ends = np.concatenate([[-np.inf], points[1:] - 0.5, [np.inf]])
    masses = np.diff(stats.norm.cdf(ends, 0.7, np.sqrt(2.5)))
    inner = mechanism.mechanism
    if isinstance(inner, DiscreteLaplace):
        far = np.arange(-400, 401)
        noise = np.exp(-np.abs(far) / inner.scale) / np.exp(-np.abs(far) / inner.scale).sum()
        below = np.array([[noise[point + far <= edge].sum() for edge in bins.node] for point in points])
    else:
        below = stats.norm.cdf(bins.node, points[:, None], 1.0)
    assert out == pytest.approx(masses @ np.diff(below, axis=1), rel=1e-10)
    assert out.sum() == pytest.approx(1.0, rel=1e-12)


def test_any_mechanism_that_tells_its_bins_is_served():
    @dataclass(frozen=True, eq=False)
    class Own(GlobalMechanism):
        records: int
        edges: np.ndarray

        cell_count, cell_edge = Histogram.cell_count, Histogram.cell_edge

    class Told(Own):
        @property
        def bin_edges(self):
            return self.edges

    edges = np.array([0.0, 0.5, 1.0])
    assert find_bins(PrivateMixture(Told(5, edges), Beta()), None).size == 2
    with pytest.raises(ValueError, match="is no histogram"):
        find_bins(PrivateMixture(Own(5, edges), Beta()), None)


@pytest.mark.parametrize("bins", [4, 6, 17, 340])
@pytest.mark.parametrize(("mean", "sd"), [(2.0, 0.5), (4.3, 0.3), (7.5, 0.4)])
def test_wide_bins_are_integrated_and_not_guessed(bins, mean, sd):
    """A kernel without masses of its own: ∫ of the wave's density over a normal law, by trapezoids of our own."""
    mechanism = Piecewise(epsilon=4.0, bounds=(0.0, 10.0))
    model = PrivateMixture(mechanism, Normal())
    found, state = find_bins(model, bins), Binned(bins=bins).allocate(model, 5)
    out, theta = np.zeros(bins), rows(mechanism, Normal(), (mean, sd**2), 1)[0]
    run = bind(found.hooks[fill_row], {**model.hooks(), **found.hooks})
    run(model.parts(), model.data(np.array([5.0])), state, theta, out)
    y, z = np.linspace(mean - 8 * sd, mean + 8 * sd, 401), np.linspace(*mechanism.release_range, 12 * 1020 + 1)
    weight = stats.norm(mean, sd).pdf(y)
    density = np.trapezoid(np.exp(mechanism.logpdf(z[:, None], y[None, :])) * weight, y, axis=1)
    mass = 0.5 * (density[1:] + density[:-1]) * np.diff(z)
    expected = np.add.reduceat(mass, np.searchsorted(z, found.node[:-1] - 1e-9))
    assert out == pytest.approx(expected / expected.sum(), rel=0.01, abs=1e-4)
