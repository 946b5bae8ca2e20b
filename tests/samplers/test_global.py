"""One release of all records: exact laws at n = 4, rounding to bins, refusals, resuming."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from mutants import count_bugs
from oracles import histogram_partitions as oracle
from privmix import PrivateMixture, fit, kernels, mechanisms, priors, samplers
from privmix.mechanisms import GlobalMechanism
from privmix.samplers.base import impute
from privmix.samplers.binned.bins import find_bins
from privmix.samplers.binned.slots import bin_of_record
from privmix.testing import enumeration_test, joint_test
from privmix.testing.joint import _paired_z, run_pairs
from privmix.testing.simulate import simulate_latent, simulate_release
from record import note
from samplers.cases import SAMPLERS, rest_long, serves

UNIT, EDGES = (0.0, 1.0), np.array([-2.0, -0.5, 1.0, 2.0])
MODELS = {
    "beta, smoothed": PrivateMixture(mechanisms.SmoothedHistogram(4, 3, 5, epsilon=8.0, bounds=UNIT), kernels.Beta()),
    "beta, noisy": PrivateMixture(mechanisms.NoisyHistogram(4, 3, epsilon=2.0, bounds=UNIT), kernels.Beta()),
    "normal, noisy": PrivateMixture(mechanisms.NoisyHistogram(4, EDGES, epsilon=2.0), kernels.Normal()),
    "normal, withheld": PrivateMixture(
        mechanisms.Withheld(
            mechanisms.Clamped(mechanisms.NoisyHistogram(4, EDGES, "discrete laplace", scale=1.0), lower=0), below=2
        ),
        kernels.Normal(),
    ),
    "normal, tables": PrivateMixture(
        mechanisms.Tables(
            mechanisms.NoisyHistogram(4, EDGES, scale=1.0),
            mechanisms.NoisyHistogram(4, [-2.0, 1.0, 2.0], "gaussian", scale=0.7),
        ),
        kernels.Normal(),
    ),
}
BETAS = ("beta, smoothed", "beta, noisy")
RELEASES = {
    "beta, smoothed": np.array([0.1, 0.2, 0.15, 0.9, 0.95]),
    "beta, noisy": np.array([2.4, -0.6, 1.9]),
    "normal, noisy": np.array([1.7, -0.4, 2.2]),
    "normal, withheld": np.array([2.0, np.nan, np.nan]),
    "normal, tables": np.array([1.7, -0.4, 2.2, 3.1, 0.6]),
}


def exact_law(case):
    """Return the exact law of the partition, from formulas written here."""
    release, n = RELEASES[case], 4
    if case == "beta, smoothed":
        drawn = np.bincount((3 * release).astype(int), minlength=3)
        odds = np.expm1(8.0 / 5) * n / 3
        uniform = 1.0 / (1.0 + odds)

        def log_q(counts):
            return float(drawn @ np.log((1 - uniform) * counts / n * 3 + uniform))
    elif case == "normal, withheld":  # 0 and below, or 1, in the two bins that are missing

        def log_q(counts):
            noisy = stats.dlaplace(1.0)
            return float(noisy.logpmf(2 - counts[0]) + noisy.logcdf(1 - counts[1]) + noisy.logcdf(1 - counts[2]))
    elif case == "normal, tables":

        def log_q(counts):
            coarse = np.array([counts[0] + counts[1], counts[2]])
            fine = stats.laplace.logpdf(release[:3] - counts).sum()
            return float(fine + stats.norm.logpdf(release[3:] - coarse, scale=0.7).sum())
    else:

        def log_q(counts):
            return float(stats.laplace.logpdf(release - counts, scale=1.0).sum())

    edges = np.array([0, 1, 2, 3]) / 3
    masses = oracle.beta_masses(edges, 2.0, 2.0) if "beta" in case else oracle.normal_masses(EDGES, 0.0, 0.1, 3.0, 3.0)
    return oracle.partition_posterior(log_q, n, *masses, concentration=1.0)


OF_BINS = [(case, s) for case in ("normal, noisy", *BETAS) for s in SAMPLERS if serves(MODELS[case], s)]
# One on counts and one that moves records; the joint tests have a case of each of the others.
FEW = [(case, s) for case, s in OF_BINS[:4] if s in (samplers.Binned(), samplers.Slice())]


@pytest.mark.parametrize(("case", "sampler"), rest_long(FEW, OF_BINS), ids=repr)
def test_partitions_follow_their_exact_law(case, sampler):
    # A chain forgets its start slowly where records move by proposals: 40 sweeps are too few, 120 are enough.
    sweeps = 40 if isinstance(sampler, samplers.Binned) else 200
    result = enumeration_test(MODELS[case], sampler, RELEASES[case], exact_law(case), chains=4000, sweeps=sweeps)
    note(f"{case}, enumeration", f"`{sampler!r}`", f"{result.p_value:.2g}", "law of the partition")
    assert result.p_value > 1e-6, str(result)


PUBLISHED = ("normal, withheld", "normal, tables")
PUBLISHED_CASES = [(case, s) for case in PUBLISHED for s in SAMPLERS if serves(MODELS[case], s)]
SHORT = [(case, s) for case, s in PUBLISHED_CASES if isinstance(s, samplers.Binned)]


@pytest.mark.parametrize(("case", "sampler"), rest_long(SHORT[:1], PUBLISHED_CASES))
def test_partitions_follow_their_exact_law_after_post_processing_and_in_several_tables(case, sampler):
    test_partitions_follow_their_exact_law(case, sampler)


@pytest.mark.parametrize(
    "name",
    [pytest.param("statistic left as it was on accepting", marks=pytest.mark.long), "sticks moved without the prior"],
)
def test_planted_bug_is_seen_by_enumeration(name):
    mutant = next(m for m in count_bugs() if m.name == name)
    result = enumeration_test(
        MODELS["normal, noisy"],
        mutant.sampler,
        RELEASES["normal, noisy"],
        exact_law("normal, noisy"),
        chains=4000,
        sweeps=40,
        replacements=mutant.replacements(),
    )
    assert result.p_value < 1e-6, str(result)


def labels_of_bins(parts, data, state, rng, ys, labels):
    """Give each record a stick of its bin; y stands in for its release (fills a slot in these tests)."""
    for i in range(len(labels)):
        b = bin_of_record(parts, data, state, data, i)
        h = 0
        while state.table[h, b] == 0:
            h += 1
        labels[i] = h
        ys[i] = data.z[i]
        state.table[h, b] -= 1
    for i in range(len(labels)):
        state.table[labels[i], bin_of_record(parts, data, state, data, i)] += 1


@pytest.mark.parametrize(
    "mechanism",
    [
        pytest.param(mechanisms.Laplace(epsilon=5.0, bounds=(-5.0, 5.0)), marks=pytest.mark.long),
        pytest.param(mechanisms.Gaussian(scale=1.0, bounds=(-5.0, 5.0)), marks=pytest.mark.long),
        pytest.param(mechanisms.SquareWave(epsilon=3.0, bounds=(-5.0, 5.0)), marks=pytest.mark.long),
    ],
    ids=lambda m: type(m).__name__,
)
def test_counts_of_rounded_records(mechanism):
    """The joint test where all that is kept of the release is the bin of each record."""
    model = PrivateMixture(mechanism, kernels.Normal(), priors.DirichletProcess((4.0, 2.0)))
    sampler = samplers.Binned(bins=12)
    rng = np.random.default_rng(1)
    latent = simulate_latent(model, 10, 20_000, rng)
    edges = find_bins(model, 12).node
    inner = edges[1:-1]
    middles = np.concatenate([[inner[0] - 1.0], 0.5 * (inner[1:] + inner[:-1]), [inner[-1] + 1.0]])
    z = middles[np.searchsorted(inner, simulate_release(model, latent.y, rng), side="right")]
    if mechanism.release_range is not None:
        z = np.clip(z, *mechanism.release_range)
    before, after, _ = run_pairs(model, sampler, latent, z, 3, rng, dummy(model, sampler))
    scores = [_paired_z(before[:, k], after[:, k]) for k in range(before.shape[1])]
    assert np.max(np.abs(scores)) < 5.6, scores  # p = 1e-6 over 21 statistics


def dummy(model, sampler):
    """Return the hook that gives labels, in the place of the sampler's own."""
    return {sampler.hooks(model)[impute]: labels_of_bins}


