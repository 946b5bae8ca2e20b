"""What a worker does with a cell, wherever it is."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from privmix.studies.runner.configuration import Configuration, Coordinates
from privmix.studies.runner.study import Study

# How often a cell is begun whose worker dies: what kills a worker is mostly no fault of the cell, but may be.
ATTEMPTS = 3

Say = Callable[[str], None]


@dataclass(frozen=True)
class Outcome:
    """How a cell ended.

    Parameters
    ----------
    coordinates
        Which cell.
    values
        Its results; None where it failed.
    seconds
        How long it took.
    error, trace
        Why it failed, in a line, and where.
    """

    coordinates: Coordinates
    values: dict[str, np.ndarray] | None
    seconds: float = 0.0
    error: str = ""
    trace: str = ""


Outcomes = Iterator[Outcome]


def work(study: Study, configuration: Configuration, coordinates: Coordinates) -> Outcome:
    """Run a cell; an error is part of the outcome, because the same seed would only give it again."""
    clock = time.perf_counter()
    try:
        values = study.run_cell(configuration, coordinates)
    except Exception as error:
        line = " ".join(f"{type(error).__name__}: {error}".split())
        return Outcome(coordinates, None, time.perf_counter() - clock, line, traceback.format_exc())
    return Outcome(coordinates, values, time.perf_counter() - clock)
