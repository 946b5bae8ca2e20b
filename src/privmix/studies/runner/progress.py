"""Progress of a study: cells done and time left, as a bar on a terminal and as lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

# Seconds between lines where there is no terminal.
SECONDS_BETWEEN_LINES = 60.0


class Meter:
    """Counts finished cells and tells how long the rest may take.

    Parameters
    ----------
    title
        Name of the study.
    total, done
        Cells in all, and those that an earlier run finished.
    """

    def __init__(self, title: str, total: int, done: int) -> None:
        self._total, self._before, self._done = total, done, done
        self._started = self._said = time.monotonic()
        self._console = Console(stderr=True, highlight=False, markup=False)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._bar = Progress(*columns, TextColumn("{task.fields[left]}"), console=self._console)
        self._bar.disable = not self._console.is_terminal
        self._task = self._bar.add_task(title, total=total, completed=done, left="")

    def __enter__(self) -> Meter:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._bar.stop()

    def advance(self) -> None:
        """Count a cell."""
        self._done += 1
        left = self.time_left()
        self._bar.update(self._task, completed=self._done, left=f"{left} left" if left else "")
        if not self._console.is_terminal and time.monotonic() - self._said >= SECONDS_BETWEEN_LINES:
            self._said = time.monotonic()
            self.say(f"{self._done} of {self._total} cells" + (f", about {left} left" if left else ""))

    def say(self, line: str) -> None:
        """Write a line above the bar."""
        self._console.print(line, soft_wrap=True)

    def time_left(self) -> str:
        """Return the time left if the other cells take as long as those of this run; cells come in a mixed order."""
        mine = self._done - self._before
        if not mine or self._done >= self._total:
            return ""
        return in_words((time.monotonic() - self._started) / mine * (self._total - self._done))


def in_words(seconds: float) -> str:
    """Return a duration in two units at most."""
    minutes, hours, days = seconds / 60.0, seconds / 3600.0, seconds / 86400.0
    if days >= 2.0:
        return f"{int(days)} d {int(hours % 24)} h"
    if hours >= 2.0:
        return f"{int(hours)} h {int(minutes % 60)} min"
    return f"{minutes:.0f} min" if minutes >= 2.0 else f"{seconds:.0f} s"
