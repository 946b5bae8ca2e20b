"""A fit of rows: what it answers, what one column of it answers, and what is refused in which words."""

import inspect

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import privmix
from columns import PEOPLE, frame_of_people
from privmix import PrivateMixture, kernels, mechanisms, plots, samplers
from privmix.curves.columns import draws_given, only_columns
from privmix.mechanisms.one_column import some_records
from privmix.posterior.columns import Conditional, Marginal

pytestmark = pytest.mark.xdist_group("columns")

MECHANISM = mechanisms.Each(PEOPLE, reports=2)
FRAME = pd.DataFrame(frame_of_people(120), index=[f"person {i}" for i in range(120)])
Z = MECHANISM.privatize(FRAME[["sex", "age", "income"]], seed=1)
HOW = {"draws": 120, "warmup": 100, "thin": 1, "chains": 2, "seed": 1}


@pytest.fixture(scope="module")
def fit():
    # Columns of the frame are in another order than those of the mechanism.
    return privmix.fit(Z[["sex", "income", "age"]], MECHANISM, **HOW)


def test_default_is_a_kernel_for_each_column(fit):
    assert fit.model.kernel == kernels.Product(
        age=kernels.TruncatedNormal((0.0, 100.0)),
        income=kernels.TruncatedNormal((0.0, 10.0)),
        sex=kernels.Categorical(("f", "m")),
    )
    assert fit.sampler == samplers.SplitMerge(samplers.Neal5(exact=True))
    observed = fit.datatree["observed_data"]["z"]
    assert list(observed["coefficient"].values) == ["age", "income", "sex"]
    assert np.array_equal(observed, MECHANISM.check_release(Z), equal_nan=True)
    assert list(observed["record"].values) == list(FRAME.index)
    assert {"age_mean", "income_variance", "sex_share_f", "base_age_location"} <= set(fit.datatree["posterior"])


def test_same_draws_from_an_array_a_release_and_a_frame(fit):
    rows = privmix.fit(MECHANISM.check_release(Z), MECHANISM, **HOW)
    release = privmix.fit(privmix.Release(Z, MECHANISM), **HOW)
    for other in (rows, release):
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(fit.arrays, other.arrays, strict=True))


def test_joint_density_integrates_to_that_of_its_columns(fit):
    ages, incomes = np.linspace(0.5, 99.5, 100), np.linspace(0.1, 9.9, 50)
    joint = fit.density({"age": ages, "income": incomes, "sex": ["f", "m"]})
    assert joint["mean"].dims == ("age", "income", "sex")
    assert list(joint["sex"].values) == ["f", "m"]
    assert float(joint["mean"].sum() * 1.0 * 0.2) == pytest.approx(1.0, abs=3e-3)
    over = joint["mean"].sum(["income", "sex"]) * 0.2
    assert over.values == pytest.approx(fit.marginal("age").density(ages)["mean"].values, abs=1e-2 * over.max().item())
    two = fit.density({"sex": ["m"], "age": [30.0, 60.0]})
    assert two["mean"].shape == (1, 2)
    assert (two["lower"] <= two["mean"]).all()
    draws = fit.density_draws({"age": [30.0, 60.0], "sex": ["m"]})
    assert draws.mean(["chain", "draw"]).values == pytest.approx(two["mean"].values.T)


def test_whole_rows_are_a_grid_too(fit):
    rows = np.array([[30.0, 2.0, 0.0], [60.0, 5.0, 1.0]])
    found = fit.density(rows)
    assert list(found["coordinate"].values) == ["age", "income", "sex"]
    named = fit.density({"age": [30.0, 60.0], "income": [2.0, 5.0], "sex": ["f", "m"]})["mean"].values
    assert found["mean"].values == pytest.approx([named[0, 0, 0], named[1, 1, 1]])
    assert fit.density_draws(rows).shape == (2, 120, 2)


