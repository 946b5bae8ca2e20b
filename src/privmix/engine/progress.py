"""Progress of running chains: bars on a terminal or in a notebook, elsewhere a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

    from privmix.engine.chains import Monitor

# Seconds before the first line, the factor by which later ones are further apart, and the longest pause.
FIRST_PAUSE, PAUSE_GROWTH, LONGEST_PAUSE = 2.0, 1.5, 60.0
MINUTE, HOUR = 60.0, 3600.0


def tell(line: str) -> None:
    """Write a line on the progress of a fit to stderr."""
    print(f"progress: {line}", file=sys.stderr, flush=True)


@contextmanager
def show_progress(monitor: Monitor | None, futures: list[Future]) -> Iterator[None]:
    """Show how far chains are while the body waits; without a shared monitor, a count of finished chains."""
    show = show_bars if sys.stdout.isatty() or "ipykernel" in sys.modules else show_lines
    finished = threading.Event()
    painter = threading.Thread(target=show, args=(monitor, futures, finished.wait), daemon=True)
    painter.start()
    try:
        yield
    finally:
        finished.set()
        painter.join()


def show_lines(monitor: Monitor | None, futures: list[Future], wait: Callable[[float], bool]) -> None:
    """Write a line now and then, soon at first; `wait` pauses for some seconds, and says whether the chains are done.

    Chains that are done before the first pause is over have nothing to say.
    """
    began, pause = time.monotonic(), FIRST_PAUSE
    while not wait(pause):
        tell(describe(monitor, futures, time.monotonic() - began))
        pause = min(PAUSE_GROWTH * pause, LONGEST_PAUSE)


def describe(monitor: Monitor | None, futures: list[Future], seconds: float) -> str:
    """Return where chains are after so many seconds, and how long they will take, in a line of plain characters."""
    if monitor is None:
        return f"{sum(future.done() for future in futures)} of {len(futures)} chains done after {in_time(seconds)}"
    begun = [row for row in monitor.rows if row]
    if not begun:
        return f"compiling, for {in_time(seconds)} so far: 10 s to a minute, once on a machine for each kind of fit"
    total, done = monitor.sweeps * len(monitor.rows), int(sum(row["done"] for row in begun))
    speed = sum(row["rate"] for row in begun if row["done"] < monitor.sweeps)
    left = f"; {in_time((total - done) / speed)} left" if speed > 0.0 else ""
    warm = "" if all(row["kept"] for row in begun) else ", in warm-up"
    return f"{done / total:.0%} of {total:,} sweeps{warm}, {speed:,.0f} a second{left}"


def in_time(seconds: float) -> str:
    """Return a length of time in words, as closely as a reader wants it."""
    if seconds < MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / MINUTE:.1f} min" if seconds < HOUR else f"{seconds / HOUR:.1f} h"


def show_bars(monitor: Monitor | None, futures: list[Future], wait: Callable[[float], bool]) -> None:
    """Show a bar for each chain, or one for all where nothing is known of each."""
    with _bars() as progress:
        totals = [len(futures)] if monitor is None else [monitor.sweeps] * len(monitor.rows)
        names = ["chains"] if monitor is None else [f"chain {i + 1}" for i in range(len(monitor.rows))]
        tasks = [progress.add_task(name, total=total, note="") for name, total in zip(names, totals, strict=True)]
        last = False
        while not last:
            last = wait(0.25)
            _paint(progress, tasks, monitor, futures)


def _bars() -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    words, note = TextColumn("{task.description}"), TextColumn("{task.fields[note]}")
    return Progress(words, BarColumn(), MofNCompleteColumn(), note, TimeRemainingColumn(), refresh_per_second=4)


def _paint(progress: Progress, tasks: list[Any], monitor: Monitor | None, futures: list[Future]) -> None:
    if monitor is None:
        progress.update(tasks[0], completed=sum(future.done() for future in futures))
        return
    for task, row in zip(tasks, monitor.rows, strict=True):
        if row:
            progress.update(task, completed=int(row["done"]), note=_note(row))


def _note(row: dict[str, float]) -> str:
    text = f"{row['rate']:,.0f} sweeps/s"
    if "clusters" in row:
        text += f" · {row['clusters']:.0f} clusters"
        if row["acceptance"] == row["acceptance"]:
            text += f" · accepts {row['acceptance']:.0%}"
    return text if row["kept"] else text + " · warm-up"
