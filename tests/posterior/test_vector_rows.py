"""A fit of rows with correlated components: the default model, and what its columns answer."""

import numpy as np
import pandas as pd
import pytest

import privmix
from privmix import kernels, mechanisms, samplers

pytestmark = pytest.mark.xdist_group("rows")

MECHANISM = mechanisms.VectorGaussian({"height": (0.0, 10.0), "weight": (-10.0, 10.0)}, scale=1.0)
HOW = {"draws": 150, "warmup": 150, "thin": 1, "chains": 2, "seed": 1}


@pytest.fixture(scope="module")
def fit():
    rng = np.random.default_rng(1)
    x = np.clip(rng.normal(5.0, 1.5, 150), 1.0, 9.0)
    frame = pd.DataFrame({"height": x, "weight": 2.0 * (x - 5.0) + rng.normal(0.0, 0.5, 150)})
    z = MECHANISM.privatize(frame, seed=2)
    z.loc[::10, "weight"] = np.nan
    return privmix.fit(z, MECHANISM, **HOW)


def test_default_is_a_slope_with_a_scale_that_is_learned(fit):
    assert fit.model.kernel == kernels.MultivariateNormal.for_mechanism(MECHANISM)
    assert fit.sampler == samplers.SplitMerge(samplers.Neal5(exact=True, update="impute"))
    assert {"height_mean", "weight_height_covariance", "base_height_scale"} <= set(fit.datatree["posterior"])
    assert fit.sampler == samplers.Auto(pilot=False).choose(fit.model, fit.plan.z, 1000, None)[0]
    laplace = mechanisms.VectorLaplace(MECHANISM.names, MECHANISM.box, epsilon=4.0)
    model = privmix.default_model(laplace)
    chosen, why = samplers.Auto().choose(model, np.zeros((5, 2)), 10_000, None)
    assert chosen == samplers.Slice(records="augmented")
    assert "mixture of normal noise" in why


KNOWN = mechanisms.Each([(f"y{j}", mechanisms.Identity((0.0, 10.0))) for j in range(5)])


def test_known_rows_are_offered_an_atom_for_each_record():
    model = privmix.PrivateMixture(KNOWN, kernels.MultivariateNormal.for_mechanism(KNOWN))
    assert samplers.Auto().choose(model, np.full((5, 5), 3.0), 10_000, None)[0] == samplers.Neal8(
        auxiliaries=1, update="impute"
    )


def mixture_at(fit, points):
    """Return the mean density of pairs by SciPy's formula, from the draws."""
    posterior = fit.datatree["posterior"]
    weight = np.nan_to_num(posterior["weight"].values)
    names = ("height_mean", "weight_mean", "height_variance", "weight_height_covariance", "weight_variance")
    m1, m2, a, c, b = (np.where(weight > 0.0, posterior[name].values, 1.0) for name in names)
    c = np.where(weight > 0.0, c, 0.0)
    for x, y in points:
        det = a * b - c * c
        away = (b * (x - m1) ** 2 - 2.0 * c * (x - m1) * (y - m2) + a * (y - m2) ** 2) / det
        yield float((weight * np.exp(-0.5 * away) / (2.0 * np.pi * np.sqrt(det))).sum(axis=-1).mean())


def test_joint_density_marginals_and_conditionals_are_one_law(fit):
    x, y = np.linspace(-3.0, 13.0, 81), np.linspace(-14.0, 14.0, 141)
    joint = fit.density({"height": x, "weight": y})["mean"]
    points = [(5.0, 0.0), (6.0, 1.0), (4.0, 3.0)]
    found = [fit.density({"height": [a], "weight": [b]})["mean"].item() for a, b in points]
    assert found == pytest.approx(list(mixture_at(fit, points)), rel=1e-9)
    swapped = fit.density({"weight": [1.0], "height": [6.0]})["mean"].item()
    assert swapped == pytest.approx(found[1], rel=1e-9)
    over = joint.sum("weight") * (y[1] - y[0])
    assert fit.marginal("height").density(x)["mean"].values == pytest.approx(over.values, abs=2e-4)
    # f(weight|height) f(height) is the joint density, draw by draw.
    given = fit.conditional("weight", height=6.0)
    ratio = (
        fit.density_draws({"height": [6.0], "weight": y}).values[:, :, 0] / fit.density_draws({"height": [6.0]}).values
    )
    assert given.density_draws(y).values == pytest.approx(ratio, rel=1e-6, abs=1e-12)
    assert given.moments()["mean"].sel(moment="mean").item() == pytest.approx(2.0, abs=0.8)


def test_other_answers(fit, tmp_path):
    assert fit.marginal("weight").quantile([0.5])["mean"].item() == pytest.approx(0.0, abs=1.0)
    assert len(fit.marginal("weight").plan.z) == 135
    rows = fit.predictive(4000, seed=1).to_dataframe()
    assert list(rows) == ["height", "weight", "released_height", "released_weight"]
    correlation = fit.correlation()["mean"].sel(column="height", other="weight").item()
    assert np.corrcoef(rows["height"], rows["weight"])[0, 1] == pytest.approx(correlation, abs=0.06)
    assert correlation > 0.8
    assert fit.mutual_information()["mean"].sel(column="height", other="weight").item() > 0.5
    assert fit.plot()[0, 1].texts[0].get_text().startswith("correlation")
    assert fit.predict(fit.plan.z[:5]).shape == (5,)
    fit.save(tmp_path / "fit.nc")
    again = privmix.load(tmp_path / "fit.nc")
    assert again.model == fit.model
    assert np.array_equal(again.arrays.atom, fit.arrays.atom, equal_nan=True)
    assert fit.clustering().sizes.sum() == 150