def test_a_marginal_is_a_posterior_of_one_column(fit):
    age = fit.marginal("age")
    assert isinstance(age, Marginal)
    assert age.model.mechanism == PEOPLE["age"]
    there = Z["age"].notna().to_numpy()
    assert age.records == there.sum()
    assert np.array_equal(age.plan.z, Z["age"].dropna())
    assert list(age.datatree["observed_data"]["record"].values) == list(FRAME.index[there])
    assert np.array_equal(age.arrays.allocation, fit.arrays.allocation[..., there])
    assert np.array_equal(age.arrays.weight, fit.arrays.weight)
    assert np.array_equal(age.arrays.atom, fit.arrays.atom[..., :2], equal_nan=True)
    grid = np.linspace(0.25, 99.75, 200)
    assert float(age.density(grid)["mean"].sum() * 0.5) == pytest.approx(1.0, abs=1e-3)
    assert 0.0 < float(age.quantile(0.5)["mean"].item()) < 100.0
    assert float(age.cdf([50.0])["mean"].item()) + float(age.probability(50.0, np.inf)["mean"]) == pytest.approx(1.0)
    assert age.moments()["mean"].shape == (5,)
    assert age.mode_count()["mean"].shape == ()
    assert {"n_clusters", "acceptance"} <= set(age.summary().index)
    assert age.check(replicates=20)
    assert age.predictive(3, seed=1)["y"].shape == (3,)
    assert age.plot().get_xlabel() == "confidential value y"
    assert len(age.clustering(runs=1).labels) == there.sum()
    assert age.thinned(20).draws == 10


def test_shares_of_a_category(fit):
    sex = fit.marginal("sex")
    shares = sex.density()
    assert list(shares["category"].values) == ["f", "m"]
    assert float(shares["mean"].sum()) == pytest.approx(1.0)
    assert {"share of f", "share of m"} <= set(sex.summary().index)
    assert sex.check(replicates=20)
    for name, answer in {"cdf": [[0.5]], "quantile": [0.5], "moments": [], "mode_count": []}.items():
        with pytest.raises(ValueError, match=rf"^{name} is for numbers; these records are categories. Read shares off"):
            getattr(sex, name)(*answer)


def test_a_conditional_weighs_the_components(fit):
    found = fit.conditional("income", age=40)
    assert isinstance(found, Conditional)
    mean, variance = fit.arrays.atom[..., 0], fit.arrays.atom[..., 1]
    sd = np.sqrt(variance)
    density = stats.truncnorm.pdf(40.0, -mean / sd, (100.0 - mean) / sd, mean, sd)
    weight = fit.arrays.weight * np.nan_to_num(density)
    assert found.arrays.weight == pytest.approx(weight / weight.sum(axis=-1, keepdims=True), abs=1e-9)
    ratio = fit.density_draws({"age": [40.0], "income": [3.0]}).values[..., 0, 0]
    ratio /= fit.marginal("age").density_draws([40.0]).values[..., 0]
    assert found.density_draws([3.0]).values[..., 0] == pytest.approx(ratio, rel=1e-9)
    assert float(found.density(np.linspace(0.05, 9.95, 100))["mean"].sum() * 0.1) == pytest.approx(1.0, abs=1e-3)
    assert found.moments()["mean"].shape == (5,)
    with pytest.raises(ValueError, match=r"^check is about the release, which is not that of records with"):
        found.check()


