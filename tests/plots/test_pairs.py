"""Pictures and the report of a fit of rows, and shares of categories: what they show is what was computed."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import privmix
from columns import PEOPLE, frame_of_people
from privmix import mechanisms
from privmix.curves.columns import density_mean_over
from privmix.plots import plot_density, plot_pairs, plot_predictive, style
from privmix.plots.pairs import heights_inside
from privmix.report import render
from report.reading import parsed

pytestmark = pytest.mark.xdist_group("columns")


@pytest.fixture(scope="module")
def fit():
    mechanism = mechanisms.Each(PEOPLE, reports=2)
    z = mechanism.privatize(pd.DataFrame(frame_of_people(120)), seed=1)
    return privmix.fit(z, mechanism, draws=120, warmup=100, thin=1, chains=2, seed=1)


@pytest.fixture(scope="module")
def axes(fit):
    return plot_pairs(fit, figure=Figure(layout="constrained"), level=0.9)


def test_every_column_is_on_the_diagonal_with_its_band(fit, axes):
    assert axes.shape == (3, 3)
    expected = fit.marginal("income").density(level=0.9)
    (line,) = axes[1, 1].lines
    np.testing.assert_allclose(line.get_xydata(), np.column_stack([expected["y"], expected["mean"]]))
    (band,) = axes[1, 1].collections
    assert band.get_paths()[0].vertices[:, 1].max() == pytest.approx(float(expected["upper"].max()))
    shares = fit.marginal("sex").density(level=0.9)
    assert [bar.get_height() for bar in axes[2, 2].patches] == pytest.approx(list(shares["mean"].values))
    (intervals,) = axes[2, 2].collections
    ends = np.array([segment[:, 1] for segment in intervals.get_segments()])
    np.testing.assert_allclose(ends, np.column_stack([shares["lower"], shares["upper"]]))
    assert [tick.get_text() for tick in axes[2, 2].get_xticklabels()] == ["f", "m"]


def test_two_columns_are_contours_or_shades_of_their_joint_density(fit, axes):
    (contours,) = axes[1, 0].collections
    ages, incomes = fit.marginal("age").default_grid(48), fit.marginal("income").default_grid(48)
    joint = density_mean_over(fit.model.kernel, fit.arrays, {"age": ages, "income": incomes})
    assert joint.values == pytest.approx(fit.density({"age": ages, "income": incomes})["mean"].values)
    heights = heights_inside(joint.values, (0.95, 0.8, 0.5, 0.2))
    assert list(contours.levels[:-1]) == pytest.approx(heights)
    (mesh,) = axes[2, 0].collections
    shades = np.asarray(mesh.get_array())
    assert shades.shape == (2, 48)
    joint = density_mean_over(fit.model.kernel, fit.arrays, {"age": ages, "sex": ["f", "m"]}).values.T
    assert shades == pytest.approx(joint / joint.max(axis=1, keepdims=True))
    assert [tick.get_text() for tick in axes[2, 0].get_yticklabels()] == ["f", "m"]


def test_contours_hold_the_shares_that_they_say():
    x = np.linspace(-5.0, 5.0, 201)
    values = np.exp(-0.5 * (x[:, None] ** 2 + x**2))
    # Outside a circle of radius r a standard normal law in the plane has e^(−r²/2): the height relative to its top.
    assert heights_inside(values, (0.95, 0.5)) == pytest.approx([0.05, 0.5], rel=0.02)


def test_dependence_is_written_above_the_diagonal(fit, axes):
    (text,) = axes[0, 1].texts
    found = fit.correlation(0.9).sel(column="age", other="income")
    told = f"{float(found['mean']):.2f} ({float(found['lower']):.2f} to {float(found['upper']):.2f})"
    assert text.get_text().startswith(f"correlation\n{told}\n\nmutual information\n")
    assert axes[0, 2].texts[0].get_text().startswith("mutual information\n")


def test_two_columns_of_categories_have_their_shares_written():
    mechanism = mechanisms.Each(a=PEOPLE["sex"], b=mechanisms.RandomizedResponse(categories=("n", "s"), epsilon=2.0))
    y = np.random.default_rng(1).integers(2, size=(60, 2)).astype(float)
    both = privmix.fit(mechanism.privatize(y, seed=1), mechanism, draws=30, warmup=30, thin=1, chains=2, seed=1)
    axes = plot_pairs(both, figure=Figure())
    mean = both.density({"a": ["f", "m"], "b": ["n", "s"]})["mean"].values
    assert [text.get_text() for text in axes[1, 0].texts] == [f"{value:.0%}" for value in mean.T.reshape(-1)]


def test_a_doubt_is_written_in_its_colour(fit, axes):
    assert fit.doubt()
    title = axes[0, 0].figure.get_suptitle()
    assert title.endswith(f"{fit.doubt()}: bands are not to be trusted")
    assert to_hex(axes[0, 0].figure._suptitle.get_color()) == style.DOUBT_COLOUR.lower()
    calm = plot_pairs(fit, figure=Figure(), columns=["sex", "age"], doubt="")
    assert calm.shape == (2, 2)
    assert "trusted" not in calm[0, 0].figure.get_suptitle()
    assert [ax.get_xlabel() for ax in calm[1]] == ["sex", "age"]


def test_shares_of_categories_are_bars(fit):
    sex = fit.marginal("sex")
    ax = plot_density(sex, ax=Figure().subplots(), prior=True, truth=lambda y: np.full(len(y), 0.5), label="mine")
    shares, z = sex.density()["mean"].values, sex.plan.z
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == pytest.approx([np.mean(z == 0.0), np.mean(z == 1.0), *shares])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert set(labels) == {"release (noisy)", "mine", "mine, 95% intervals", "prior mean", "truth"}
    assert ax.get_ylabel() == "share"
    again = plot_density(sex, ax=ax, release=False, simultaneous=True, doubt="")
    assert len(again.collections) == 2


def test_what_cannot_be_drawn(fit):
    with pytest.raises(ValueError, match=r"^plot_pairs is for records of several named columns"):
        plot_pairs(fit.marginal("age"))
    with pytest.raises(ValueError, match=r"^plot_pairs draws two to 8 different columns; got age"):
        plot_pairs(fit, columns=["age"])
    with pytest.raises(ValueError, match=r"^there is no column 'size'"):
        plot_pairs(fit, columns=["age", "size"])


def test_report_of_rows_has_the_pairs_the_columns_and_their_dependence(fit):
    page = render(fit, level=0.9)
    tree = parsed(page)
    ids = [element.get("id") for element in tree.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    texts = ["".join(element.itertext()).strip() for element in tree.iter("h3")]
    assert {"age", "income", "sex", "How columns depend on one another", "Fit to the release of sex"} <= set(texts)
    rows = [[cell.text for cell in row] for row in tree.iter("tr")]
    found = fit.correlation(0.9).sel(column="age", other="income")
    (row,) = [row for row in rows if row[0] == "age and income"]
    assert float(row[1]) == pytest.approx(float(found["mean"]), rel=1e-3)
    (row,) = [row for row in rows if row[0] == "age and sex"]
    assert row[1:3] == ["–", "–"]
    (row,) = [row for row in rows if row[0] == "share of f"]
    assert float(row[1]) == pytest.approx(float(fit.marginal("sex").density()["mean"][0]), rel=1e-3)
    assert page.count("this band is not to be trusted") > 5


def test_report_of_a_category_shows_its_shares_and_no_bounds(fit):
    page = render(fit.marginal("sex"), informativeness=False)
    assert "share of f" in page
    assert ">categories</th><td>f, m<" in page
    assert "bounds of a record" not in page
    assert "is one of two, both equally likely" in page


def test_dollars_in_names_are_no_mathematics():
    amounts = mechanisms.RandomizedResponse(categories=("$0-$10k", "$10k-$20k"), epsilon=2.0)
    rows = mechanisms.Each([("cost in $_{", mechanisms.Laplace(epsilon=9.0, bounds=(0, 1))), ("income in $", amounts)])
    z = np.column_stack([np.linspace(0.1, 0.9, 20), np.repeat([0.0, 1.0], 10)])
    fit = privmix.fit(z, rows, draws=20, warmup=20, thin=1, chains=2, seed=1)
    figure = fit.plot()[0, 0].figure
    figure.canvas.draw()
    assert figure.axes[2].get_xlabel() == r"cost in \$_{"
    assert [text.get_text() for text in figure.axes[3].get_xticklabels()] == [r"\$0-\$10k", r"\$10k-\$20k"]
    plot_predictive(fit.marginal("income in $")).figure.canvas.draw()
