"""Ours against what people would use instead, on the same data."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from privmix import baselines
from privmix.mechanisms import HaarWavelet, Laplace, Mechanism, RandomizedResponse, SquareWave
from privmix.studies.runner import Results, Study, grid
from privmix.studies.runner.configuration import Coordinates
from privmix.studies.shared import pictures
from privmix.studies.shared.choices import Choice, words
from privmix.studies.shared.fits import SHORT, DefaultChains, fit_default
from privmix.studies.shared.measures import hellinger, l1_error, worst_r_hat
from privmix.studies.shared.tables import write_tables
from privmix.studies.shared.targets import HALF_UNIFORM, SKEWED, THREE_NORMALS


class Method(NamedTuple):
    """A mechanism and an estimator of the density.

    Parameters
    ----------
    words
        What figures call it.
    mechanism
        Makes the mechanism through which the method sees the data, from ε and the bounds.
    baseline
        The estimator; `privmix.fit` where it is None.
    drawn
        Whether it has a curve: with all of them no curve could be followed. The tables have all.
    asked
        Whether it is run only where it is asked for, because it needs an optional extra, and minutes for a fit.
    """

    words: str
    mechanism: Callable[..., Mechanism]
    baseline: baselines.Baseline | None = None
    drawn: bool = True
    asked: bool = False


# Of steps and lines, lines are closer to every target here.
EMS64, EMS256 = baselines.EMS(cells=64, joined=True), baselines.EMS(cells=256, joined=True)
BOOTSTRAP, PLUGIN = (baselines.Deconvolution(bandwidth=how) for how in ("bootstrap", "plugin"))
METHODS = {
    "ours-laplace": Method("Laplace + privmix.fit", Laplace),
    "decon-bootstrap": Method("Laplace + deconvolution, bootstrap", Laplace, BOOTSTRAP, drawn=False),
    "decon-plugin": Method("Laplace + deconvolution, plug-in", Laplace, PLUGIN),
    "em64": Method("Laplace + EM, 64 cells", Laplace, baselines.EM(cells=64), drawn=False),
    "ems64": Method("Laplace + EM with smoothing, 64", Laplace, EMS64),
    "ems256": Method("Laplace + EM with smoothing, 256", Laplace, EMS256),
    "naive": Method("Laplace + kernel estimate of Z", Laplace, baselines.NaiveKernel(), drawn=False),
    "naive-mixture": Method("Laplace + mixture of Z", Laplace, baselines.NaiveMixture()),
    "numpyro": Method("Laplace + NumPyro, truncated DP", Laplace, baselines.NumPyroMixture(), asked=True),
    "ours-square": Method("square wave + privmix.fit", SquareWave),
    "square-ems64": Method("square wave + EM with smoothing, 64", SquareWave, EMS64),
    "square-ems256": Method("square wave + EM with smoothing, 256", SquareWave, EMS256),
    "ours-response": Method("randomized response (16) + privmix.fit", partial(RandomizedResponse, 16)),
    "wavelet": Method("Haar (J = 4) + wavelet estimator", partial(HaarWavelet, 4), baselines.Wavelet(), drawn=False),
}
METHOD_WORDS = {name: method.words for name, method in METHODS.items()}
TARGETS = {
    "normals": Choice("three normals", THREE_NORMALS),
    "skewed": Choice("a skewed density", SKEWED),
    "uniform": Choice("half uniform, half normal", HALF_UNIFORM),
}
# Points of the grid on which every estimate is compared, as in the published comparisons.
POINTS = 1001


@dataclass(frozen=True)
class Configuration(DefaultChains):
    """Section 4.1's target and two that nobody tuned to.

    Parameters
    ----------
    targets, records, epsilons, methods
        The grid. Targets other than the first are run at `others` records.
    others
        Records of the other targets.
    """

    replicates: int = grid(10)
    targets: tuple[str, ...] = grid(tuple(TARGETS), "target")
    records: tuple[int, ...] = grid((200, 1000, 10_000), "records")
    epsilons: tuple[float, ...] = grid((1.0, 2.0, 5.0, 10.0, 50.0), "epsilon")
    methods: tuple[str, ...] = grid(tuple(name for name, one in METHODS.items() if not one.asked), "method")
    others: tuple[int, ...] = grid((1000,))

    def cells(self) -> list[Coordinates]:
        """Return a cell for each target, number of records, ε, method and data set."""
        return [one for one in super().cells() if one["target"] == "normals" or one["records"] in self.others]

    @classmethod
    def small(cls) -> Self:
        """Return one data set of 100 records and short chains."""
        return cls(replicates=1, records=(100,), epsilons=(10.0,), targets=("normals",), **SHORT)


def cell(
    configuration: Configuration,
    *,
    target: str,
    records: int,
    epsilon: float,
    method: str,
    replicate: int,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return the L1 and Hellinger errors on the bounds; every method of a mechanism sees the same release."""
    truth, one = TARGETS[target].use, METHODS[method]
    made = one.mechanism(epsilon=epsilon, bounds=truth.bounds)
    y, _, z = truth.release(f"accuracy, {target}", made, records=records, replicate=replicate)
    lower, upper = truth.bounds
    points, r_hat = np.linspace(lower, upper, POINTS), float("nan")
    if one.baseline is None:
        posterior = fit_default(z, made, configuration, seed)
        values = posterior.density(points)["mean"].values
        r_hat = worst_r_hat(posterior, np.quantile(y, [0.1, 0.25, 0.5, 0.75, 0.9]))
    else:
        values = estimate(one.baseline, z, made, points, seed)
    exact, values = truth.density(points), baselines.proper(values, points)
    return {
        "l1": l1_error(values, exact, points),
        "hellinger": hellinger(values, baselines.proper(exact, points), points),
        "r_hat": r_hat,
        "mean": values[::5],
    }