def test_conditionals_of_and_given_categories(fit):
    young, old = (fit.conditional("sex", age=age).density()["mean"].values for age in (30.0, 60.0))
    assert [young.sum(), old.sum()] == pytest.approx([1.0, 1.0])
    both = fit.conditional("age", sex="f", income=2.0)
    assert both.quantile([0.25, 0.75])["mean"].shape == (2,)
    assert both.plot().get_ylabel() == "density"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda fit: fit.marginal("size"), "^there is no column 'size'; the columns are age, income, sex"),
        (lambda fit: fit.conditional("size", age=3), "^there is no column 'size'"),
        (lambda fit: fit.conditional("income", size=3), "^there is no column 'size'"),
        (lambda fit: fit.conditional("income"), "^conditional needs the value of at least one other column"),
        (lambda fit: fit.conditional("age", age=3), "^conditional: 'age' cannot be given a value and asked for"),
        (lambda fit: fit.conditional("age", sex="x"), "^the grid of sex has 1 values that are none of the categories"),
        (lambda fit: fit.conditional("income", age=400.0), "^age=400.0 has density 0 in 240 draws"),
        (lambda fit: fit.density({}), "^the grid has no column"),
        (lambda fit: fit.density({"age": [np.nan]}), "^the grid has values that are NaN"),
        (lambda fit: fit.marginal("age").resume(10), "^resume needs the chains of all columns"),
        (lambda fit: fit.marginal("age").save("x.nc"), "^save needs the chains of all columns"),
        (lambda fit: fit.marginal("age").informativeness(), "^informativeness refits a model by itself"),
        (lambda fit: fit.marginal("age").marginal("age"), "^marginal is for records of several named columns"),
        (lambda fit: fit.marginal("age").density({"age": [3.0]}), "^a grid by column is for records of several named"),
    ],
)
def test_what_cannot_be_asked(fit, ask, message):
    with pytest.raises(ValueError, match=message):
        ask(fit)


# Every public member of a posterior, on a fit of rows: what it gives, or the words in which it is refused.
WAY = r"marginal\('age'\)"
MEMBERS = {
    "density": (lambda fit: fit.density(), f"give a grid by name, .*{WAY}"),
    "density_draws": (lambda fit: fit.density_draws(), f"give a grid by name, .*{WAY}"),
    "default_grid": (lambda fit: fit.default_grid(), WAY),
    "shown_grid": (lambda fit: fit.shown_grid(), WAY),
    "cdf": (lambda fit: fit.cdf([0.0]), WAY),
    "quantile": (lambda fit: fit.quantile(0.5), WAY),
    "quantile_draws": (lambda fit: fit.quantile_draws(0.5), WAY),
    "probability": (lambda fit: fit.probability(0.0, 1.0), WAY),
    "moments": (lambda fit: fit.moments(), WAY),
    "mode_count": (lambda fit: fit.mode_count([1.0, 2.0, 3.0]), WAY),
    "beyond": (lambda fit: fit.beyond(), "beyond is for clipped records"),
    "predictive_check": (lambda fit: fit.predictive_check(), r"marginal\(name\)\.predictive_check\(\)"),
    "informativeness": (lambda fit: fit.informativeness(), "informativeness compares densities on a line"),
    "plot": (lambda fit: fit.plot(columns=["age", "sex"]), None),
    "report": (lambda fit: None, None),  # in tests/plots/test_pairs.py
    "correlation": (lambda fit: fit.correlation(), None),
    "mutual_information": (lambda fit: fit.mutual_information(), None),
    "marginal": (lambda fit: fit.marginal("income"), None),
    "conditional": (lambda fit: fit.conditional("income", sex="m"), None),
    "predictive": (lambda fit: fit.predictive(4, seed=1), None),
    "check": (lambda fit: fit.check(replicates=20), None),
    "doubt": (lambda fit: fit.doubt(), None),
    "summary": (lambda fit: fit.summary(), None),
    "similarity": (lambda fit: fit.similarity(), None),
    "clustering": (lambda fit: fit.clustering(runs=1), None),
    "credible_ball": (lambda fit: fit.credible_ball(np.zeros(120, int)), None),
    "predict": (lambda fit: fit.predict(Z[:5], np.zeros(120, int)), None),
    "predict_proba": (lambda fit: fit.predict_proba(Z[:5], np.zeros(120, int)), None),
    "record_count": (lambda fit: fit.record_count(), None),
    "thinned": (lambda fit: fit.thinned(20), None),
    "resume": (lambda fit: fit.resume(2), None),
    "save": (lambda fit: None, None),  # below
    "load": (lambda fit: None, None),
    "from_chains": (lambda fit: None, None),
    "acceptance": (lambda fit: fit.acceptance, None),
    "chains": (lambda fit: fit.chains, None),
    "dataset": (lambda fit: fit.dataset, None),
    "draws": (lambda fit: fit.draws, None),
    "model": (lambda fit: fit.model, None),
    "n_clusters": (lambda fit: fit.n_clusters, None),
    "records": (lambda fit: fit.records, None),
    "records_of_draws": (lambda fit: fit.records_of_draws, None),
    "sampler": (lambda fit: fit.sampler, None),
}


