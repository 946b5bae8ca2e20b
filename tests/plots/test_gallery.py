"""Pictures of clusters, acceptance, predictive checks and several fits: what they draw is what was computed."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

import privmix
from privmix import PrivateMixture, kernels, mechanisms, samplers
from privmix.plots import (
    plot_acceptance,
    plot_clusters,
    plot_comparison,
    plot_density,
    plot_predictive,
    plot_similarity,
    plot_trace,
)
from privmix.plots.density import prior_density
from privmix.plots.similarity import record_order

BOUNDS = (-10.0, 10.0)
RUN = {"draws": 80, "warmup": 40, "thin": 1, "chains": 2, "seed": 1}


def released(mechanism):
    y = np.random.default_rng(1).choice([-4.0, 4.0], 40)
    return mechanism.privatize(y, seed=2)


@pytest.fixture(scope="module")
def posterior():
    mechanism = mechanisms.Laplace(epsilon=10.0, bounds=BOUNDS)
    return PrivateMixture(mechanism, kernels.Normal()).sample(released(mechanism), samplers.Neal5(), **RUN)


@pytest.fixture(scope="module")
def bounded():
    mechanism = mechanisms.Laplace(epsilon=2.0, bounds=BOUNDS)
    return PrivateMixture(mechanism, kernels.Beta(bounds=BOUNDS)).sample(released(mechanism), samplers.Neal5(), **RUN)


@pytest.fixture(scope="module")
def cells():
    mechanism = mechanisms.RandomizedResponse(cells=5, epsilon=2.0, bounds=BOUNDS)
    return PrivateMixture(mechanism, kernels.Normal()).sample(released(mechanism), samplers.Neal5(), **RUN)


@pytest.fixture(scope="module")
def counts():
    mechanism = mechanisms.NoisyHistogram(40, bins=8, epsilon=1.0, bounds=BOUNDS)
    return privmix.fit(released(mechanism), mechanism, **RUN)


@pytest.fixture
def ax():
    return Figure().subplots()


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def named(ax, label):
    return next(line for line in ax.lines if line.get_label() == label)


def test_density_with_both_bands_and_prior(posterior, ax):
    plot_density(posterior, ax=ax, simultaneous=True, prior=True, level=0.9)
    expected = posterior.density(level=0.9)
    np.testing.assert_allclose(named(ax, "90% simultaneous band").get_ydata(), expected["simultaneous_lower"])
    upper = next(line for line in ax.lines if line.get_label() == "_nolegend_")
    np.testing.assert_allclose(upper.get_ydata(), expected["simultaneous_upper"])
    np.testing.assert_allclose(named(ax, "prior mean").get_ydata(), prior_density(posterior, expected["y"].values))
    assert ax.get_ylim()[1] > float(expected["simultaneous_upper"].max())


def test_prior_density_of_a_normal_kernel_is_a_student_density(posterior):
    """μ | σ² ~ N(0, 10σ²), σ² ~ IG(3, 3): y has Student's law with 6 degrees of freedom and scale² 11."""
    from scipy import stats

    y = np.array([-6.0, 0.0, 3.0])
    np.testing.assert_allclose(prior_density(posterior, y), stats.t(6, scale=math.sqrt(11.0)).pdf(y), rtol=0.05)


def test_bars_are_the_posterior_and_dots_the_prior(posterior, ax):
    plot_clusters(posterior, ax=ax)
    for bar in ax.patches:
        k = round(bar.get_x() + bar.get_width() / 2)
        assert bar.get_height() == pytest.approx(float((posterior.n_clusters == k).mean()))
    (line,) = ax.lines
    law = posterior.model.prior.cluster_law(posterior.records)
    np.testing.assert_allclose(line.get_ydata(), law[line.get_xdata().astype(int)])
    assert labels(ax) == ["posterior", "prior"] or labels(ax) == ["prior", "posterior"]
    assert "among 40 records" in ax.get_title()


def test_clusters_without_prior(posterior, ax):
    assert not plot_clusters(posterior, ax=ax, prior=False).lines


@pytest.mark.long
def test_clusters_of_a_global_release_count_its_records(counts, ax):
    assert "among 40 records" in plot_clusters(counts, ax=ax).get_title()


def test_similarity_is_ordered_by_the_estimate(posterior, ax):
    estimate = posterior.clustering()
    plot_similarity(posterior, ax=ax, clustering=estimate)
    order = record_order(estimate)
    assert sorted(order) == list(range(40))
    assert (np.diff(estimate.labels[order]) >= 0).all()
    shown = np.asarray(ax.images[0].get_array())
    np.testing.assert_allclose(shown, posterior.similarity().values[np.ix_(order, order)])
    assert len(ax.lines) == 4 * (estimate.n_clusters - 1)


def test_similarity_errors(posterior, counts, ax):
    with pytest.raises(ValueError, match=r"clustering has 3 records, this fit 40. Give one of this posterior"):
        plot_similarity(posterior, ax=ax, clustering=SimpleNamespace(labels=np.zeros(3)))
    with pytest.raises(ValueError, match="clusters of records are not identified"):
        plot_similarity(counts, ax=ax)


