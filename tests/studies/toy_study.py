"""A study of quick cells, for tests of the runner: also run by other processes, which import it."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from privmix.studies import Configuration, Study, grid, product


@dataclass(frozen=True)
class Toy(Configuration):
    replicates: int = grid(4)
    scales: tuple[float, ...] = grid((1.0, 2.5))
    size: int = 5
    pause: float = 0.0
    # A file of paths: the cell of this name kills its worker, or fails, while the file is there.
    trap: str = ""

    def cells(self):
        return product(scale=self.scales, kind=("plain", "odd"), replicate=range(self.replicates))

    @classmethod
    def small(cls):
        return cls(replicates=1)


def cell(configuration, *, scale, kind, replicate, seed):
    """Return draws that depend on the seed alone."""
    time.sleep(configuration.pause)
    spring(configuration, kind, replicate)
    draws = scale * np.random.default_rng(seed).standard_normal(configuration.size)
    return {"draws": draws, "mean": draws.mean(), "kind": kind, "pid": os.getpid() * 0}


def spring(configuration, kind, replicate):
    trap = Path(configuration.trap) if configuration.trap else None
    if trap is None or kind != "odd" or replicate != 1:
        return
    if trap.name == "fails":
        raise ZeroDivisionError("a trap")
    if trap.name == "always":
        os.kill(os.getpid(), signal.SIGKILL)
    if trap.exists():
        trap.unlink()
        os.kill(os.getpid(), signal.SIGKILL)


def figures(results, folder):
    """Write what there is as text."""
    lines = [f"{scale} {results.select(scale=scale).median('mean'):.17g}" for scale in results.axis("scale")]
    (folder / "means.txt").write_text("\n".join(lines))


study = Study("toy", "Draws that depend on the seed alone.", Toy, cell, figures)
