"""Do bands from `Lifted` keep their promise? Coverage over counts of 10,000 records drawn from the model's own prior.

`python -m benchmarks.coverage_counts --data-sets 60 --keep FILE` adds to the data sets in a file and reports all. A
mixing measure is drawn from the prior, counts of its release by 16-ary randomised response; one chain is run on them.
If the draws are right, intervals of posterior probability 95% hold the density of the mixing measure at a point, and
the concentration, in 95% of data sets.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import privmix
from benchmarks.mixing import MECHANISMS, POINTS
from privmix.curves.counts import counts_drawer
from privmix.curves.density import density_draws
from privmix.curves.prior import prior_draws
from privmix.engine.chains import Plan, run_chain
from privmix.mechanisms import Counted
from privmix.samplers import Lifted

RECORDS, LEVEL = 10_000, 0.95
SWEEPS = {"draws": 400, "warmup": 700, "thin": 3}


def cover(seed: int) -> dict[str, float]:
    """Fit one data set; return the share of points inside their intervals, and whether the concentration is."""
    model, rng = privmix.default_model(Counted(MECHANISMS["response1"]())), np.random.default_rng([seed, 1])
    mixing = prior_draws(model, 1, rng, remainder=1e-6)
    counts = counts_drawer(model, mixing, RECORDS, rng)()
    truth = density_draws(model.kernel, mixing, POINTS)[0, 0]
    chain = run_chain(Plan(model, Lifted(), counts, allocations=False, **SWEEPS), np.random.SeedSequence([seed, 2]))
    drawn = chain.draws
    values = density_draws(model.kernel, type(drawn)(*[array[None] for array in drawn]), POINTS)[0]
    low, high = np.quantile(values, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2], axis=0)
    ends = np.quantile(drawn.concentration, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    inside = float(np.mean((low <= truth) & (truth <= high)))
    return {"seed": seed, "inside": inside, "concentration": float(ends[0] <= mixing.concentration[0, 0] <= ends[1])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--data-sets", type=int, default=60)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    rows = json.loads(options.keep.read_text()) if options.keep and options.keep.exists() else []
    done = {row["seed"] for row in rows}
    for seed in range(options.first, options.first + options.data_sets):
        if seed not in done:
            rows.append(cover(seed))
            if options.keep:
                options.keep.write_text(json.dumps(rows))
    for name in ("inside", "concentration"):
        found = np.array([row[name] for row in rows])
        print(f"{len(rows)} data sets, {name}: {found.mean():.1%} ({found.std(ddof=1) / np.sqrt(len(found)):.1%})")


if __name__ == "__main__":
    main()