def test_acceptance_has_the_bound_only_where_it_holds(posterior, bounded, ax):
    assert not any("bound" in label for label in labels(plot_acceptance(posterior, ax=ax)))
    other = Figure().subplots()
    plot_acceptance(bounded, ax=other)
    (bound,) = [line for line in other.lines if "bound" in line.get_label()]
    assert bound.get_ydata() == pytest.approx([math.exp(-2.0)] * 2)
    assert other.lines[0].get_ydata().mean() == pytest.approx(
        float(bounded.datatree["sample_stats"]["acceptance"][0].mean()), rel=0.05
    )


def test_acceptance_of_a_sampler_without_proposals(ax):
    rates = xr.DataArray(np.full((2, 5), np.nan), dims=("chain", "draw"))
    fitted = SimpleNamespace(datatree={"sample_stats": {"acceptance": rates}}, sampler=samplers.Slice())
    with pytest.raises(ValueError, match="Slice draws without proposals in this model, so it has no acceptance rate"):
        plot_acceptance(fitted, ax=ax)


def test_trace_of_other_quantities(posterior, ax):
    plot_trace(posterior, ax=ax, quantity=4.0)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), posterior.density_draws([4.0])[0, :, 0])
    assert ax.get_ylabel() == "density at 4"
    other = plot_trace(posterior, ax=Figure().subplots(), quantity="acceptance")
    assert other.get_ylabel() == "acceptance"
    with pytest.raises(ValueError, match=r"quantity must be a point, or one of acceptance, .*; got 'weight'"):
        plot_trace(posterior, ax=ax, quantity="weight")


def test_predictive_band_and_release(posterior, ax):
    table = posterior.predictive_check(replicates=50)
    plot_predictive(posterior, ax=ax, level=0.8, check=table)
    band, release = (patch.get_data() for patch in ax.patches)
    low, high = np.quantile(table["replicated_histogram"], [0.1, 0.9], axis=0)
    np.testing.assert_allclose(band.values, high)
    np.testing.assert_allclose(band.baseline, low)
    np.testing.assert_allclose(release.values, table["observed_histogram"])
    assert ax.get_xlabel() == "released value z"
    assert "80% of replicated releases" in labels(ax)
    with pytest.raises(ValueError, match=r"level must be between 0 and 1; got 1\.5"):
        plot_predictive(posterior, ax=ax, level=1.5)


def test_predictive_of_cells_draws_shares_at_cells(cells, ax):
    plot_predictive(cells, ax=ax)
    z = cells.datatree["observed_data"]["z"].values
    (dots,) = ax.lines
    shares = dict(zip(dots.get_xdata(), dots.get_ydata(), strict=True))
    assert shares == pytest.approx({k: float((z == k).mean()) for k in range(5)})
    assert ax.get_xlabel() == "released cell (its number)"


def test_predictive_of_a_histogram_draws_counts_in_their_bins(counts, ax):
    plot_predictive(counts, ax=ax)
    band, release = (patch.get_data() for patch in ax.patches)
    np.testing.assert_allclose(release.values, counts.datatree["observed_data"]["z"])
    np.testing.assert_allclose(release.edges, counts.model.mechanism.edges)
    assert (band.baseline < band.values).all()


def test_comparison_draws_every_fit_on_one_grid(posterior, cells, ax):
    plot_comparison({"noise": posterior, "cells": cells}, ax=ax, level=0.5)
    one, two = (named(ax, name) for name in ("noise", "cells"))
    np.testing.assert_array_equal(one.get_xdata(), two.get_xdata())
    np.testing.assert_allclose(two.get_ydata(), cells.density(two.get_xdata())["mean"])
    assert one.get_linestyle() != two.get_linestyle()
    assert one.get_color() != two.get_color()
    assert labels(ax) == ["noise", "cells"]
    title = ax.get_legend().get_title().get_text().splitlines()
    assert title[0] == "posterior means, with 50% pointwise bands"
    assert title[1:] == [f"{name}: chains are too short: this band is not to be trusted" for name in labels(ax)]


def test_comparison_errors(posterior):
    with pytest.raises(ValueError, match="a comparison needs two to 6 fits; got 1"):
        plot_comparison({"a": posterior})
    with pytest.raises(TypeError, match="posteriors must be a mapping of names to fits"):
        plot_comparison([posterior, posterior])


@pytest.mark.parametrize("draw", [plot_clusters, plot_acceptance, plot_predictive, plot_similarity, plot_trace])
def test_pictures_return_their_axes_and_keep_a_title(posterior, ax, draw):
    ax.set_title("mine")
    assert draw(posterior, ax=ax) is ax
    assert ax.get_title() == "mine"
    assert ax.get_xlabel()
    assert ax.get_ylabel()


@pytest.mark.parametrize("draw", [plot_clusters, plot_acceptance, plot_predictive, plot_similarity])
def test_pictures_refuse_what_is_no_axes(posterior, ax, draw):
    with pytest.raises(TypeError, match="ax must be one matplotlib Axes"):
        draw(posterior, ax=ax.figure)
