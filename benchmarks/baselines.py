"""What people would use instead, on the paper's Section 4.1: median L1 error over ten data sets.

Run with `python -m benchmarks.baselines`: about a minute of one core. Grid of 1001 points on [−10, 10], negative values
clipped, renormalised on the interval, trapezoid rule; the uniform density has .837. "Interpolated" joins the middles of
the cells of EMS by straight lines instead of steps. The published column was measured elsewhere, with R's decon and
another EMS, on releases with other noise: the range is that of the median when only the seeds of the noise change.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.shared import BOUNDS, truncated_normals
from privmix import baselines, mechanisms
from privmix.studies.shared.measures import l1_error
from privmix.studies.shared.targets import THREE_NORMALS

GRID = np.linspace(*BOUNDS, 1001)
TARGET = THREE_NORMALS.density(GRID)
EPSILONS = (1.0, 2.0, 5.0, 10.0, 50.0)
LAPLACE, WAVE = mechanisms.Laplace, mechanisms.SquareWave


def haar(epsilon: float, bounds: tuple[float, float]) -> mechanisms.HaarWavelet:
    """Return the wavelet mechanism with 32 cells."""
    return mechanisms.HaarWavelet(levels=4, epsilon=epsilon, bounds=bounds)


def density(baseline: baselines.Baseline) -> Callable[[np.ndarray, Any], np.ndarray]:
    """Return the estimate on the grid as a function of the release."""
    return lambda z, mechanism: baseline.fit(z, mechanism).density(GRID)


# name: estimate, mechanism, published medians at the five ε by the number of records
ROWS: dict[str, tuple[Callable, Callable, dict[int, str]]] = {
    "deconvolution, bootstrap": (
        density(baselines.Deconvolution()),
        LAPLACE,
        {200: "1.00 1.10 1.09 .91 .33", 1000: "1.28 1.04 .99 .59 .19", 10000: ".97 1.00 .60 .41 .10"},
    ),
    "deconvolution, plug-in": (density(baselines.Deconvolution("plugin")), LAPLACE, {}),
    "deconvolution, bootstrap, normal": (density(baselines.Deconvolution(kernel="normal")), LAPLACE, {}),
    "EM, 64 cells": (density(baselines.EM()), LAPLACE, {}),
    "EMS, 64 cells": (density(baselines.EMS()), LAPLACE, {}),
    "EMS, 64 cells, interpolated": (
        density(baselines.EMS(joined=True)),
        LAPLACE,
        {200: ".85 .77 .72 .51 .23", 1000: ".74 .70 .60 .35 .11", 10000: ".75 .71 .57 .36 .06"},
    ),
    "EMS, 256 cells, interpolated": (
        density(baselines.EMS(256, joined=True)),
        LAPLACE,
        {200: ".87 .82 .80 .63 .52", 1000: ".80 .68 .46 .29 .27", 10000: ".72 .68 .31 .13 .09"},
    ),
    "square wave, EMS, 64 cells": (density(baselines.EMS()), WAVE, {}),
    "square wave, EMS, 64, interpolated": (
        density(baselines.EMS(joined=True)),
        WAVE,
        {200: ".83 .65 .28 .25 .23", 1000: ".64 .54 .12 .11 .10", 10000: ".64 .50 .06 .06 .05"},
    ),
    "Haar J = 4, wavelet estimator": (density(baselines.Wavelet()), haar, {}),
    "Haar J = 4, EMS, 32 cells": (density(baselines.EMS(32)), haar, {}),
    "naive kernel": (density(baselines.NaiveKernel()), LAPLACE, {}),
}


def median_error(estimate: Callable, mechanism: Any, records: int, shift: int) -> float:
    """Return the median L1 error over the data sets 1 to 10, for one set of seeds of the noise."""
    errors = []
    for seed in range(1, 11):
        z = mechanism.privatize(truncated_normals(records, seed), seed=np.random.default_rng(shift + seed))
        errors.append(l1_error(estimate(z, mechanism), TARGET, GRID))
    return float(np.median(errors))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=4, help="sets of seeds of the noise")
    options = parser.parse_args()
    print(f"n = {options.records}, ε = 1, 2, 5, 10, 50: median error (range over {options.repeats} sets of noise)")
    for name, (estimate, make, published) in ROWS.items():
        clock, cells = time.process_time(), []
        for epsilon in EPSILONS:
            mechanism = make(epsilon=epsilon, bounds=BOUNDS)
            found = [median_error(estimate, mechanism, options.records, 100 * (r + 1)) for r in range(options.repeats)]
            cells.append(f"{found[0]:.2f} ({min(found):.2f}–{max(found):.2f})")
        seconds = (time.process_time() - clock) / (50 * options.repeats)
        print(
            f"{name:35} {'  '.join(cells)}  {1000 * seconds:6.1f} ms  {published.get(options.records, '')}", flush=True
        )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
