"""Files that appear whole or not at all: the one way in which anything is written."""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Why a disk takes no more, by the number of the error.
FULL = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "your quota is used up", errno.EFBIG: "files may not be so big"}


def write_bytes(path: Path, *pieces: bytes | memoryview) -> None:
    """Write a file whose content is at hand."""
    with whole_files(path, size=sum(map(len, pieces))) as (temporary,), temporary.open("wb") as file:
        for piece in pieces:
            file.write(piece)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a temporary path to write to; it takes the place of the file at the end, and vanishes on failure."""
    with whole_files(path) as (temporary,):
        yield temporary


@contextmanager
def whole_files(*paths: Path, size: int | None = None) -> Iterator[list[Path]]:
    """Give temporary paths to write to; all take their places at the end, or none does and what was there stays.

    What processes that were killed left behind of the same files is removed first. `size`, the bytes that are needed,
    is told where the disk has no room for them.
    """
    for path in paths:
        if not path.parent.is_dir():
            raise FileNotFoundError(f"{path} cannot be written: the folder {path.parent} does not exist. Create it.")
        _remove_debris(path)
    mark = f"{_host()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    fresh = {path: path.with_name(f".{path.name}.{mark}.part") for path in paths}
    kept = {path: path.with_name(f".{path.name}.{mark}.old") for path in paths}
    try:
        yield list(fresh.values())
        for temporary in fresh.values():
            _flush(temporary)
        _swap(fresh, kept)
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise _no_room(paths[-1], size, error) from error
    finally:
        for leftover in (*fresh.values(), *kept.values()):
            leftover.unlink(missing_ok=True)


def _host() -> str:
    """Return a short name of this machine: a folder may be shared by several."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _remove_debris(path: Path) -> None:
    """Remove what processes of this machine that are gone began to write in the place of a file."""
    mark = re.compile(re.escape(f".{path.name}.{_host()}-") + r"(\d+)-[0-9a-f]{8}\.(part|old)")
    for found in path.parent.iterdir():
        match = mark.fullmatch(found.name)
        if match and not _lives(int(match[1])):
            found.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    """Return whether a process of that number may be running; where that cannot be asked, it may."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)  # sends nothing
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _no_room(path: Path, size: int | None, error: OSError) -> OSError:
    needed = "" if size is None else f" ({size / 1e6:,.1f} MB are needed, {_free(path.parent) / 1e6:,.1f} MB are free)"
    what = f"{path} cannot be written: {FULL[error.errno or 0]}{needed}. What was there before is unchanged."
    full = OSError(f"{what} Make room, or choose another folder.")
    full.errno = error.errno
    return full


def _free(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0


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