def test_every_member_is_listed():
    assert set(MEMBERS) == {name for name, _ in inspect.getmembers(privmix.Posterior) if name[0] != "_"}


@pytest.mark.parametrize("name", MEMBERS)
def test_members_answer_or_say_what_to_do_instead(fit, name):
    ask, words = MEMBERS[name]
    if words is None:
        ask(fit)
        return
    with pytest.raises(ValueError, match=words):
        ask(fit)


PLOTS = {
    "plot_density": f"plot_pairs draws all columns, and posterior.{WAY}.plot",
    "plot_pairs": None,
    "plot_comparison": WAY,
    "plot_predictive": r"marginal\(name\)",
    "plot_trace": None,
    "plot_clusters": None,
    "plot_acceptance": None,
    "plot_similarity": None,
}


@pytest.mark.parametrize("name", PLOTS)
def test_pictures_of_rows(fit, name):
    draw, words = getattr(plots, name), PLOTS[name]
    given = {"a": fit, "b": fit} if name == "plot_comparison" else fit
    if words is None:
        draw(given)
        return
    with pytest.raises(ValueError, match=words):
        draw(given)


def test_summary_follows_every_column(fit):
    table = fit.summary()
    assert sum(name.startswith("age density at ") for name in table.index) == 5
    assert {"sex share of f", "n_clusters", "base_income_rate"} <= set(table.index)
    asked = fit.summary(at={"age": [30.0, 60.0]})
    assert [name for name in asked.index if "density" in name] == ["age density at 30", "age density at 60"]
    with pytest.raises(ValueError, match=r"^summary: give points by column, such as at=\{'age': points\}"):
        fit.summary(at=[30.0])


def test_findings_name_their_column(fit):
    assert {"age: fit to the release", "sex: fit to the release"} <= {f.title for f in fit.check(replicates=20)}


def test_synthetic_rows(fit):
    made = fit.predictive(2000, seed=1)
    frame = made.to_dataframe()
    assert list(frame) == ["age", "income", "sex", "released_age", "released_income", "released_sex"]
    assert set(frame["sex"]) == {"f", "m"}
    assert frame[["released_age", "released_income", "released_sex"]].notna().sum(axis=1).eq(2).all()
    assert frame["age"].between(0.0, 100.0).all()
    share = float(fit.marginal("sex").density()["mean"][0])
    assert abs((frame["sex"] == "f").mean() - share) < 0.05
    joint = fit.density({"sex": ["f"], "age": np.linspace(0.25, 49.75, 100)})["mean"].sum() * 0.5
    assert abs(((frame["sex"] == "f") & (frame["age"] < 50.0)).mean() - float(joint)) < 0.05


def test_a_saved_fit_of_rows_comes_back_and_goes_on(fit, tmp_path):
    fit.save(tmp_path / "rows.nc")
    loaded = privmix.load(tmp_path / "rows.nc")
    assert loaded.model == fit.model
    assert loaded.dataset.identical(fit.dataset)
    assert loaded.datatree["observed_data"].to_dataset().identical(fit.datatree["observed_data"].to_dataset())
    assert loaded.marginal("age").density([40.0]).identical(fit.marginal("age").density([40.0]))
    assert loaded.resume(3).dataset.identical(fit.resume(3).dataset)


def test_noise_of_ones_own_stays_with_its_record():
    there = np.array([True, False, True])
    for given in ({"scale": [1.0, 2.0, 3.0]}, {"epsilon": [1.0, 2.0, 4.0], "bounds": (0.0, 1.0)}):
        whole = mechanisms.Laplace(**given)
        kept = some_records(whole, there)
        assert np.array_equal(kept.scale, whole.scale[there])
        assert kept.bounds == whole.bounds
    assert some_records(PEOPLE["age"], there) is PEOPLE["age"]


