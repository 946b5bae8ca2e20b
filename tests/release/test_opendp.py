"""What OpenDP itself makes, read, fitted and compared with the truth; skipped where it is not installed.

OpenDP takes no seed, so its draws differ from run to run: the limits are far from what any run gives.
"""

import numpy as np
import pytest
from scipy import stats

import privmix
from privmix.mechanisms import Clamped, Laplace
from privmix.release import Release
from privmix.release.readers import read_opendp, read_opendp_histogram
from privmix.release.readers.stated import StatedDiscreteLaplace as DiscreteLaplace
from privmix.release.readers.stated import StatedHistogram as NoisyHistogram

dp = pytest.importorskip("opendp.prelude", reason="OpenDP is not installed: pip install 'privmix[opendp]'")

PEOPLE, CELLS, SCALE = 1000, 100, 5.0
EDGES = np.linspace(0.0, 100.0, CELLS + 1)


@pytest.fixture(autouse=True)
def contrib():
    dp.enable_features("contrib")


def people(seed=1):
    rng = np.random.default_rng(seed)
    return np.clip(np.where(rng.random(PEOPLE) < 0.4, rng.normal(20, 4, PEOPLE), rng.normal(60, 8, PEOPLE)), 0, 99.99)


def opendps_histogram(y, kind):
    """Return OpenDP's noisy counts by category; unsigned ones are set to 0 where they fall below."""
    space = dp.vector_domain(dp.atom_domain(T="i32")), dp.symmetric_distance()
    categories = list(range(CELLS))
    counts = dp.t.make_count_by_categories(
        *space, categories=categories, null_category=False, TOA=kind, MO=f"L1Distance<{kind}>"
    )
    return (counts >> dp.m.then_laplace(scale=SCALE))(np.floor(y).astype(int).tolist())


def write_table(path, counts):
    rows = [f"{lower:g},{upper:g},{count}" for lower, upper, count in zip(EDGES, EDGES[1:], counts, strict=False)]
    path.write_text("\n".join(["lower,upper,count", *rows]), encoding="utf-8")
    return path


def test_unsigned_counts_are_clamped_and_signed_ones_are_not(tmp_path):
    clamped, signed = (opendps_histogram(people(), kind) for kind in ("u32", "i64"))
    assert min(clamped) == 0
    assert min(signed) < 0
    noisy = NoisyHistogram(PEOPLE, EDGES, "discrete laplace", scale=SCALE, neighbours="add-remove")
    read = read_opendp_histogram(write_table(tmp_path / "u.csv", clamped), "laplace", SCALE, records=PEOPLE)
    assert read == Release(np.array(clamped, dtype=float), Clamped(noisy, lower=0.0))
    path = write_table(tmp_path / "i.csv", signed)
    assert read_opendp_histogram(path, "laplace", SCALE, clamped=False, records=PEOPLE).mechanism == noisy
    with pytest.raises(ValueError, match=r"row \d+ of column 'count' in .* which cannot be after this"):
        read_opendp_histogram(path, "laplace", SCALE, records=PEOPLE)


def true_shares():
    cdf = 0.4 * stats.norm.cdf(EDGES, 20, 4) + 0.6 * stats.norm.cdf(EDGES, 60, 8)
    return np.diff(cdf)


def error_of(posterior):
    return np.abs(np.diff(posterior.cdf(EDGES)["mean"].values) - true_shares()).sum()


def test_fit_of_opendps_histogram_is_near_the_truth_where_its_counts_are_not(tmp_path):
    counts = opendps_histogram(people(), "u32")
    release = read_opendp_histogram(write_table(tmp_path / "u.csv", counts), "laplace", SCALE, records=PEOPLE)
    posterior = privmix.fit(release, draws=150, warmup=150, thin=1, chains=2, seed=1)
    error = error_of(posterior)
    naive = np.abs(np.array(counts) / sum(counts) - true_shares()).sum()
    assert error < 0.7 * naive
    assert error < 0.3


def test_fit_of_opendps_laplace_is_near_the_truth_where_its_values_are_not(tmp_path):
    """Noise of scale 8 on multiples of 1/2 about records in [0, 100]: the spread of the values is too wide."""
    space = dp.atom_domain(T="f64", nan=False), dp.absolute_distance(T="f64")
    measurement = dp.m.make_laplace(*space, scale=8.0, k=-1)
    y = people()
    values = [measurement(value) for value in y.tolist()]
    path = tmp_path / "z.csv"
    path.write_text("\n".join(["z", *map(str, values)]), encoding="utf-8")
    release = read_opendp(path, "laplace", 8.0, -1, bounds=(0.0, 100.0))
    assert release == Release(values, DiscreteLaplace(scale=8.0, step=0.5, bounds=(0.0, 100.0)))
    posterior = privmix.fit(release, draws=150, warmup=1500, thin=5, chains=2, seed=1)
    assert error_of(posterior) < 0.8 * np.abs(np.histogram(values, EDGES)[0] / PEOPLE - true_shares()).sum()
    with pytest.raises(ValueError, match=r"row \d+ of column 'z' in .* but this noise leads to multiples of 1 alone"):
        read_opendp(path, "laplace", 8.0, 0)


def test_a_hardened_release_goes_out_comes_back_and_is_fitted(tmp_path):
    mechanism = Laplace(scale=8.0, bounds=(0.0, 100.0))
    release = Release.from_data(people(), mechanism, hardened=True)
    release.save(tmp_path / "out.csv")
    loaded = Release.load(tmp_path / "out.csv")
    assert loaded == release
    assert loaded.guarantee.epsilon == 12.5 + loaded.mechanism.step / 8.0
    posterior = privmix.fit(loaded, draws=150, warmup=1500, thin=5, chains=2, seed=1)
    posterior.save(tmp_path / "fit.nc")
    assert privmix.load(tmp_path / "fit.nc").model.mechanism == release.mechanism
    # Hardened noise has no seed, and one release in a hundred is an unlucky one: the error is that of a simulated one.
    simulated = Release(loaded.mechanism.perturb(np.random.default_rng(3), people()), loaded.mechanism)
    assert error_of(privmix.fit(simulated, draws=150, warmup=1500, thin=5, chains=2, seed=1)) < 0.2