@pytest.mark.long
def test_few_bins_change_what_many_do_not():
    """Rounding to very few bins loses information: the test above would see a sampler that looked at z itself."""
    mechanism = mechanisms.Gaussian(scale=0.2, bounds=(-5.0, 5.0))
    z = mechanism.privatize(np.random.default_rng(1).normal(1.0, 0.5, 400), seed=2)
    model = PrivateMixture(mechanism, kernels.Normal())
    spread = []
    for bins in (4, 256):
        posterior = model.sample(z, samplers.Binned(bins=bins), draws=1500, warmup=500, thin=2, chains=2, seed=3)
        spread.append(_sd(posterior))
    exact = model.sample(z, samplers.Slice(), draws=1500, warmup=500, thin=2, chains=2, seed=3)
    assert abs(spread[1] - _sd(exact)) < 0.03
    assert abs(spread[0] - _sd(exact)) > 0.05


@pytest.mark.long
def test_records_have_clusters_on_counts_too():
    """The clusters of records, from labels that are drawn from counts, are those of a sampler with labels."""
    mechanism = mechanisms.Gaussian(scale=1.0, bounds=(-10.0, 10.0))
    rng = np.random.default_rng(1)
    z = mechanism.privatize(np.where(rng.random(60) < 0.5, rng.normal(-4.0, 1.0, 60), rng.normal(4.0, 1.0, 60)), seed=2)
    # Middles of bins of width ¼, several records in each: their labels are to be drawn in every order.
    z = np.floor(z) + 0.125
    model = PrivateMixture(mechanism, kernels.Normal())
    settings = {"draws": 2000, "warmup": 1000, "thin": 3, "chains": 2, "seed": 3}
    ours = model.sample(z, samplers.Binned(), **settings)
    other = model.sample(z, samplers.Neal8(), **settings)
    assert (ours.datatree["posterior"]["allocation"] >= 0).all()
    clusters = np.sort(ours.datatree["posterior"]["allocation"].values, axis=-1)
    assert ((np.diff(clusters, axis=-1) > 0).sum(axis=-1) + 1 == ours.n_clusters.values).all()
    # Two seeds of one sampler differ by up to .03 and .08; labels one bin off change the second by .25.
    assert np.abs(np.asarray(ours.similarity()) - np.asarray(other.similarity())).max() < 0.08
    assert np.abs(_own_mean(ours) - _own_mean(other)).max() < 0.15
    assert np.asarray(other.similarity()).std() > 0.2