def test_weights_of_a_draw_sum_to_one_and_columns_keep_their_own(fit):
    given = draws_given(fit.model.kernel, fit.arrays, {"age": 50.0})
    assert given.weight.sum(axis=-1) == pytest.approx(1.0)
    kernel, draws = only_columns(fit.model.kernel, fit.arrays, ["sex", "age"])
    assert kernel.parameters == ("sex_share_f", "sex_share_m", "age_mean", "age_variance")
    assert np.array_equal(draws.atom[..., 2:], fit.arrays.atom[..., :2], equal_nan=True)


def test_columns_must_match():
    with pytest.raises(ValueError, match=r"^the mechanism has the columns age, income, sex and the kernel sex, age"):
        PrivateMixture(
            MECHANISM, kernels.Product(sex=kernels.Categorical(("f", "m")), age=kernels.Normal(), c=kernels.Normal())
        )
    with pytest.raises(ValueError, match=r"^Product describes records of 2 numbers, but Each perturbs records of 3"):
        PrivateMixture(MECHANISM, kernels.Product(age=kernels.Normal(), income=kernels.Normal()))
    with pytest.raises(ValueError, match=r"^column 'sex': RandomizedResponse is for the categories f, m, but Normal"):
        PrivateMixture(MECHANISM, kernels.Product({name: kernels.Normal() for name in PEOPLE}))
    unbounded = mechanisms.Each(age=mechanisms.Laplace(scale=1.0), income=PEOPLE["income"])
    with pytest.raises(ValueError, match=r"^column 'age': fit derives its defaults from the mechanism's bounds"):
        privmix.default_model(unbounded)
    with pytest.raises(ValueError, match=r"^resolution is for records of one number"):
        privmix.fit(Z, MECHANISM, resolution=1.0)


def test_a_number_that_cannot_have_been_released_is_named():
    z = MECHANISM.check_release(Z)
    z[np.flatnonzero(~np.isnan(z[:, 0]))[0], 0] = 1e4
    with pytest.raises(
        ValueError, match=r"less likely than 1e-12 under Each, whatever the records inside their bounds"
    ):
        privmix.fit(z, MECHANISM, **HOW)


def test_a_fit_of_one_category():
    response = PEOPLE["sex"]
    answers = response.privatize(FRAME["sex"], seed=1)
    fitted = privmix.fit(answers, response, **HOW)
    shares = fitted.density()["mean"].values
    assert shares.sum() == pytest.approx(1.0)
    assert isinstance(fitted.predictive(3, seed=1), xr.Dataset)


def test_a_frame_of_points_is_read_by_its_columns(fit):
    points = pd.DataFrame({"age": [20.0, 60.0], "income": [2.0, 8.0], "sex": ["f", "m"]})
    by_place = fit.density(np.array([[20.0, 2.0, 0.0], [60.0, 8.0, 1.0]]))["mean"].values
    for order in (["age", "income", "sex"], ["sex", "age", "income"]):
        assert fit.density(points[order])["mean"].values == pytest.approx(by_place)
    with pytest.raises(ValueError, match=r"^the grid has no column 'sex'"):
        fit.density(points[["age", "income"]])


def test_one_person_may_be_asked_about_who_did_not_report_a_column(fit):
    assert len(fit.predict(Z.iloc[:1].assign(income=np.nan))) == 1
    assert fit.predict_proba(Z.iloc[:2].assign(age=np.nan)).sum("cluster").values == pytest.approx(1.0)


def test_a_column_may_be_called_name():
    two = mechanisms.Each(
        name=mechanisms.Laplace(epsilon=9.0, bounds=(0, 1)), released_name=mechanisms.Laplace(scale=0.1, bounds=(0, 1))
    )
    found = privmix.fit(np.full((20, 2), 0.4), two, **HOW)
    assert found.conditional("released_name", name=0.5).density()["mean"].shape == (200,)
    with pytest.raises(
        ValueError, match=r"^predictive: 'released_name' is a column of the records, and would be one of"
    ):
        found.predictive(5)