def estimate(
    baseline: Any, z: np.ndarray, mechanism: Mechanism, points: np.ndarray, seed: np.random.SeedSequence
) -> np.ndarray:
    """Return a baseline's density, with the cell's seed where it draws."""
    if baseline.is_random:
        baseline = replace(baseline, seed=int(seed.generate_state(1, np.uint64)[0]))
    with warnings.catch_warnings():  # at small ε a release often varies less than its noise should
        warnings.filterwarnings("ignore", message="the release varies less than its noise")
        return baseline.fit(z, mechanism).density(points)


def figures(results: Results, folder: Path) -> None:
    """Draw the L1 error against ε for each target and number of records, and write tables of medians."""
    _curves(results, folder / "errors.png")
    rows = {"target": words(TARGETS), "records": {}, "method": METHOD_WORDS}
    write_tables(results, folder / "tables.md", rows, "epsilon", ("l1", "hellinger", "r_hat"))


def _curves(results: Results, path: Path) -> None:
    """Draw medians against ε, a panel for each target and number of records, a curve for each method."""
    names = {name: one.words for name, one in METHODS.items() if one.drawn and len(results.select(method=name))}
    chosen = {
        (t, n): results.select(target=t, records=n) for t in results.axis("target") for n in results.axis("records")
    }
    chosen = {key: some for key, some in chosen.items() if len(some)}
    axes = pictures.wrapped_panels(len(chosen), 3, height=3.0, sharey=True)
    ticks = results.axis("epsilon")
    for panel, ((target, records), some) in zip(axes.flat, chosen.items(), strict=False):
        pictures.draw_medians(panel, some, "epsilon", "l1", "method", names, ticks=ticks, spread=False)
        panel.set_title(f"{TARGETS[target].words}, n = {records:,}", fontsize="medium")
    axes[0, 0].set_ylim(bottom=0.0)  # after the curves: a limit that is set stays
    for row in axes:
        row[0].set_ylabel("L1 error")
    pictures.finish(axes, "Error of the density: medians over data sets", results, path)


study = Study(
    "accuracy", "The error of privmix.fit against every baseline, on the same data", Configuration, cell, figures
)
