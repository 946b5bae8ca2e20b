"""Run a study: every cell that is not finished yet, then the figures."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from privmix.engine.chains import available_cpus
from privmix.studies.runner.cluster import run_on_cluster
from privmix.studies.runner.configuration import Configuration, Coordinates
from privmix.studies.runner.local import run_local
from privmix.studies.runner.progress import Meter
from privmix.studies.runner.results import Results
from privmix.studies.runner.seeds import cell_name
from privmix.studies.runner.store import Store
from privmix.studies.runner.study import Study
from privmix.studies.runner.work import Outcome


@dataclass
class Report:
    """What a run did.

    Parameters
    ----------
    before
        Cells that were finished already.
    done
        Cells that this run finished.
    failed
        Reason for each cell that failed.
    """

    before: int = 0
    done: int = 0
    failed: dict[str, str] = field(default_factory=dict)


def run_study(
    study: Study,
    configuration: Configuration,
    folder: str | Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
) -> Report:
    """Run the cells of a study that have no results yet.

    Parameters
    ----------
    study
        What to run.
    configuration
        Its sizes. A folder in which the study was begun must have been begun with the same settings.
    folder
        Where results are kept: ``cells/``, one file each, ``study.json`` and ``log.jsonl``.
    workers
        Processes of this machine, by default one for each processor.
    scheduler
        Address of a Dask scheduler to use instead.

    Returns
    -------
    Report
        Cells that were finished before, in this run, and those that failed. After an interruption, finished cells
        are kept and the next call goes on.
    """
    store = Store(Path(folder), study)
    with store.lock():
        store.begin(configuration)
        cells = configuration.cells()
        todo = [cell for cell in in_order(cells) if not store.is_finished(cell)]
        report = Report(before=len(cells) - len(todo))
        if todo:
            with Meter(study.name, len(cells), report.before) as meter:
                _run(store, configuration, todo, report, meter, workers or available_cpus(), scheduler)
    return report


def in_order(cells: Sequence[Coordinates]) -> list[Coordinates]:
    """Return the cells replicate by replicate, mixed within each.

    So the figures of a study that is half done show the whole grid, and small and large cells alternate, which makes
    the time left honest.
    """
    names = [cell_name(cell) for cell in cells]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the grid has the cell {twice} more than once.")
    mixed = [hashlib.sha256(name.encode()).hexdigest() for name in names]
    keys = [(cell.get("replicate", 0), key) for cell, key in zip(cells, mixed, strict=True)]
    return [cell for _, cell in sorted(zip(keys, cells, strict=True), key=lambda pair: pair[0])]


def _run(
    store: Store,
    configuration: Configuration,
    todo: list[Coordinates],
    report: Report,
    meter: Meter,
    workers: int,
    scheduler: str | None,
) -> None:
    if scheduler is None:
        outcomes = run_local(store.study, configuration, todo, workers, meter.say)
    else:
        outcomes = run_on_cluster(store.study, configuration, todo, scheduler, meter.say)
    with closing(outcomes):  # type: ignore[type-var]
        for outcome in outcomes:
            _keep(store, outcome, report, meter)
            meter.advance()


def _keep(store: Store, outcome: Outcome, report: Report, meter: Meter) -> None:
    """Write what a cell gave, or why it gave nothing."""
    if outcome.values is None:
        name = cell_name(outcome.coordinates)
        report.failed[name] = outcome.error
        store.log("failed", outcome.coordinates, error=outcome.error, trace=outcome.trace)
        meter.say(f"{name} failed: {outcome.error}")
    else:
        store.write(outcome.coordinates, outcome.values)
        store.log("finished", outcome.coordinates, seconds=round(outcome.seconds, 3))
        report.done += 1


def draw_figures(study: Study, folder: str | Path) -> Results:
    """Draw the figures and write the table of a study from whatever results there are.

    Parameters
    ----------
    study
        What was run.
    folder
        Where its results are. Figures go to ``figures/``, the single numbers of all cells to ``results.csv``.
    """
    store = Store(Path(folder), study)
    results = Results.load(store)
    if not len(results):
        raise ValueError(f"{folder} has no finished cell yet, so there is nothing to draw. Run the study first.")
    pictures = store.folder / "figures"
    pictures.mkdir(exist_ok=True)
    results.write_table(store.folder / "results.csv")
    study.figures(results, pictures)
    return results
