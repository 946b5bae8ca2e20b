"""Noisy tables of several columns: masses and draws of cells, exact laws, planted bugs, and what a fit answers."""

import numpy as np
import pytest
from scipy import stats

import privmix
from oracles import histogram_partitions as oracle
from privmix import PrivateMixture, kernels, priors, samplers
from privmix.engine import Plan
from privmix.engine.block import compile_block
from privmix.engine.chains import run_chain
from privmix.jit import bind
from privmix.mechanisms import Clamped, NoisyTable, Withheld, noisy_counts, table_cells
from privmix.pairs import product, tables
from privmix.pairs.slots import bin_masses, draw_in_bin
from privmix.samplers.binned import counts
from privmix.testing import Mutant, enumeration_test, joint_test
from privmix.testing.twin import twin_gap

pytestmark = pytest.mark.xdist_group("columns")

A, B, NAMES, WEIGHT = np.array([-2.0, -0.5, 2.0]), np.array([-2.0, 0.0, 1.0, 4.0]), ("x", "y"), (0.5, 2.0)
KERNEL = kernels.Product(a=kernels.Normal(), c=kernels.Categorical(NAMES, WEIGHT), b=kernels.Normal(mean=1.0))
#: unequal numbers of bins, and a column of categories between two of numbers: what is symmetric hides mistakes
COLUMNS = {"a": A, "c": NAMES, "b": B}


def model_of(columns=COLUMNS, n=10, kernel=KERNEL, processed=lambda table: table, **noise):
    table = processed(NoisyTable(n, columns, **({"noise": "discrete laplace", "scale": 0.5} | noise)))
    return PrivateMixture(table, kernel, priors.DirichletProcess(2.0))


MODEL = model_of()
PROCESSED = model_of(processed=lambda table: Withheld(Clamped(table, lower=0), below=2))
UNKNOWN = model_of(n=None, neighbours="add-remove", expected=(4.0, 0.5))
THETA = np.array([-1.0, 4.0, 0.3, 0.7, 2.0, 9.0])


def theta_of(kernel=KERNEL):
    """Return a row of parameters with its constants."""
    row = np.zeros(kernel.columns)
    row[: len(THETA)] = THETA
    bind(privmix.kernels.slots.prepare, kernel.hooks(), compiled=False)(kernel.numbers(), row)
    return row


def masses(replacements=None):
    out = np.zeros(MODEL.mechanism.bin_count)
    run = bind(bin_masses, {**MODEL.hooks(), **(replacements or {})}, compiled=False)
    run(MODEL.mechanism.numbers(), KERNEL.numbers(), out, theta_of(), out)
    return out.reshape(2, 2, 3)


def expected_masses():
    """Return the product of the masses of the columns, by SciPy; the outermost bins are open."""
    a, b = (np.diff(law.cdf([-np.inf, *e[1:-1], np.inf])) for law, e in ((stats.norm(-1, 2), A), (stats.norm(2, 3), B)))
    return a[:, None, None] * np.array([0.3, 0.7])[:, None] * b


def test_mass_of_a_cell_is_the_product_of_those_of_its_columns():
    assert masses() == pytest.approx(expected_masses(), rel=1e-12)


def test_records_are_drawn_inside_their_cell():
    draw = bind(draw_in_bin, MODEL.hooks(), compiled=False)
    rng, theta, ys = np.random.default_rng(1), theta_of(), np.zeros((12 * 40, 3))
    for i in range(len(ys)):
        draw(MODEL.mechanism.numbers(), KERNEL.numbers(), rng, theta, i % 12, ys, i)
    assert np.array_equal(MODEL.mechanism.bin_of(ys), np.arange(len(ys)) % 12)
    upper = ys[MODEL.mechanism.bin_of(ys) >= 6, 0]  # the second bin of a
    law = stats.truncnorm((-0.5 + 1.0) / 2.0, np.inf, -1.0, 2.0)
    assert stats.kstest(upper, law.cdf).pvalue > 1e-6


SERVING = [samplers.Binned(), samplers.Neal5(), samplers.Slice(), samplers.Slice(records="exact")]


# Compiled code is run by the example of docs/columns.md; what is new in it is compared with SciPy above.
@pytest.mark.long
@pytest.mark.parametrize("sampler", SERVING, ids=repr)
def test_joint_law_is_unchanged(sampler):
    result = joint_test(MODEL, sampler)
    assert not result.rejected, str(result)


@pytest.mark.long
@pytest.mark.parametrize("model", [PROCESSED, UNKNOWN], ids=["withheld", "unknown"])
def test_joint_law_is_unchanged_after_post_processing_and_with_an_unknown_number(model):
    result = joint_test(model, samplers.Binned())
    assert not result.rejected, str(result)


