"""Releases come back as what the data came in, and labels go through a fit, a file and a longer run."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import privmix
from privmix import mechanisms, samplers

pytestmark = pytest.mark.xdist_group("fits")

BOUNDS = (-10.0, 10.0)
MECHANISM = mechanisms.Laplace(epsilon=10.0, bounds=BOUNDS)
HAAR = mechanisms.HaarWavelet(levels=1, epsilon=5.0, bounds=BOUNDS)
Y = np.linspace(-4.0, 4.0, 12)
WHO = [f"p{i}" for i in range(12)]
SERIES = pd.Series(Y, index=pd.Index(WHO, name="who"), name="income")
Z = MECHANISM.privatize(Y, seed=1)
FEW = {"draws": 30, "warmup": 30, "chains": 2, "seed": 1, "sampler": samplers.Neal5()}


def test_pandas():
    series = MECHANISM.privatize(SERIES, seed=1)
    pd.testing.assert_series_equal(series, pd.Series(Z, index=SERIES.index, name="income"))
    frame = MECHANISM.privatize(SERIES.to_frame(), seed=1)
    pd.testing.assert_frame_equal(frame, series.to_frame())
    rows = HAAR.privatize(SERIES, seed=1)
    assert list(rows.columns) == ["income_0", "income_1", "income_2"]
    assert rows.index.equals(SERIES.index)
    assert np.array_equal(rows.to_numpy(), HAAR.privatize(Y, seed=1))
    assert np.array_equal(HAAR.check_release(rows), rows.to_numpy())


def test_polars():
    assert MECHANISM.privatize(pl.Series("income", Y), seed=1).equals(pl.Series("income", Z), check_names=True)
    rows = HAAR.privatize(pl.Series("income", Y), seed=1)
    assert isinstance(rows, pl.DataFrame)
    assert rows.columns == ["income_0", "income_1", "income_2"]
    assert MECHANISM.privatize(pl.DataFrame({"income": Y}), seed=1).equals(pl.DataFrame({"income": Z}))


def test_pyarrow():
    assert MECHANISM.privatize(pa.array(Y), seed=1).equals(pa.array(Z))
    assert MECHANISM.privatize(pa.chunked_array([Y[:5], Y[5:]]), seed=1).equals(pa.chunked_array([Z]))
    assert MECHANISM.privatize(pa.table({"income": Y}), seed=1).equals(pa.table({"income": Z}))
    assert HAAR.privatize(pa.array(Y), seed=1).column_names == ["z_0", "z_1", "z_2"]


def test_xarray_keeps_its_index_and_no_other_coordinate():
    exact = xr.DataArray(Y, {"who": WHO, "confidential": ("who", Y)}, "who", name="income", attrs={"mean": Y.mean()})
    wanted = xr.DataArray(Z, {"who": WHO}, "who", name="income")
    assert MECHANISM.privatize(exact, seed=1).identical(wanted)
    rows = HAAR.privatize(exact, seed=1)
    assert rows.dims == ("who", "coefficient")
    assert list(rows.coords) == ["who"]
    stacked = exact.drop_vars("who").assign_coords(town=("who", WHO), house=("who", Y)).set_index(who=["town", "house"])
    kept = MECHANISM.privatize(stacked, seed=1)
    assert sorted(kept.coords) == ["house", "town", "who"]
    assert np.array_equal(kept, Z)


def test_lists_give_arrays():
    assert type(MECHANISM.privatize(list(Y), seed=1)) is np.ndarray


def test_one_release_of_all_records_is_a_table():
    histogram = mechanisms.NoisyHistogram(12, bins=4, epsilon=5.0, bounds=BOUNDS)
    counts = histogram.privatize(Y, seed=1)
    for given in (SERIES, pl.Series(Y), xr.DataArray(Y, dims="who")):
        table = histogram.privatize(given, seed=1)
        assert list(getattr(table, "columns", table)) == ["lower", "upper", "count"]
        assert np.array_equal(np.asarray(table["count"]), counts)
        assert np.array_equal(histogram.check_release(table), counts)
    with pytest.raises(ValueError, match="it needs lower, upper, count"):
        histogram.check_release(pd.DataFrame({"count": counts}))
    with pytest.raises(ValueError, match="are not the edges"):
        histogram.check_release(histogram.privatize(SERIES, seed=1).assign(lower=0.0))


def test_clipping_is_counted_at_the_callers_line():
    with pytest.warns(UserWarning, match=r"^1 of 12 values lie outside") as caught:
        MECHANISM.privatize(SERIES.replace(4.0, 40.0), seed=1)
    assert caught[0].filename == __file__


@pytest.fixture(scope="module")
def posterior():
    return privmix.fit(MECHANISM.privatize(SERIES, seed=1), MECHANISM, **FEW)


def test_labels_go_through_a_fit(posterior):
    plain = privmix.fit(Z, MECHANISM, **FEW)
    assert np.array_equal(posterior.dataset["allocation"], plain.dataset["allocation"])
    assert "record" not in plain.dataset.coords
    assert posterior.dataset["record"].values.tolist() == WHO
    observed = posterior.datatree["observed_data"].to_dataset()["z"]
    assert observed["record"].values.tolist() == WHO
    assert observed.attrs["long_name"] == "income"
    assert posterior.similarity().sel(record="p3", record2="p3") == 1.0
    new = pd.Series([0.0, 1.0], index=["q", "r"])
    assert posterior.predict_proba(new)["record"].values.tolist() == ["q", "r"]


@pytest.mark.parametrize("given", [pl.Series("income", Z), pa.chunked_array([Z]), pd.DataFrame({"income": Z})])
def test_same_draws_whatever_holds_the_release(posterior, given):
    assert np.array_equal(privmix.fit(given, MECHANISM, **FEW).dataset["weight"], posterior.dataset["weight"])


def test_clusters_join_by_label(posterior):
    shuffled = SERIES.to_frame().sample(frac=1.0, random_state=1)
    estimate = posterior.clustering()
    joined = shuffled.join(estimate.to_frame())
    assert joined.loc[WHO, "cluster"].tolist() == estimate.labels.tolist()
    assert joined.loc[WHO, "certainty"].tolist() == estimate.certainty.tolist()
    assert privmix.fit(Z, MECHANISM, **FEW).clustering().to_frame().index.tolist() == list(range(12))


def test_labels_survive_a_file_and_a_longer_run(posterior, tmp_path):
    posterior.save(tmp_path / "fit.nc")
    loaded = privmix.load(tmp_path / "fit.nc")
    for longer in (posterior.resume(5), loaded.resume(5)):
        assert longer.dataset["record"].values.tolist() == WHO
        assert longer.datatree["observed_data"]["z"].attrs["long_name"] == "income"
        assert longer.clustering().index.tolist() == WHO


@pytest.mark.parametrize(
    "index",
    [
        pd.MultiIndex.from_product([["a", "b"], range(6)], names=["town", "house"]),
        pd.date_range("2020-01-01", periods=12),
        pd.RangeIndex(5, 17),
    ],
    ids=["levels", "times", "range"],
)
def test_other_indices_survive_a_file(index, tmp_path):
    posterior = privmix.fit(pd.Series(Z, index=index), MECHANISM, **FEW)
    posterior.save(tmp_path / "fit.nc")
    for found in (posterior, privmix.load(tmp_path / "fit.nc")):
        kept = found.clustering().to_frame().index
        assert kept.equals(index) or kept.tolist() == index.tolist()
        assert found.dataset.sizes["record"] == 12


def test_names_of_coefficients_are_kept():
    posterior = privmix.fit(HAAR.privatize(SERIES, seed=1), HAAR, **FEW)
    observed = posterior.datatree["observed_data"].to_dataset()
    assert observed["coefficient"].values.tolist() == ["income_0", "income_1", "income_2"]
    assert observed["record"].values.tolist() == WHO
