"""Progress of running chains: sweeps, draws a second, clusters and acceptance."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from privmix.engine import block


class Monitor:
    """What the chains of this process report, and how they are told to stop."""

    def __init__(self, chains: int, sweeps: int) -> None:
        self.stop = threading.Event()
        self.sweeps = sweeps
        self.rows: list[dict[str, float]] = [{} for _ in range(chains)]
        self._started: list[float] = [0.0] * chains

    def report(self, index: int, control: np.ndarray, draws: Any) -> None:
        """Take note of where a chain is, after a block."""
        now = time.perf_counter()
        kept, done = int(control[block.KEPT]), int(control[block.DONE])
        # The first block is not counted: it holds the compilation.
        first = self.rows[index].get("first", done)
        if not self.rows[index]:
            self._started[index] = now
        row = {"done": done, "kept": kept, "first": first}
        row["rate"] = (done - first) / max(now - self._started[index], 1e-9)
        if kept:
            row["clusters"] = float(draws.n_clusters[kept - 1])
            row["acceptance"] = float(draws.statistic[kept - 1, 0])
        self.rows[index] = row


@contextmanager
def show_progress(monitor: Monitor | None, futures: list[Future], *, enabled: bool) -> Iterator[None]:
    """Show a line for each chain while the body waits; without a shared monitor, a count of finished chains."""
    if not enabled:
        yield
        return
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
