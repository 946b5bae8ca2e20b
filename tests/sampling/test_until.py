"""Going on until the chains have converged: by limits, by time, through interruption, and what is said of it."""

import math
import re
import time

import numpy as np
import pytest

import privmix
from privmix import Posterior, PrivateMixture, mechanisms, samplers
from privmix.checks.check import Worst, worst
from privmix.engine import progress
from privmix.engine.chains import Monitor
from privmix.model import Limits
from privmix.posterior import run as run_file

MECHANISM = mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))
MODEL = PrivateMixture(MECHANISM)
Z = MECHANISM.privatize(np.random.default_rng(1).normal(2.0, 1.0, 40), seed=1)
FEW = {"draws": 100, "warmup": 100, "thin": 1, "chains": 2, "seed": 1}
FAR, NEAR = {"r_hat": 1.5, "ess": 30}, {"r_hat": 3.0, "ess": 4}


@pytest.fixture(scope="module")
def short():
    return MODEL.sample(Z, samplers.Neal5(), **FEW)


@pytest.fixture(scope="module")
def long():
    return MODEL.sample(Z, samplers.Neal5(), **FEW, until=FAR)


def test_goes_on_until_the_limits_are_reached(short, long):
    assert not worst(short.summary()).within(1.5, 30)
    assert worst(long.summary()).within(1.5, 30)
    assert long.draws > 100
    assert long.datatree.attrs["complete"] == 1
    np.testing.assert_array_equal(long.n_clusters[:, :100], short.n_clusters)
    again = short.resume(until=FAR)
    np.testing.assert_array_equal(again.n_clusters, long.n_clusters)


def test_stays_where_the_limits_are_kept(short):
    assert short.resume(until=NEAR) is short


def test_draws_stay_few_however_long_it_goes_on(short, monkeypatch):
    monkeypatch.setattr(run_file, "MOST_GROWTH", 1)
    monkeypatch.setattr(run_file, "DRAWS_FOR_AN_EFFECTIVE_ONE", 1)
    blocks = []
    monkeypatch.setattr(run_file, "worst", lambda _: Worst(1.1, "a", 50.0 + 10 * len(blocks), "b", ""))
    resume = Posterior.resume
    monkeypatch.setattr(Posterior, "resume", lambda self, *a, **k: blocks.append(self.draws) or resume(self, *a, **k))
    made = run_file.go_on(short, Limits(r_hat=1.5, ess=80.0), False, None)
    assert len(blocks) == 3
    assert made.draws * made.chains <= 200
    assert made.plan.thin > 1


def test_time_is_over_and_says_which_limit_was_not_reached(short):
    began = time.monotonic()
    with pytest.warns(
        UserWarning, match=r"not reached in 1e-07 minutes: .*the worst ESS is \d+ \(of .*\), below 1e\+09"
    ):
        stopped = short.resume(until={"r_hat": 1.5, "ess": 1e9}, minutes=1e-7)
    assert stopped is short
    assert time.monotonic() - began < 60.0


def test_a_quantity_that_never_moves_is_given_up(short, monkeypatch):
    monkeypatch.setattr(run_file, "worst", lambda _: Worst(math.nan, "", math.nan, "", "n_clusters: no chain moved"))
    with pytest.warns(UserWarning, match=r"the limits were not reached: .*\(n_clusters: no chain moved\)"):
        stopped = short.resume(until={})
    assert stopped.draws > short.draws


def test_interruption_keeps_the_draws_before(short, monkeypatch):
    def interrupted(self, *_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Posterior, "resume", interrupted)
    with pytest.warns(UserWarning, match="interrupted: what was drawn before is kept"):
        kept = run_file.go_on(short.thinned(100), Limits(), False, None)
    assert kept.datatree.attrs["complete"] == 0
    assert kept.draws == 50
    assert short.datatree.attrs["complete"] == 1


def test_progress_says_where_it_stands_and_how_long_it_may_take(short, capsys):
    short.resume(until=FAR, minutes=30, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert re.match(
        r"progress: .*the worst ESS is \d+ \(of .*\), below 30\. Going on with \d+ draws a chain, .*; at most "
        r"\d+\.\d min left",
        lines[0],
    )
    assert lines[-1].startswith("progress: limits reached: the worst R-hat is ")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"until": {"rhat": 1.01}}, r"until takes limits such as dict\(r_hat=1.01, ess=400\); got 'rhat'"),
        ({"until": 400}, "until takes limits such as"),
        ({"until": {"r_hat": 1.0}}, "r_hat must be a number above 1, such as 1.01; got 1.0"),
        ({"until": {"ess": 0}}, "ess must be a positive number, such as 400; got 0"),
        ({"until": {"ess": "many"}}, "ess must be a positive number, such as 400; got 'many'"),
        ({"until": {}, "minutes": 0}, "minutes must be a positive number; got 0"),
        ({"minutes": 5}, "minutes says how long to go on until limits are reached: give until= too"),
        ({"until": {}, "chains": 1}, "until needs at least 2 chains"),
    ],
)
def test_limits_are_checked_before_the_first_sweep(given, words):
    with pytest.raises(ValueError, match=words):
        privmix.fit(Z, MECHANISM, **{**FEW, **given})


def test_resume_takes_draws_or_limits(short):
    with pytest.raises(ValueError, match="give draws or until"):
        short.resume(10, until={})
    assert short.resume().draws == 200


# Lines of progress where there is no terminal.


def monitor_of(*rows, sweeps=1000):
    monitor = Monitor(len(rows), sweeps)
    monitor.rows = [dict(row) for row in rows]
    return monitor


def test_lines_say_that_it_compiles():
    line = progress.describe(monitor_of({}, {}), [], 12.3)
    assert line == "compiling, for 12 s so far: 10 s to a minute, once on a machine for each kind of fit"


def test_lines_say_how_far_it_is_and_how_long_it_will_take():
    begun = {"done": 500, "kept": 1.0, "rate": 10.0}
    done = {"done": 1000, "kept": 1.0, "rate": 99.0}
    assert progress.describe(monitor_of(begun, done, {}), [], 5.0) == "50% of 3,000 sweeps, 10 a second; 2.5 min left"
    warm = {"done": 100, "kept": 0.0, "rate": 0.05}
    assert progress.describe(monitor_of(warm), [], 5.0) == "10% of 1,000 sweeps, in warm-up, 0 a second; 5.0 h left"


def test_lines_come_soon_at_first_and_then_every_minute(monkeypatch):
    told, pauses = [], []
    monkeypatch.setattr(progress, "tell", told.append)
    progress.show_lines(monitor_of({}), [], lambda pause: pauses.append(pause) or len(pauses) > 20)
    assert len(told) == 20
    assert pauses[0] == 2.0
    assert pauses[-1] == 60.0
    assert sorted(pauses) == pauses