def _own_mean(posterior):
    """Return the posterior mean of the mean of each record's component."""
    draws = posterior.dataset
    return np.take_along_axis(draws["mean"].values, draws["allocation"].values, axis=-1).mean(axis=(0, 1))


def _sd(posterior):
    grid = np.linspace(-5.0, 5.0, 2001)
    density = posterior.density(grid)["mean"].values
    density = density / np.trapezoid(density, grid)
    mean = np.trapezoid(grid * density, grid)
    return float(np.sqrt(np.trapezoid((grid - mean) ** 2 * density, grid)))


# Combinations that other tests here compile too.
@pytest.mark.parametrize(
    ("kernel", "sampler"),
    [(kernels.Beta(), samplers.Neal5()), (kernels.HierarchicalNormal(UNIT), samplers.Binned())],
    ids=repr,
)
def test_saved_and_resumed_draws_are_those_of_one_run(kernel, sampler, tmp_path):
    import privmix

    mechanism = mechanisms.NoisyHistogram(500, 8, epsilon=1.0, bounds=UNIT)
    release = mechanism.privatize(np.random.default_rng(1).beta(2.0, 5.0, 500), seed=2)
    model = PrivateMixture(mechanism, kernel)
    whole = model.sample(release, sampler, draws=60, warmup=30, thin=1, chains=2, seed=4)
    half = model.sample(release, sampler, draws=30, warmup=30, thin=1, chains=2, seed=4)
    half.save(tmp_path / "half.nc")
    resumed = privmix.load(tmp_path / "half.nc").resume(30)
    grid = np.linspace(0.05, 0.95, 7)
    np.testing.assert_array_equal(whole.density_draws(grid), resumed.density_draws(grid))


