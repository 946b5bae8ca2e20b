"""Cells on processes of this machine.

Every worker is an executor of one process. So when one dies, the cell that it held is known, and the others go on.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker

from privmix.studies.runner.configuration import Configuration, Coordinates
from privmix.studies.runner.seeds import cell_name
from privmix.studies.runner.study import Study
from privmix.studies.runner.work import ATTEMPTS, Outcome, Outcomes, Say, work


def run_local(
    study: Study, configuration: Configuration, cells: Sequence[Coordinates], workers: int, say: Say
) -> Outcomes:
    """Run cells on `workers` processes and yield their outcomes as they come.

    A cell whose worker dies is begun again. When the generator is closed, running cells are stopped.
    """
    waiting, deaths = deque(cells), Counter[str]()
    seats = [Seat() for _ in range(min(workers, len(waiting)))]
    free, busy = list(seats), dict[Future, tuple[Seat, Coordinates]]()
    try:
        while waiting or busy:
            while free and waiting:
                seat, cell = free.pop(), waiting.popleft()
                busy[seat.submit(study, configuration, cell)] = seat, cell
            # In short steps, so that the main thread hears Ctrl-C on every platform.
            for future in wait(busy, timeout=0.2, return_when=FIRST_COMPLETED).done:
                seat, cell = busy.pop(future)
                free.append(seat)
                outcome = _outcome(future, cell, deaths, say)
                if outcome is None:
                    waiting.appendleft(cell)
                else:
                    yield outcome
    finally:
        for seat in seats:
            seat.stop(any(held is seat for held, _ in busy.values()))


def _outcome(future: Future, cell: Coordinates, deaths: Counter[str], say: Say) -> Outcome | None:
    """Return how a cell ended, or None if it is to be begun again."""
    try:
        return future.result()
    except BrokenExecutor:
        name = cell_name(cell)
        deaths[name] += 1
        if deaths[name] < ATTEMPTS:
            say(f"the worker of {name} died, killed or out of memory; the cell is begun again.")
            return None
        return Outcome(cell, None, error=f"{deaths[name]} workers died on it.")
    except Exception as error:  # its results cannot be sent, for instance
        return Outcome(cell, None, error=repr(error))


class Seat:
    """A worker process, replaced when it dies."""

    def __init__(self) -> None:
        self._executor: ProcessPoolExecutor | None = None
        self._pid: Future[int] | None = None
        self._last: Future | None = None

    def submit(self, study: Study, configuration: Configuration, cell: Coordinates) -> Future:
        """Give the worker a cell; begin a new process where there is none."""
        if self._executor is not None and self._last is not None and isinstance(self._last.exception(), BrokenExecutor):
            self._executor.shutdown(wait=True)
            self._executor = None
        if self._executor is None:
            context = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(1, mp_context=context, initializer=follow_parent)
            with _deaf_to_ctrl_c():
                self._pid = self._executor.submit(os.getpid)
        try:
            self._last = self._executor.submit(work, study, configuration, cell)
        except BrokenExecutor as error:  # it died while it was idle
            self._last = Future()
            self._last.set_exception(error)
        return self._last

    def stop(self, at_once: bool) -> None:
        """End the process: after its cell, or at once, which loses that cell."""
        if self._executor is None or self._pid is None:
            return
        if at_once:
            with suppress(BrokenExecutor, ProcessLookupError, TimeoutError):
                os.kill(self._pid.result(timeout=60), signal.SIGTERM)
        self._executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Start children inside that do not hear Ctrl-C, which goes to the whole group of processes.

    Children inherit that it is blocked. Here it is noted, by whatever thread hears it, and raised afterwards: ignored,
    as it was, a Ctrl-C of that moment was lost.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    noted: list[int] = []
    resource_tracker.ensure_running()  # else it starts with the first child, and lifts the block when it has
    handler = signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if noted:
        raise KeyboardInterrupt


def follow_parent() -> None:
    """End this worker when the main process dies: a killed run leaves no processes behind."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
