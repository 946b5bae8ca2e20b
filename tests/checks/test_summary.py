"""Diagnostics: honest where a chain did not move, and those of ArviZ elsewhere."""

import warnings

import numpy as np
import pandas as pd
import pytest

from privmix import PrivateMixture, kernels, mechanisms, priors, samplers
from privmix.checks.summary import summarise

pytestmark = pytest.mark.xdist_group("fits")

MECHANISM = mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0))
Z = MECHANISM.privatize(np.random.default_rng(1).normal(1.0, 2.0, 30), seed=1)


@pytest.fixture(scope="module")
def posterior():
    return PrivateMixture(MECHANISM, prior=priors.DirichletProcess((2.0, 1.0))).sample(
        Z, draws=100, warmup=20, thin=1, chains=2, seed=1
    )


@pytest.fixture(scope="module")
def arviz():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("arviz")


def moving(chains=3, draws=50):
    return np.random.default_rng(1).normal(size=(chains, draws)).cumsum(axis=1)


def test_still_chains_are_named_and_have_no_ess():
    one, two, every = moving(), moving(), moving()
    one[1] = 4.0
    two[[0, 2]] = [[1.0], [2.0]]
    every[:] = 7.0
    table = summarise({"one": one, "two": two, "every": every, "none": moving()})
    assert table["note"].to_dict() == {
        "one": "chain 2 never moved",
        "two": "chain 1, 3 never moved",
        "every": "no chain moved",
        "none": "",
    }
    missing = ["ess_bulk", "ess_tail", "r_hat"]
    assert table.loc[["one", "two", "every"], missing].isna().all(axis=None)
    assert table.loc["none", missing].notna().all()
    assert (table.loc["every", "mean"], table.loc["every", "sd"]) == (7.0, 0.0)


def test_few_or_infinite_draws_are_named():
    broken = moving()
    broken[0, 0] = np.nan
    table = summarise({"few": moving(draws=3), "broken": broken})
    assert table["note"].to_dict() == {"few": "too few draws", "broken": "not finite"}
    assert table[["ess_bulk", "r_hat"]].isna().all(axis=None)


def test_numbers_are_those_of_arviz(arviz):
    """The older ArviZ has code of its own for these."""
    values = moving(4, 200)
    row = summarise({"x": values}).loc["x"]
    assert row["ess_bulk"] == pytest.approx(float(arviz.ess(values, method="bulk")), rel=1e-9)
    assert row["ess_tail"] == pytest.approx(float(arviz.ess(values, method="tail", prob=(0.05, 0.95))), rel=1e-9)
    assert row["r_hat"] == pytest.approx(float(arviz.rhat(values)), rel=1e-9)
    assert (row["mean"], row["sd"]) == pytest.approx((values.mean(), values.std()))


def test_summary_of_a_posterior(posterior):
    table = posterior.summary()
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == ["mean", "sd", "ess_bulk", "ess_tail", "r_hat", "note"]
    names = list(table.index)
    assert names[:2] == ["n_clusters", "concentration"]
    assert names[-1] == "acceptance"
    assert len([name for name in names if name.startswith("density at ")]) == 5
    draws = posterior.datatree["posterior"].to_dataset()
    assert table.loc["n_clusters", "mean"] == pytest.approx(float(draws["n_clusters"].mean()))
    exact = summarise({"c": draws["concentration"].values}).loc["c"]
    assert table.loc["concentration"].to_dict() == exact.to_dict()
    rate = posterior.datatree["sample_stats"]["acceptance"]
    assert table.loc["acceptance", "mean"] == pytest.approx(posterior.acceptance) == pytest.approx(float(rate.mean()))
    assert 0.0 < posterior.acceptance < 1.0


def test_points_of_the_density_can_be_chosen(posterior):
    table = posterior.summary(at=[0.0, 2.5])
    values = posterior.density_draws([0.0, 2.5]).values
    assert table.loc["density at 2.5", "mean"] == pytest.approx(values[..., 1].mean())
    single = posterior.summary(at=2.5)
    assert single.loc["density at 2.5"].to_dict() == table.loc["density at 2.5"].to_dict()


def test_points_that_are_close_keep_rows_of_their_own(posterior):
    table = posterior.summary(at=[1.00001, 1.00002, 1e6 + 0.001, 1e6 + 0.002])
    assert len([name for name in table.index if name.startswith("density at ")]) == 4


def test_hyperparameters_are_followed():
    kernel = kernels.HierarchicalNormal((-10.0, 10.0))
    posterior = PrivateMixture(MECHANISM, kernel).sample(Z, draws=20, warmup=5, thin=1, chains=2, seed=1)
    table = posterior.summary()
    assert {"base_location", "base_spread", "base_rate"} <= set(table.index)
    assert "concentration" not in table.index
    assert (posterior.datatree["posterior"]["base_spread"] > 0.0).all()


def test_revealed_records_have_no_acceptance():
    posterior = PrivateMixture(mechanisms.Identity()).sample(
        [0.0, 1.0, 5.0], samplers.Slice(), draws=20, warmup=5, thin=1, chains=2, seed=1
    )
    assert np.isnan(posterior.acceptance)
    assert np.isnan(posterior.summary().loc["acceptance", "mean"])


def test_arviz_reads_the_draws(posterior, arviz):
    dataset = posterior.datatree["posterior"].to_dataset()
    assert dataset["n_clusters"].dims == ("chain", "draw")
    assert dataset["allocation"].dims == ("chain", "draw", "record")
    assert dataset["weight"].dims == dataset["mean"].dims == ("chain", "draw", "component")
    assert {"posterior", "sample_stats", "observed_data"} == set(posterior.datatree.children)
    table = arviz.summary(dataset, var_names=["n_clusters", "concentration"], round_to="none")
    mine = posterior.summary()
    for name in ("n_clusters", "concentration"):
        assert table.loc[name, "mean"] == pytest.approx(mine.loc[name, "mean"])
        assert table.loc[name, "ess_bulk"] == pytest.approx(mine.loc[name, "ess_bulk"], rel=1e-6)
        assert table.loc[name, "r_hat"] == pytest.approx(mine.loc[name, "r_hat"], rel=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        groups = {name: posterior.datatree[name].to_dataset() for name in posterior.datatree.children}
        data = arviz.InferenceData(**groups)
    assert float(arviz.ess(data, var_names=["concentration"])["concentration"]) > 0.0


def test_text_of_a_posterior(posterior):
    assert repr(posterior) == (
        "<privmix.Posterior: Normal × Laplace × DirichletProcess, SplitMerge, 2 chains × 100 draws, 30 records>"
    )
    assert (posterior.chains, posterior.draws) == (2, 100)
    assert isinstance(posterior.sampler, samplers.SplitMerge)
    assert posterior.model.mechanism == MECHANISM
