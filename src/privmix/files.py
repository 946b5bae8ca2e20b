"""Files that appear whole or not at all: the one way in which anything is written."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a temporary path to write to; it takes the place of the file at the end, and vanishes on failure."""
    with whole_files(path) as (temporary,):
        yield temporary


@contextmanager
def whole_files(*paths: Path) -> Iterator[list[Path]]:
    """Give temporary paths to write to; all take their places at the end, or none does and what was there stays."""
    for path in paths:
        if not path.parent.is_dir():
            raise FileNotFoundError(f"{path} cannot be written: the folder {path.parent} does not exist. Create it.")
    mark = uuid.uuid4().hex
    fresh = {path: path.with_name(f".{path.name}.{mark}.part") for path in paths}
    kept = {path: path.with_name(f".{path.name}.{mark}.old") for path in paths}
    try:
        yield list(fresh.values())
        for temporary in fresh.values():
            _flush(temporary)
        _swap(fresh, kept)
    finally:
        for leftover in (*fresh.values(), *kept.values()):
            leftover.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Wait until the file is on the disk, so that it is whole even if the machine loses power."""
    with path.open("rb+") as written:
        os.fsync(written.fileno())


def _swap(fresh: dict[Path, Path], kept: dict[Path, Path]) -> None:
    """Put the fresh files in place, and the former ones back if that fails half-way."""
    *first, last = fresh
    for target in first:
        if target.exists():
            shutil.copy2(target, kept[target])
    done: list[Path] = []
    try:
        for target in (*first, last):
            os.replace(fresh[target], target)
            done.append(target)
    except BaseException:
        for target in done:
            if kept[target].exists():
                os.replace(kept[target], target)
            else:
                target.unlink()
        raise