@pytest.mark.long
@pytest.mark.parametrize("sampler", [samplers.Binned(), samplers.Slice(records="exact")], ids=repr)
def test_plain_python_makes_the_same_draws(sampler):
    assert twin_gap(MODEL, sampler, n=10) < 1e-9


def bug(name, *edit):
    return Mutant(name, (edit,), MODEL, samplers.Binned())


BUGS = [
    bug("axes exchanged", product.spread_over_cells, "out[b * count + o] = chance", "out[o * held + b] = chance"),
    bug("noise scale wrong", noisy_counts.NoisyCounts.log_bin, "self.scales[j]", "2.0 * self.scales[j]"),
    bug(
        "a cell counted twice",
        counts.two_in_bins,
        "log_bin(parts.mechanism, data.z, k, other)",
        "log_bin(parts.mechanism, data.z, j, place)",
    ),
    bug("categories exchanged", tables.masses_of_categories, "float(j)", "float(len(out) - 1 - j)"),
    bug("cell of a row by one column", table_cells.cell_of_row, "y[c]", "y[0]"),
]


@pytest.mark.long
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_planted_bugs_are_rejected(bug):
    result = joint_test(bug.model, bug.sampler, replacements=bug.replacements())
    assert result.rejected, str(result)


@pytest.mark.parametrize("bug", [BUGS[0], BUGS[3]], ids=lambda bug: bug.name)
def test_planted_bugs_in_masses_are_seen_at_once(bug):
    assert np.abs(masses(bug.replacements()) - expected_masses()).max() > 0.01


SMALL = {"a": np.array([-2.0, -0.5, 1.0, 2.0]), "c": NAMES}
FOUR = {
    "noisy": model_of(SMALL, 4, KERNEL.only(["a", "c"]), noise="laplace", scale=1.0),
    "withheld": model_of(SMALL, 4, KERNEL.only(["a", "c"]), lambda table: Withheld(table, below=1), scale=1.0),
}
RELEASES = {
    "noisy": np.array([1.7, -0.4, 0.3, 0.8, -0.2, 2.2]),
    "withheld": np.array([2.0, np.nan, np.nan, 1.0, np.nan, 2.0]),
}


def exact_law(case):
    """Return the exact law of the partition of four records: sums over all cells, in SciPy and plain Python."""
    z = RELEASES[case]

    def log_q(counts):
        if case == "noisy":
            return stats.laplace.logpdf(z - counts).sum()
        seen, noise = ~np.isnan(z), stats.dlaplace(1.0)
        return noise.logpmf(z[seen] - counts[seen]).sum() + noise.logcdf(0 - counts[~seen]).sum()

    columns = [
        oracle.moments(4, *oracle.normal_masses(SMALL["a"], 0.0, 0.1, 3.0, 3.0)),
        oracle.dirichlet_moments(4, WEIGHT),
    ]
    return oracle.table_posterior(log_q, 4, columns, concentration=2.0)


@pytest.mark.long
@pytest.mark.parametrize("case", FOUR)
@pytest.mark.parametrize("sampler", [samplers.Binned(), samplers.Slice(records="exact")], ids=repr)
def test_partitions_follow_their_exact_law(case, sampler):
    result = enumeration_test(FOUR[case], sampler, RELEASES[case], exact_law(case), chains=4000, sweeps=80)
    assert result.p_value > 1e-6, str(result)


@pytest.mark.long
@pytest.mark.parametrize("bug", BUGS[:2], ids=lambda bug: bug.name)
def test_planted_bugs_are_seen_by_enumeration(bug):
    law, how = exact_law("noisy"), {"chains": 20_000, "sweeps": 40, "replacements": bug.replacements()}
    result = enumeration_test(FOUR["noisy"], samplers.Binned(), RELEASES["noisy"], law, **how)
    assert result.p_value < 1e-6, str(result)


def fitted(table, z, draws=40):
    """Return a fit of a table by chains in plain Python, which need no compiling."""
    model = privmix.default_model(table)
    plan = Plan(model, samplers.Binned(), table.check_release(z), draws, draws, 1, allocations=False)
    run = compile_block(model, samplers.Binned(), compiled=False)
    chains = [run_chain(plan, seed, run=run) for seed in np.random.SeedSequence(1).spawn(2)]
    return privmix.posterior.posterior.Posterior.from_chains(plan, chains, complete=1, seeded=1)


TWO = {"age": (4, (0, 100)), "income": [0, 4, 10]}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(1)
    young = rng.random(300) < 0.4
    y = np.column_stack([np.where(young, 25.0, 70.0), np.where(young, 2.0, 6.0)]) + rng.normal(size=(300, 2))
    return y.clip(0.0, [100.0, 10.0])


@pytest.fixture(scope="module")
def fit(people):
    table = NoisyTable(300, TWO, epsilon=4.0)
    return fitted(table, table.privatize(people, seed=1))


