"""The draws open in ArviZ, in the version that is installed; what the other one takes is skipped, and says so."""

import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest

import privmix
from privmix import mechanisms, samplers

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    az = pytest.importorskip("arviz")

pytestmark = [pytest.mark.xdist_group("fits"), pytest.mark.filterwarnings("ignore")]

VERSION = int(az.__version__.split(".")[0])
NEW = pytest.mark.skipif(VERSION < 1, reason=f"needs ArviZ 1.0 or later; {az.__version__} is installed")
OLD = pytest.mark.skipif(VERSION >= 1, reason=f"needs ArviZ 0.x; {az.__version__} is installed")
NAMES = ["n_clusters", "base_location"]


@pytest.fixture(scope="module")
def posterior():
    matplotlib.use("agg")
    mechanism = mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))
    y = pd.Series(np.linspace(-3.0, 3.0, 20), index=[f"p{i}" for i in range(20)], name="income")
    z = mechanism.privatize(y, seed=1)
    return privmix.fit(z, mechanism, sampler=samplers.Neal5(), draws=50, warmup=50, chains=2, seed=1)


def check_table(table, posterior):
    for name in NAMES:
        assert float(table.loc[name, "mean"]) == pytest.approx(
            float(posterior.dataset[name].mean()), rel=0.05, abs=0.05
        )


def test_dataset_in_any_version(posterior):
    check_table(az.summary(posterior.dataset, var_names=NAMES, round_to=4), posterior)
    assert az.plot_trace(posterior.dataset, var_names=NAMES) is not None


@NEW
def test_datatree_as_it_is(posterior):
    check_table(az.summary(posterior.datatree, var_names=NAMES, round_to=4), posterior)
    for plot in (az.plot_trace, az.plot_dist, az.plot_forest, az.plot_rank):
        assert plot(posterior.datatree, var_names=NAMES) is not None
    found = az.convert_to_datatree(posterior.datatree)
    assert found["posterior"]["record"].values.tolist() == posterior.dataset["record"].values.tolist()


@OLD
def test_datatree_through_inference_data(posterior):
    data = az.InferenceData.from_datatree(posterior.datatree)
    assert {"posterior", "sample_stats", "observed_data"} == set(data.groups())
    check_table(az.summary(data, var_names=NAMES, round_to=4), posterior)
    for plot in (az.plot_trace, az.plot_posterior, az.plot_forest, az.plot_rank):
        assert plot(data, var_names=NAMES) is not None


def test_saved_file(posterior, tmp_path):
    posterior.save(tmp_path / "fit.nc")
    found = az.from_netcdf(tmp_path / "fit.nc")
    assert np.array_equal(found["posterior"]["n_clusters"].values, posterior.n_clusters.values)
    assert found["posterior"]["record"].values.tolist() == posterior.dataset["record"].values.tolist()
