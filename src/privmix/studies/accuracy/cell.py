"""One data set, released by the mechanism that the method needs, and estimated by it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from privmix import baselines
from privmix.mechanisms import HaarWavelet, Laplace, RandomizedResponse, SquareWave
from privmix.studies.accuracy.configuration import Configuration
from privmix.studies.runner import derive_seed
from privmix.studies.shared.fits import fit_default
from privmix.studies.shared.measures import hellinger, l1_error, worst_r_hat
from privmix.studies.shared.targets import HALF_UNIFORM, SKEWED, THREE_NORMALS

TARGETS = {"normals": THREE_NORMALS, "skewed": SKEWED, "uniform": HALF_UNIFORM}
# Of steps and lines, lines are closer to every target here.
BASELINES = {
    "decon-bootstrap": baselines.Deconvolution(bandwidth="bootstrap"),
    "decon-plugin": baselines.Deconvolution(bandwidth="plugin"),
    "em64": baselines.EM(cells=64),
    "ems64": baselines.EMS(cells=64, joined=True),
    "ems256": baselines.EMS(cells=256, joined=True),
    "naive": baselines.NaiveKernel(),
    "naive-mixture": baselines.NaiveMixture(),
    "numpyro": baselines.NumPyroMixture(),
    "square-ems64": baselines.EMS(cells=64, joined=True),
    "square-ems256": baselines.EMS(cells=256, joined=True),
    "wavelet": baselines.Wavelet(),
}
# Points of the grid on which every estimate is compared, as in the published comparisons.
POINTS = 1001


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
    truth, made = TARGETS[target], mechanism_of(method, epsilon, TARGETS[target].bounds)
    of_records, of_noise = derive_seed(f"accuracy, {target}", records=records, replicate=replicate).spawn(2)
    y, _ = truth.draw(np.random.default_rng(of_records), records)
    z = made.privatize(y, seed=of_noise)
    grid = np.linspace(*truth.bounds, POINTS)
    r_hat = float("nan")
    if method.startswith("ours"):
        posterior = fit_default(z, made, configuration, seed)
        values = posterior.density(grid)["mean"].values
        r_hat = worst_r_hat(posterior, np.quantile(y, [0.1, 0.25, 0.5, 0.75, 0.9]))
    else:
        with warnings.catch_warnings():  # at small ε a release often varies less than its noise should
            warnings.filterwarnings("ignore", message="the release varies less than its noise")
            values = baseline(method, seed).fit(z, made).density(grid)
    exact = truth.density(grid)
    values = baselines.proper(values, grid)
    return {
        "l1": l1_error(values, exact, grid),
        "hellinger": hellinger(values, baselines.proper(exact, grid), grid),
        "r_hat": r_hat,
        "mean": values[::5],
    }


def baseline(method: str, seed: np.random.SeedSequence) -> baselines.Baseline:
    """Return the baseline of a method, with the cell's seed where it draws."""
    found: Any = BASELINES[method]
    return replace(found, seed=int(seed.generate_state(1, np.uint64)[0])) if hasattr(found, "seed") else found


def mechanism_of(method: str, epsilon: float, bounds: tuple[float, float]) -> Any:
    """Return the mechanism through which a method sees the data, with exactly ε."""
    if method == "ours-response":
        return RandomizedResponse(16, epsilon, bounds)
    if method == "wavelet":
        return HaarWavelet(4, epsilon, bounds)
    if "square" in method:
        return SquareWave(epsilon=epsilon, bounds=bounds)
    return Laplace(epsilon=epsilon, bounds=bounds)
