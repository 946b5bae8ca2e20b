"""Cells on a Dask cluster: its scheduler hands them out, and begins those of a lost worker again elsewhere."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from typing import Any

from privmix.studies.runner.configuration import Configuration, Coordinates
from privmix.studies.runner.seeds import cell_name
from privmix.studies.runner.study import Study
from privmix.studies.runner.work import Outcome, Outcomes, Say, work

# Seconds between looks at what has come in, and to wait for the scheduler at first.
PAUSE_SECONDS, CONNECT_SECONDS = 0.2, 30.0


def run_on_cluster(
    study: Study, configuration: Configuration, cells: Sequence[Coordinates], address: str, say: Say
) -> Outcomes:
    """Run cells on the workers of a Dask scheduler and yield their outcomes as they come.

    Results travel to this process, which writes them: workers need no common file system. They need privmix and the
    module of the study. When the generator is closed, cells that are left are cancelled.
    """
    client, futures = _connect(address), list[Any]()
    try:
        from distributed import as_completed

        token = uuid.uuid4().hex[:8]  # so that two runs on one scheduler do not share work
        futures += [
            client.submit(work, study, configuration, cell, key=f"{study.name}/{cell_name(cell)}/{token}", pure=False)
            for cell in cells
        ]
        which = {future.key: cell for future, cell in zip(futures, cells, strict=True)}
        ready, workers = as_completed(futures), set[str]()
        while which:
            workers = _watch(client, workers, say)
            for future in ready.next_batch(block=False):
                cell = which.pop(future.key)
                yield _outcome(future, cell, address)
                futures.remove(future)  # the scheduler may forget it
            time.sleep(PAUSE_SECONDS)
    finally:
        if futures:
            client.cancel(futures)
        client.close()


def _connect(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError("a Dask cluster needs the package distributed: pip install 'privmix[studies]'.") from error
    try:
        return Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {address!r} ({error}). Start one with `dask scheduler`, which prints its "
            "address, and workers with `dask worker ADDRESS --nthreads 1`."
        ) from error


def _watch(client: Any, before: set[str], say: Say) -> set[str]:
    """Say which workers were lost and when none is left; return those there are."""
    now = set(client.scheduler_info(n_workers=-1)["workers"])
    for address in sorted(before - now):
        say(f"the worker at {address} is gone; its cells are begun again elsewhere.")
    if before and not now:
        say("no worker is left; the study goes on when one joins.")
    return now


def _outcome(future: Any, cell: Coordinates, address: str) -> Outcome:
    if future.status == "finished":
        return future.result()
    if future.status == "error":  # distributed gives up a cell after several workers died on it
        return Outcome(cell, None, error=repr(future.exception()))
    raise ConnectionError(f"the scheduler at {address} is lost. Finished cells are kept: run the study again.")
