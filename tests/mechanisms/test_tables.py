"""Several tables of one data set: their common bins, likelihood, guarantee, files and refusals."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from privmix.jit import bind
from privmix.mechanisms import Clamped, Clipped, NoisyHistogram, SmoothedHistogram, Tables, Tree, Withheld
from privmix.mechanisms.histogram import log_counts
from privmix.mechanisms.slots import log_ratio, replace
from privmix.privacy import ZCDP, ApproxDP, PureDP, audit
from privmix.release import Release

BOUNDS, RECORDS = (-3.0, 5.0), 12
FINE = NoisyHistogram(RECORDS, bins=8, epsilon=1.0, bounds=BOUNDS)
COARSE = NoisyHistogram(RECORDS, bins=[-3.0, 0.5, 5.0], noise="discrete gaussian", rho=0.5)
EXAMPLES = [
    Tables(FINE, COARSE),
    Tables(Withheld(NoisyHistogram(RECORDS, 4, "discrete laplace", scale=2.0, bounds=BOUNDS), below=3), FINE, COARSE),
    Tables(NoisyHistogram(RECORDS, [-1.0, 0.0, 1.0], "gaussian", rho=0.2), COARSE),
    Tree(RECORDS, levels=3, epsilon=1.0, bounds=BOUNDS),
]
every = pytest.mark.parametrize("mechanism", EXAMPLES, ids=range(len(EXAMPLES)))


def data(seed, n=RECORDS):
    return np.random.default_rng(seed).uniform(*BOUNDS, n)


def test_common_bins_are_made_by_all_edges_and_are_open_outwards():
    mechanism = Tables(NoisyHistogram(9, [0, 10, 20, 40], epsilon=1.0), NoisyHistogram(9, [5, 20, 30], epsilon=1.0))
    assert mechanism.edges.tolist() == [0, 10, 20, 40]
    assert mechanism.cover.tolist() == [[0, 3], [1, 3], [2, 4]]
    assert mechanism.statistic(np.array([-1.0, 7.0, 12.0, 25.0, 99.0])).tolist() == [2, 1, 2, 3, 2]
    thirds, ninths = (NoisyHistogram(9, bins, epsilon=1.0, bounds=(0.1, 0.8)) for bins in (3, 9))
    assert Tables(thirds, ninths).bin_count == 9  # edges that differ by rounding are one


@every
def test_log_density_is_the_sum_of_those_of_the_tables(mechanism):
    y, other = data(1), data(2)
    z = mechanism.privatize(other, seed=3)
    each = [table.logpdf(part, y) for table, part in zip(mechanism.tables, mechanism.split(z), strict=True)]
    assert mechanism.logpdf(z, y) == pytest.approx(sum(each), rel=1e-12)
    common = np.histogram(y, np.concatenate([[-np.inf], mechanism.edges[1:-1], [np.inf]]))[0]
    assert np.array_equal(mechanism.gather(common), mechanism.statistic(y))
    assert mechanism.log_of_counts(mechanism.encode(z), common) == pytest.approx(sum(each), rel=1e-12)


def use(mechanism, z, statistic, counts, old, new):
    gain = log_ratio(mechanism, z, statistic, old, new)
    replace(mechanism, statistic, old, new)
    return gain, log_counts(mechanism, z, counts)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("mechanism", EXAMPLES[1:2])
def test_hooks_agree_with_the_density(mechanism, compiled):
    run = bind(use, mechanism.hooks(), compiled=compiled)
    for seed in range(8):
        y = data(seed)
        z, new = mechanism.privatize(y, seed=seed), float(np.random.default_rng(seed).uniform(*BOUNDS))
        moved = np.append(new, y[1:])
        statistic, encoded = mechanism.statistic(y), mechanism.encode(z)
        common = np.histogram(y, np.concatenate([[-np.inf], mechanism.edges[1:-1], [np.inf]]))[0].astype(float)
        part = mechanism.numbers() if compiled else mechanism
        gain, whole = run(part, encoded, statistic, common, y[0], new)
        assert gain == pytest.approx(mechanism.logpdf(z, moved) - mechanism.logpdf(z, y), abs=1e-9)
        assert whole == pytest.approx(mechanism.logpdf(z, y), rel=1e-12)
        assert np.array_equal(statistic, mechanism.statistic(moved))


@every
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_hold_all_tables(tmp_path, mechanism, suffix):
    release = Release(mechanism.privatize(data(5), seed=5), mechanism)
    release.save(tmp_path / f"z{suffix}")
    assert Release.load(tmp_path / f"z{suffix}") == release


@every
def test_starts_and_pictures(mechanism):
    z = mechanism.privatize(data(2), seed=2)
    assert mechanism.initial(z).shape == (RECORDS,)
    assert mechanism.estimate(z).shape == (mechanism.bin_count,)
    assert np.isfinite(mechanism.bars(z, *BOUNDS).heights).all()
    assert np.isfinite(mechanism.fill_withheld(z)).all()
    assert mechanism.in_words.startswith(
        f"a trusted holder published {len(mechanism.tables)} tables of the same records"
    )


def test_a_release_is_taken_table_by_table_and_from_a_frame():
    mechanism = EXAMPLES[0]
    z = mechanism.privatize(data(2), seed=2)
    assert np.array_equal(mechanism.check_release(mechanism.split(z)), z)
    assert np.array_equal(mechanism.check_release(pd.DataFrame(mechanism.to_columns(z))), z)


def test_guarantees_add_up():
    laplace = NoisyHistogram(9, 3, epsilon=1.0, bounds=BOUNDS)
    gauss = NoisyHistogram(9, 3, "gaussian", rho=0.2, bounds=BOUNDS)
    both = NoisyHistogram(9, 3, "gaussian", epsilon=1.0, delta=1e-6, bounds=BOUNDS)
    assert Tables(laplace, laplace).guarantee == PureDP(2.0)
    assert Tables(gauss, gauss, laplace).guarantee == ZCDP(0.9)
    assert Tables(both, laplace).guarantee == ApproxDP(2.0, 1e-6)
    assert Tables(both, gauss).guarantee == ApproxDP(1.0 + ZCDP(0.2).approx(1e-6).epsilon, 2e-6)
    assert Tree(None, 2, epsilon=1.0, neighbours="add-remove").guarantee == PureDP(1.0, neighbours="add-remove")


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_audit_of_tables_is_the_sum(relation):
    fine = NoisyHistogram(3, 3, epsilon=1.0, bounds=BOUNDS, neighbours=relation)
    coarse = NoisyHistogram(3, [-3.0, 1.0, 5.0], "discrete laplace", epsilon=0.5, neighbours=relation)
    found = audit(Tables(fine, coarse))
    assert found.worst == pytest.approx(1.5, rel=1e-9)
    assert found.tight
    smooth = NoisyHistogram(3, [-3.0, 1.0, 5.0], "gaussian", rho=0.2, neighbours=relation)
    whole = NoisyHistogram(3, 3, "discrete gaussian", rho=0.3, bounds=BOUNDS, neighbours=relation)
    assert audit(Tables(smooth, whole)).worst == pytest.approx(0.5, rel=1e-9)


def test_the_tree_has_a_level_for_each_power_and_a_total_where_n_is_unknown():
    known = Tree(100, levels=3, branching=4, epsilon=1.5, bounds=BOUNDS)
    assert [table.bin_count for table in known.tables] == [4, 16, 64]
    assert {table.epsilon for table in known.tables} == {0.5}
    unknown = Tree(None, levels=2, noise="gaussian", rho=0.3, bounds=BOUNDS, neighbours="add-remove")
    assert [table.bin_count for table in unknown.tables] == [1, 2, 4]
    assert unknown.guarantee.rho == pytest.approx(0.3)
    assert unknown.records_unknown
    assert unknown.count_records(np.array([50.0, 20.0, 31.0, 5.0, 14.0, 16.0, 17.0])) == 50


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tables(FINE), "Tables joins at least two tables; got 1"),
        (
            lambda: Tables(FINE, SmoothedHistogram(12, 4, 5, epsilon=1.0, bounds=BOUNDS)),
            "Tables joins noisy histograms",
        ),
        (lambda: Tables(FINE, NoisyHistogram(13, 4, epsilon=1.0, bounds=BOUNDS)), "records is 12, 13. Make them agree"),
        (
            lambda: Tables(FINE, NoisyHistogram(12, 4, epsilon=1.0, bounds=BOUNDS, neighbours="add-remove")),
            "neighbours is 'replace', 'add-remove'",
        ),
        (lambda: Tables(FINE, Clipped(FINE)), "does not join clipped histograms"),
        (lambda: Clamped(EXAMPLES[0], lower=0), "Tables cannot be fitted after post-processing"),
        (lambda: EXAMPLES[0].check_release(np.zeros(9)), r"releases 8 \+ 2 counts, one table after the other"),
        (
            lambda: EXAMPLES[0].check_release([np.zeros(8), [1.0, 2.5]]),
            "table 2: NoisyHistogram with discrete gaussian",
        ),
        (lambda: EXAMPLES[1].check_release([[3, 2, 5, 6], np.zeros(8), [1, 2]]), "table 1: bin 1 of the release is 2"),
        (lambda: Tree(10, levels=0, epsilon=1.0), "levels must be a whole number of at least 1"),
        (lambda: NoisyHistogram(10, 1, epsilon=1.0, bounds=BOUNDS), "bins must be a whole number of at least 2"),
    ],
)
def test_refusals(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_scale_of_the_tree_is_that_of_its_share():
    mechanism = Tree(100, levels=2, noise="laplace", epsilon=1.0)
    z = mechanism.privatize(np.linspace(0, 1, 100), seed=1)
    assert mechanism.scales.tolist() == [4.0] * 6
    expected = stats.laplace.logpdf(z - mechanism.statistic(np.linspace(0, 1, 100)), scale=4.0).sum()
    assert mechanism.logpdf(z, np.linspace(0, 1, 100)) == pytest.approx(expected)
