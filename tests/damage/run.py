"""Load damaged files in a process of its own and say what came of it: `run.py FOLDER FIRST COUNT`.

Nothing may crash or raise anything but an error for the user, in one line. What loads after its bytes were changed is
what was saved; what loads after an edit with a checksum that fits can go on and gives a density.
"""

import collections
import json
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import privmix
from damage import mutate
from privmix import Release
from privmix.cli.outputs import explain


def same_fit(one, other):
    """Return whether two fits have the same draws, model, sampler and last states."""
    arrays = [np.array_equal(a, b, equal_nan=True) for a, b in zip(one.arrays, other.arrays, strict=True)]
    ends = [
        all(np.array_equal(a, b, equal_nan=True) for a, b in zip(mine.state, theirs.state, strict=True))
        and mine.rng.bit_generator.state == theirs.rng.bit_generator.state
        for mine, theirs in zip(one.ends, other.ends, strict=True)
    ]
    return all(arrays) and all(ends) and (one.model, one.sampler) == (other.model, other.sampler)


def go_on(fit):
    """Use a fit as its owner would: compiled code sees all that it holds."""
    fit.resume(2)
    fit.density([0.0, 1.0])


class Runner:
    """The files that were saved, and the place where damaged ones are put."""

    def __init__(self, folder):
        self.folder = folder
        self.saved = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        (folder / "damaged").mkdir(exist_ok=True)
        self.releases = {name: Release.load(folder / name) for name in ("a.csv", "b.csv", "a.parquet")}
        self.fits = {name: privmix.load(folder / name) for name in self.saved if name.endswith(".nc")}
        self.kinds = [self.csv, self.sidecar, self.metadata, self.parquet, self.fit, self.edited, self.edited]

    def put(self, name, content):
        path = self.folder / "damaged" / name
        path.write_bytes(content)
        return path

    def release(self, rng, name, damaged):
        for held in self.saved:
            if held.startswith(name):
                self.put(held, self.saved[held])
        self.put(*damaged)
        return Release.load(self.folder / "damaged" / name) == self.releases[name]

    def csv(self, rng):
        name = ("a.csv", "b.csv")[rng.integers(2)]
        return self.release(rng, name, (name, mutate.bytes_of(rng, self.saved[name])))

    def sidecar(self, rng):
        name = ("a.csv", "b.csv")[rng.integers(2)]
        return self.release(rng, name, (f"{name}.json", mutate.bytes_of(rng, self.saved[f"{name}.json"])))

    def metadata(self, rng):
        name = ("a.csv", "b.csv")[rng.integers(2)]
        made = mutate.metadata_of(rng, self.saved[f"{name}.json"].decode())
        self.release(rng, name, (f"{name}.json", made.encode()))
        return True  # a forged checksum may hide another release

    def parquet(self, rng):
        return self.release(rng, "a.parquet", ("a.parquet", mutate.bytes_of(rng, self.saved["a.parquet"])))

    def fit(self, rng):
        name = sorted(self.fits)[rng.integers(len(self.fits))]
        damaged = self.put(name, mutate.bytes_of(rng, self.saved[name]))
        return same_fit(privmix.load(damaged), self.fits[name])

    def edited(self, rng):
        name = sorted(self.fits)[rng.integers(len(self.fits))]
        go_on(privmix.load(self.put(name, mutate.fit_of(rng, self.saved[name]))))
        return True

    def try_one(self, seed):
        """Return the kind of damage and what came of it."""
        rng = np.random.default_rng(seed)
        kind = self.kinds[seed % len(self.kinds)]
        try:
            outcome = "loaded" if kind(rng) else "LOADED SOMETHING ELSE"
        except (ValueError, LookupError) as error:
            line = explain(error)
            outcome = "refused" if line and type(error) in (ValueError, LookupError) else f"RAISED {error!r}"
        except Exception as error:
            outcome = f"RAISED {error!r}"
        return kind.__name__, outcome


def main():
    folder, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    runner, found = Runner(folder), collections.Counter()
    warnings.simplefilter("ignore")
    for seed in range(first, first + count):
        (folder / "last").write_text(str(seed))  # where a crash happened
        kind, outcome = runner.try_one(seed)
        found[f"{kind} {outcome}"] += 1
        if outcome not in ("loaded", "refused"):
            found[f"seed {seed}: {kind} {outcome}"] += 1
    print(json.dumps(found))


if __name__ == "__main__":
    main()
