import subprocess
import sys

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from privmix import PrivateMixture, kernels, mechanisms
from privmix.plots import plot_density, plot_trace, save_figure, style
from privmix.plots.trace import moving_mean
from privmix.privacy import ZCDP, ApproxDP, PureDP
from privmix.privacy.guarantees import describe_guarantee

BOUNDS = (-10.0, 10.0)


@pytest.fixture(scope="module")
def posterior():
    mechanism = mechanisms.Laplace(epsilon=10.0, bounds=BOUNDS)
    # Two records lie far outside the bounds, as a noisy release has them.
    z = np.concatenate([np.random.default_rng(1).normal(2.0, 2.0, 38), [-30.0, 40.0]])
    return PrivateMixture(mechanism, kernels.Normal()).sample(z, draws=120, warmup=50, thin=1, chains=3, seed=1)


@pytest.fixture
def ax():
    return Figure().subplots()


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def standard_normal(y):
    return np.exp(-0.5 * y**2) / np.sqrt(2.0 * np.pi)


def test_density_draws_mean_and_band(posterior, ax):
    assert plot_density(posterior, ax=ax, release=False) is ax
    expected = posterior.density()
    (line,) = ax.lines
    np.testing.assert_allclose(line.get_xydata(), np.column_stack([expected["y"], expected["mean"]]))
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx(float(expected["upper"].max()))
    assert labels(ax) == ["95% pointwise band", "posterior mean"]
    assert not ax.patches


def test_density_names_axes_and_says_what_is_estimated(posterior, ax):
    plot_density(posterior, ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("confidential value y", "density")
    assert "estimated from the noisy release" in ax.get_title()
    assert "40 records through Laplace: ε-differential privacy, ε = 10" in ax.get_title()


def test_density_keeps_a_title_that_is_there(posterior, ax):
    ax.set_title("mine")
    plot_density(posterior, ax=ax)
    assert ax.get_title() == "mine"


def test_release_is_a_histogram_of_shares_of_all_records(posterior, ax):
    plot_density(posterior, ax=ax)
    (patch,) = ax.patches
    heights, edges, _ = patch.get_data()
    grid = posterior.default_grid()
    assert (edges[0], edges[-1]) == (grid[0], grid[-1])
    assert np.sum(heights * np.diff(edges)) == pytest.approx(38 / 40)
    assert "release (noisy), 5% outside the plot" in labels(ax)


def test_release_label_without_records_outside(posterior, ax):
    plot_density(posterior, ax=ax, grid=np.linspace(-50.0, 50.0, 50))
    assert "release (noisy)" in labels(ax)


def test_truth_is_dashed_and_black(posterior, ax):
    plot_density(posterior, ax=ax, truth=standard_normal, release=False)
    truth = next(line for line in ax.lines if line.get_label() == "truth")
    np.testing.assert_allclose(truth.get_ydata(), standard_normal(truth.get_xdata()))
    assert truth.is_dashed()
    assert to_hex(truth.get_color()) == "#000000"


def test_level_and_grid(posterior, ax):
    plot_density(posterior, ax=ax, level=0.5, grid=[3.0, 1.0, 2.0])
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [1.0, 2.0, 3.0])
    assert "50% pointwise band" in labels(ax)


def test_second_fit_differs_in_colour_and_dashes(posterior, ax):
    plot_density(posterior, ax=ax, label="one")
    plot_density(posterior, ax=ax, label="two", release=False)
    one, two = ax.lines
    assert one.get_color() != two.get_color()
    assert not one.is_dashed()
    assert two.is_dashed()
    assert {"one", "two", "one, 95% pointwise band", "two, 95% pointwise band"} <= set(labels(ax))
    filled, outline = ax.collections
    assert filled.get_facecolor().size
    assert not outline.get_facecolor().size