def test_default_model_follows_from_the_columns():
    model = privmix.default_model(Clamped(NoisyTable(9, age=(4, (0, 100)), sex=("f", "m"), epsilon=1.0), lower=0))
    assert model.kernel == kernels.Product(age=kernels.TruncatedNormal((0, 100)), sex=kernels.Categorical(("f", "m")))
    chosen, why = samplers.Auto().choose(model, np.zeros(8), 100, None)
    assert (chosen, why[-14:]) == (samplers.Binned(), "table of cells")


def test_a_fit_answers_by_column(fit, people):
    assert fit.records == 300
    age = fit.marginal("age")
    assert list(age.plan.z) == pytest.approx(list(fit.plan.z.reshape(4, 2).sum(axis=1)))
    assert age.quantile([0.5])["mean"].shape == (1,)
    mean = fit.marginal("income").moments().sel(moment="mean")
    assert float(mean["mean"]) == pytest.approx(people[:, 1].mean(), abs=0.7)
    assert float(fit.correlation()["mean"][0, 1]) > 0.5
    assert float(fit.mutual_information()["mean"][0, 1]) > 0.1
    low, high = (float(fit.conditional("income", age=a).moments()["mean"][0]) for a in (25.0, 70.0))
    assert low < 4.0 < high
    joint = fit.density({"age": np.linspace(1, 99, 5), "income": [2.0, 6.0]})
    assert dict(joint.sizes) == {"age": 5, "income": 2}
    made = fit.predictive(2, seed=1)
    assert made["age"].dims == ("sample", "record")
    assert made["z"].shape == (2, 8)


def test_a_fit_is_checked_against_the_whole_table(fit):
    titles = [finding.title for finding in fit.check(replicates=40)]
    assert titles.count("fit to the release") == 1
    found = fit.predictive_check(replicates=40)
    assert str(found["bar_name"].values[1]) == "age 0 to 25, income 4 to 10"
    assert fit.marginal("age").predictive_check(replicates=40)["p_value"].shape == (3,)
    with pytest.raises(ValueError, match="NoisyTable releases a summary of the whole data set"):
        fit.predict([[20.0, 3.0]])


def test_a_wrong_table_is_found_by_its_cells(fit):
    """A release with the same columns but no dependence: the cells on the diagonal give it away."""
    moved = np.outer(*[fit.plan.z.reshape(4, 2).sum(axis=k) for k in (1, 0)]).reshape(-1) / fit.plan.z.sum()
    other = type(fit)(privmix.engine.chains.replace(fit.plan, z=moved), fit.arrays, fit.ends, fit.datatree)
    found = [f for f in other.check(replicates=40) if "fit to the release" in f.title]
    assert found[0].level == "warning"
    assert "the cell age" in found[0].text


def test_a_fit_is_saved_and_drawn(fit, tmp_path):
    fit.save(tmp_path / "fit.nc")
    again = privmix.load(tmp_path / "fit.nc")
    assert again.model == fit.model
    assert np.array_equal(again.arrays.weight, fit.arrays.weight, equal_nan=True)
    assert fit.plot().shape == (2, 2)


@pytest.mark.long
def test_a_fit_is_reported(fit, tmp_path):
    fit.report(tmp_path / "fit.html", informativeness=False)
    assert "each cell of age × income" in (tmp_path / "fit.html").read_text()


def test_an_unknown_number_of_records_is_learned_from_what_was_published(people):
    table = Withheld(NoisyTable(None, TWO, epsilon=2.0, neighbours="add-remove"), below=3)
    fit = fitted(table, table.privatize(people, seed=2), draws=30)
    assert abs(float(fit.record_count()["mean"]) - 300) < 40
    assert fit.predictive_check(replicates=20)["p_value"].min() > 0.0
    with pytest.raises(ValueError, match="depends on the others here"):
        fit.marginal("age").predictive_check(replicates=20)


def test_other_kernels_and_samplers_are_refused_in_words():
    table = NoisyTable(9, TWO, epsilon=1.0)
    model = PrivateMixture(table, kernels.MultivariateNormal(("age", "income")))
    with pytest.raises(ValueError, match=r"^Binned\(\) keeps counts of bins: NoisyTable noise on a MultivariateNormal"):
        samplers.Binned().check(model)
    with pytest.raises(ValueError, match="NoisyTable makes one release of all of them"):
        samplers.Neal8().check(privmix.default_model(table))
    with pytest.raises(ValueError, match="both must name the same columns in the same order"):
        PrivateMixture(table, KERNEL.only(["a", "b"]))
    with pytest.raises(ValueError, match=r"^column 'sex': NoisyTable is for the categories f, m, but Normal"):
        PrivateMixture(
            NoisyTable(9, age=TWO["age"], sex=("f", "m"), epsilon=1.0),
            kernels.Product(age=kernels.Normal(), sex=kernels.Normal()),
        )
