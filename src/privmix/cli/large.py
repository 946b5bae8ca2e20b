"""What `privmix fit` reads where there is much of it: several files, or one that is counted and not read."""

from __future__ import annotations

import functools
import operator
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privmix.cli import options
from privmix.cli.inputs import read_release
from privmix.counting.files import MOST_ROWS_READ, count_files, count_release, refuse_twice, rows_of
from privmix.engine.progress import FIRST_PAUSE, LONGEST_PAUSE, PAUSE_GROWTH, tell
from privmix.mechanisms.counted import refusal
from privmix.parts.options import flag
from privmix.release.files import METADATA_KEY, describes_itself, require_pyarrow
from privmix.release.metadata import build_mechanism, parse_metadata
from privmix.release.readers.table import Layout, Processing, has_bins

if TYPE_CHECKING:
    from privmix import Release


class Counting:
    """Lines on how far counting is: soon at first, then further apart."""

    def __init__(self) -> None:
        self.began, self.pause = time.monotonic(), FIRST_PAUSE
        self.due = self.began + self.pause

    def __call__(self, done: int, rows: int) -> None:
        """Take note of the rows that were counted; write a line where one is due, and at the end of a long count."""
        now = time.monotonic()
        if now < self.due and (done < rows or self.pause == FIRST_PAUSE):
            return
        tell(f"counted {done:,} of {rows:,} rows after {now - self.began:.0f} s")
        self.pause = min(PAUSE_GROWTH * self.pause, LONGEST_PAUSE)
        self.due = now + self.pause


def read_releases(
    sources: list[Path], name: str | None, about: dict[str, Any], layout: Layout, done: Processing, *, show: bool
) -> Release:
    """Return the release in one file; or the counts of several, or of one with very many rows."""
    if len(sources) == 1 and not _is_large(sources[0]):
        return read_release(sources[0], name, about, layout, done)
    refuse_twice(sources)
    if name is not None or "noise" in about:
        for source in sources:
            refuse_named(source)
    if name is None and "noise" in about:
        about = dict(about)
        name = str(about.pop("noise"))
    if len(sources) == 1 and refusal(_mechanism_of(sources[0], name, about)):
        return read_release(sources[0], name, about, layout, done)
    told = {**layout._asdict(), **done._asdict(), "column": None if name else layout.column}
    strange = [flag(key) for key, value in told.items() if value is not None and not (name and key == "column")]
    if strange:
        raise ValueError(f"{strange[0]} is for one table that is read as it is; these are counted. Leave it out.")
    counting = Counting() if show else None
    if name is not None:
        mechanism: Any = options.build_mechanism(name, about)
        return count_files(sources, layout.column, mechanism, show=counting)
    releases = [count_release(each, counting) if _is_large(each) else _in_counts(each) for each in sources]
    return functools.reduce(operator.add, releases)


def refuse_named(source: Path) -> None:
    """Refuse a file whose mechanism was named if it says its own, or holds bins: its counts are no records."""
    if describes_itself(source):
        raise ValueError(f"{source} says itself what mechanism made it. Leave out --mechanism, --noise and the rest.")
    if source.is_file() and has_bins(source):
        raise ValueError(f"{source} is a table of bins, and several files are counted record by record. Fit it alone.")


def _in_counts(source: Path) -> Release:
    """Return the counts that a file holds, or those of its records."""
    from privmix import Release
    from privmix.mechanisms import Counted

    release: Any = read_release(source, None, {})
    if release.mechanism.is_counted:
        return release
    counted = Counted(release.mechanism)
    return Release(counted.count(release.z), counted, release.notes)


def _is_large(source: Path) -> bool:
    """Return whether a file has more rows than are read at once."""
    return source.suffix.lower() == ".parquet" and source.is_file() and rows_of(source) > MOST_ROWS_READ


def _mechanism_of(source: Path, name: str | None, about: dict[str, Any]) -> Any:
    """Return the mechanism that the options describe, or that a Parquet file names."""
    if name is not None or not describes_itself(source):
        return None if name is None else options.build_mechanism(name, about)
    _, parquet = require_pyarrow(source)
    text = parquet.read_schema(source).metadata[METADATA_KEY].decode(errors="replace")
    return build_mechanism(source, parse_metadata(source, text)["mechanism"], None)