def test_legend_does_not_cover_the_curves(posterior, ax):
    plot_density(posterior, ax=ax, truth=standard_normal)
    ax.figure.canvas.draw()
    lowest = ax.get_legend().get_window_extent().transformed(ax.transData.inverted()).y0
    highest = max(line.get_ydata().max() for line in ax.lines)
    assert highest < lowest


def test_trace_has_every_draw_and_a_moving_mean_for_each_chain(posterior, ax):
    assert plot_trace(posterior, ax=ax) is ax
    assert len(ax.lines) == 6
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), posterior.n_clusters[0])
    np.testing.assert_allclose(ax.lines[5].get_ydata(), moving_mean(posterior.n_clusters[2].values, 3))
    assert labels(ax) == ["chain 1", "chain 2", "chain 3"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("draw", "number of clusters")
    assert "mean of 3 draws" in ax.get_title()


def test_moving_mean():
    np.testing.assert_allclose(moving_mean(np.array([1.0, 2.0, 6.0, 4.0]), 3), [1.5, 3.0, 4.0, 5.0])


def test_new_figures_are_made_without_ax(posterior):
    from matplotlib import pyplot

    with pyplot.rc_context():
        pyplot.switch_backend("agg")
        for axes in (plot_density(posterior), plot_trace(posterior)):
            assert axes.lines
            pyplot.close(axes.figure)


def test_first_two_colours_differ_in_grey():
    def grey(colour):
        return np.dot([int(colour[i : i + 2], 16) for i in (1, 3, 5)], [0.299, 0.587, 0.114])

    assert abs(grey(style.COLOURS[0]) - grey(style.COLOURS[1])) > 20


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_save_figure_keeps_the_format(posterior, ax, tmp_path, suffix):
    starts = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
    path = tmp_path / f"figure.{suffix}"
    path.write_bytes(b"old")
    save_figure(plot_trace(posterior, ax=ax), path)
    assert path.read_bytes().startswith(starts[suffix])
    assert list(tmp_path.iterdir()) == [path]


def test_save_figure_leaves_the_old_file_when_it_fails(ax, tmp_path, monkeypatch):
    path = tmp_path / "figure.png"
    path.write_bytes(b"old")

    def fail(target, **_):
        target.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(ax.figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        save_figure(ax, path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_save_figure_errors(ax, tmp_path):
    with pytest.raises(ValueError, match=r"ends in '.docx', which names no format of pictures. Use .png, .pdf or .svg"):
        save_figure(ax, tmp_path / "figure.docx")
    with pytest.raises(FileNotFoundError, match=r"the folder .*missing does not exist. Create it"):
        save_figure(ax, tmp_path / "missing" / "figure.png")


def test_density_errors(posterior, ax):
    with pytest.raises(TypeError, match="truth must be a function of an array of points; got 3"):
        plot_density(posterior, ax=ax, truth=3)
    with pytest.raises(ValueError, match=r"truth returned an array of shape \(\) for 200 points"):
        plot_density(posterior, ax=ax, truth=lambda y: 1.0)
    with pytest.raises(TypeError, match="ax must be one matplotlib Axes, or None for a new figure"):
        plot_density(posterior, ax=ax.figure)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        plot_density(posterior, ax=ax, level=1.0)
    assert not ax.has_data()


def test_guarantees_in_words():
    assert describe_guarantee(PureDP(2.0)) == "ε-differential privacy, ε = 2"
    assert describe_guarantee(ApproxDP(1.0, 1e-6)) == "(ε, δ)-differential privacy, ε = 1, δ = 1e-06"
    assert describe_guarantee(ZCDP(0.5)) == "ρ-zero-concentrated differential privacy, ρ = 0.5"
    assert describe_guarantee(None) == "no privacy guarantee"


def test_what_loads_slowly_is_not_loaded_by_importing_privmix():
    slow = ("matplotlib", "scipy.optimize")
    check = f"import privmix, privmix.plots, privmix.cli, sys; sys.exit(bool(set({slow}) & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0
