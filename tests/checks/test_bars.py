"""The release against the density that is shown, bar by bar: a wrong bar is named, a right fit is left alone."""

import re
from dataclasses import replace

import numpy as np
import pytest

from checks.prior_data import MECHANISMS, count_alarms
from privmix import Posterior, PrivateMixture, kernels, mechanisms
from privmix.checks.check import check_fit
from privmix.checks.predictive_check import shares_of, tail_share

pytestmark = pytest.mark.xdist_group("fits")

INCOMES = (0.0, 200_000.0)
HISTOGRAM = mechanisms.NoisyHistogram(1000, 50, epsilon=1.0, bounds=INCOMES)


def incomes(seed=1):
    """Incomes of 1,000 people: 12% have none, and some are cut off at the upper bound."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(1000) < 0.12, 0.0, np.minimum(rng.lognormal(10.1, 1.2, 1000), INCOMES[1]))


def fit_incomes(kernel, cut=None):
    model = PrivateMixture(HISTOGRAM, kernel, restricted_to=cut)
    return model.sample(HISTOGRAM.privatize(incomes(), seed=1), draws=200, warmup=300, thin=2, chains=2, seed=1)


def test_a_density_that_is_wrong_at_a_bound_is_a_warning_that_names_the_bars():
    fit = fit_incomes(kernels.HierarchicalNormal(INCOMES), cut=INCOMES)
    shown = float(fit.probability(0.0, 4000.0)["mean"])
    assert shown < np.mean(incomes() < 4000.0) - 0.05
    (finding,) = check_fit(fit, None, 1)
    assert finding.level == "warning"
    pattern = r"the bin from 0 to 4000 has (0\.\d+) of the release, where the density shown predicts (0\.\d+) "
    released, expected = map(float, re.search(pattern, finding.text).groups())
    assert released == pytest.approx(np.mean(incomes() < 4000.0), abs=0.01)
    assert expected == pytest.approx(shown, abs=0.01)
    table = fit.predictive_check(replicates=200)
    assert float(table["replicated_share"][:, 0].mean()) == pytest.approx(shown, abs=0.01)
    # Replicates of the uncut mixture, which counts everything beyond the bounds in the outermost bars, hide it.
    uncut = Posterior(replace(fit.plan, model=replace(fit.model, restricted_to=None)), *parts_of(fit))
    assert check_fit(uncut, None, 1)[0].level == "good"


def parts_of(fit):
    return fit.arrays, fit.ends, fit.datatree


@pytest.mark.long
def test_a_density_that_follows_the_bars_is_good():
    (finding,) = check_fit(fit_incomes(kernels.TruncatedNormal(INCOMES)), None, 1)
    assert finding.level == "good"


@pytest.mark.parametrize(
    "mechanism",
    [MECHANISMS[0], *(pytest.param(one, marks=pytest.mark.long) for one in MECHANISMS[1:])],
    ids=lambda m: type(m).__name__,
)
def test_a_share_in_the_wrong_bar_is_named(mechanism):
    """A fit beside the release of other data: a third of the records at one place."""
    y = np.random.default_rng(1).beta(2.0, 3.0, 300)
    model = PrivateMixture(mechanism, kernels.Beta())
    fit = model.sample(mechanism.privatize(y, seed=1), draws=100, warmup=200, thin=2, chains=1, seed=1)
    assert check_fit(fit, None, 1)[0].level == "good"
    moved = mechanism.privatize(np.where(np.arange(300) % 3 == 0, 0.91, y), seed=1)
    other = Posterior(replace(fit.plan, z=moved), *parts_of(fit))
    (finding,) = check_fit(other, None, 1)
    assert finding.level == "warning"
    named = {"NoisyHistogram": "bin from 0.9 to 0.9333", "Laplace": "range of released values from"}
    assert named.get(type(mechanism).__name__, "released value 14 has") in finding.text


def test_few_alarms_where_the_model_is_right():
    """The long test makes 200 data sets of each mechanism."""
    assert count_alarms(MECHANISMS[0], 5) == 0


def test_shares_add_up_and_rows_have_none():
    rng = np.random.default_rng(1)
    for mechanism in (*MECHANISMS, mechanisms.SmoothedHistogram(300, epsilon=5.0, bounds=(0.0, 1.0))):
        made = [mechanism.privatize(rng.random(300), seed=s) for s in range(40)]
        shares = shares_of(mechanism, made)
        assert np.mean([shares.of(z).sum() for z in made]) == pytest.approx(1.0, abs=0.05)
        assert (shares.spread(np.stack([shares.of(z) for z in made])) > 0.0).all()
    haar = mechanisms.HaarWavelet(levels=1, epsilon=5.0, bounds=(0.0, 1.0))
    assert shares_of(haar, [haar.privatize(rng.random(300), seed=1)]) is None


def test_few_replicates_can_speak_against_a_model():
    """Beyond all replicates the tail goes on; among them nothing is added."""
    values = np.random.default_rng(1).exponential(size=(1, 200))
    far, near = tail_share(values, np.array([15.0])), tail_share(values, np.array([values.max()]))
    assert np.log(far[0]) == pytest.approx(-15.0, abs=2.0)
    assert near[0] == pytest.approx(2.0 / 201.0)
    assert tail_share(values, np.array([values.max() + 1e-9]))[0] <= 1.0 / 201.0
