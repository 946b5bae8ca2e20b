"""Progress of running chains: sweeps, draws a second, clusters and acceptance."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from privmix.engine.chains import Monitor


@contextmanager
def show_progress(monitor: Monitor | None, futures: list[Future]) -> Iterator[None]:
    """Show a line for each chain while the body waits; without a shared monitor, a count of finished chains."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    finished = threading.Event()
    with Progress(*columns, refresh_per_second=4) as progress:
        painter = threading.Thread(target=_paint, args=(progress, monitor, futures, finished), daemon=True)
        painter.start()
        try:
            yield
        finally:
            finished.set()
            painter.join()


def _paint(progress: Progress, monitor: Monitor | None, futures: list[Future], finished: threading.Event) -> None:
    if monitor is None:
        task = progress.add_task("chains", total=len(futures), note="")
        while True:
            last = finished.wait(0.25)
            progress.update(task, completed=sum(future.done() for future in futures))
            if last:
                return
    tasks = [progress.add_task(f"chain {i + 1}", total=monitor.sweeps, note="") for i in range(len(monitor.rows))]
    while True:
        last = finished.wait(0.25)
        for task, row in zip(tasks, monitor.rows, strict=True):
            if row:
                progress.update(task, completed=int(row["done"]), note=_note(row))
        if last:
            return


def _note(row: dict[str, float]) -> str:
    text = f"{row['rate']:,.0f} sweeps/s"
    if "clusters" in row:
        text += f" · {row['clusters']:.0f} clusters"
        if row["acceptance"] == row["acceptance"]:
            text += f" · accepts {row['acceptance']:.0%}"
    return text if row["kept"] else text + " · warm-up"