def test_fit_finds_the_density_of_a_histogram():
    """The whole way with defaults: the error is that of the data, not of the noise."""
    n, bounds = 20_000, (-10.0, 10.0)
    rng = np.random.default_rng(5)
    y = np.where(rng.random(n) < 0.5, rng.normal(-4.0, 1.0, n), rng.normal(3.0, 1.5, n))
    mechanism = mechanisms.NoisyHistogram(n, 64, epsilon=1.0, bounds=bounds)
    posterior = fit(mechanism.privatize(y, seed=1), mechanism, draws=400, warmup=500, thin=2, chains=2, seed=6)
    assert type(posterior.sampler).__name__ == "Binned"
    grid = np.linspace(*bounds, 401)
    truth = 0.5 * stats.norm.pdf(grid, -4.0, 1.0) + 0.5 * stats.norm.pdf(grid, 3.0, 1.5)
    assert np.trapezoid(np.abs(posterior.density(grid)["mean"].values - truth), grid) < 0.05


HISTOGRAM = MODELS["beta, noisy"]


def test_clusters_of_records_are_refused():
    with pytest.raises(ValueError, match=r"one release of all records.*not identified"):
        HISTOGRAM.sample(RELEASES["beta, noisy"], allocations=True)
    posterior = HISTOGRAM.sample(
        RELEASES["beta, noisy"], samplers.Neal5(), draws=20, warmup=5, thin=1, chains=1, seed=1
    )
    assert "allocation" not in posterior.datatree["posterior"]
    with pytest.raises(ValueError, match="records"):
        posterior.clustering()


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (samplers.Neal8(), "one release of all of them"),
        (samplers.Neal5(exact=True), "one release of all of them"),
        (samplers.Slice(records="integrated"), "one release of all of them"),
        (samplers.Neal5(auxiliaries=3), "auxiliaries must be 1"),
        (samplers.Neal3(), "conjugate marginal"),
    ],
    ids=repr,
)
def test_samplers_that_need_records_are_refused(sampler, message):
    with pytest.raises(ValueError, match=message):
        HISTOGRAM.sample(RELEASES["beta, noisy"], sampler)


@pytest.mark.parametrize(
    ("mechanism", "message"),
    [
        (mechanisms.Laplace(scale=1.0), "needs bounds"),
        (mechanisms.Laplace(epsilon=np.array([1.0, 2.0]), bounds=(-1.0, 1.0)), "differs between records"),
        (mechanisms.HaarWavelet(levels=2, epsilon=1.0, bounds=(-1.0, 1.0)), "no g"),
        (mechanisms.Identity(), "no g"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_binned_says_what_it_needs(mechanism, message):
    with pytest.raises(ValueError, match=message):
        samplers.Binned().check(PrivateMixture(mechanism, kernels.Normal()))


@pytest.mark.parametrize("bins", [1, 0, 2.5, True, "many"])
def test_binned_needs_bins(bins):
    with pytest.raises(ValueError, match="at least 2"):
        samplers.Binned(bins=bins)


@dataclass(frozen=True)
class NoisyMean(GlobalMechanism):
    """Release the mean of all records with Gaussian noise: a mechanism of a user's own."""

    records: int
    scale: float

    def statistic(self, y):
        return np.array([y.sum()])

    def log_ratio(self, z, statistic, old, new):
        before = (z[0] - statistic[0] / self.records) / self.scale
        after = (z[0] - (statistic[0] + new - old) / self.records) / self.scale
        return 0.5 * (before * before - after * after)

    def replace(self, statistic, old, new):
        statistic[0] += new - old

    def perturb(self, rng, y):
        return np.array([y.mean() + self.scale * rng.standard_normal()])

    def initial(self, z):
        return np.full(self.records, z[0]) + np.linspace(-1.0, 1.0, self.records)


@pytest.mark.parametrize("sampler", rest_long([samplers.Neal5()], [samplers.Slice()]), ids=repr)
def test_own_global_mechanism_works_from_its_hooks_alone(sampler):
    model = PrivateMixture(NoisyMean(records=10, scale=0.5), kernels.Normal(), priors.DirichletProcess((4.0, 2.0)))
    result = joint_test(model, sampler)
    assert not result.rejected, str(result)


def test_own_global_mechanism_gives_a_posterior():
    model = PrivateMixture(NoisyMean(records=50, scale=0.1), kernels.Normal())
    posterior = model.sample(np.array([4.0]), draws=300, warmup=300, thin=5, chains=2, seed=1)
    assert type(posterior.sampler).__name__ == "Slice"
    assert abs(posterior.density_draws(np.linspace(-40.0, 48.0, 400)).mean() * 88.0 - 1.0) < 0.1
