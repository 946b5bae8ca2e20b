"""Is a fit whose chains disagree ever silent about it? Short runs on counts, from ten seeds each.

`python -m benchmarks.silence` fits each cell from ten seeds and prints, for each, the worst R-hat of the density at 20
points, least and largest over the seeds, in how many of them it is above 1.05, and in how many of those and of all
`posterior.check()` warns that the bands are not to be trusted. Results go to a file, so that a run goes on where one
stopped.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import privmix
from benchmarks.mixing import MECHANISMS, POINTS, counts_of
from privmix import samplers
from privmix.checks.check import doubt_of
from privmix.checks.summary import summarise
from privmix.curves.density import density_draws
from privmix.mechanisms import Counted

RESULTS = Path(__file__).parent / "results" / "silence.jsonl"
LARGEST, SEEDS = 1.05, 10
# Sampler, mechanism, target, records, warm-up and draws of each of four chains.
CELLS = [
    ("Binned", "response1", "normals", 1e5, 300, 300),
    ("Binned", "response1", "normals", 1e7, 2000, 1000),
    ("Binned", "response1", "skewed", 1e9, 2000, 1000),
    ("Binned", "laplace10", "normals", 1e6, 1000, 500),
    ("Binned", "laplace10", "normals", 1e9, 1000, 500),
    ("Binned", "laplace1", "skewed", 1e8, 1000, 500),
    ("Binned", "wave2", "normals", 1e7, 300, 300),
    ("Binned", "staggered1", "skewed", 1e8, 1000, 500),
    ("Lifted", "response1", "normals", 1e9, 60, 150),
    ("Lifted", "laplace1", "skewed", 1e9, 150, 150),
    ("Lifted", "laplace10", "skewed", 1e8, 60, 100),
]


def look(sampler: str, name: str, target: str, n: float, warmup: int, draws: int, seed: int) -> dict:
    """Return the worst R-hat of the density of one fit, and what its check says first."""
    counted = Counted(MECHANISMS[name]())
    release = privmix.Release(counts_of(counted, target, n, 1), counted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        posterior = privmix.fit(
            release, sampler=getattr(samplers, sampler)(), draws=draws, warmup=warmup, thin=1, seed=seed
        )
    density = density_draws(posterior.model.kernel, posterior.arrays, POINTS)
    table = summarise({f"{x:g}": density[..., j] for j, x in enumerate(POINTS)})
    return {"r_hat": float(table["r_hat"].max(skipna=False)), "doubt": doubt_of(posterior.check(replicates=20, seed=1))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    done = [json.loads(line) for line in options.results.read_text().splitlines()] if options.results.exists() else []
    for cell in CELLS:
        rows = []
        for seed in range(SEEDS):
            key = [*cell, seed]
            found = next((row for row in done if row["key"] == key), None)
            if found is None:
                found = {"key": key, **look(*cell, seed)}
                with options.results.open("a") as file:
                    file.write(json.dumps(found) + "\n")
            rows.append(found)
        above = [row for row in rows if not row["r_hat"] <= LARGEST]
        told = [sum(bool(row["doubt"]) for row in some) for some in (above, rows)]
        worst = sorted(row["r_hat"] for row in rows)
        print(f"{cell}: R-hat {worst[0]:.2f} to {worst[-1]:.2f}, above {LARGEST:g} in {len(above)} of {SEEDS}, "
              f"{told[0]} of which are flagged; {told[1]} of all are", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
