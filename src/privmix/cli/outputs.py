"""Outputs are checked before the long work, so that a fit is not lost for want of a folder."""

from __future__ import annotations

import os
from pathlib import Path


def check_output(path: Path, *suffixes: str) -> None:
    """Refuse a path that cannot be written, or whose suffix names none of the formats."""
    if suffixes and path.suffix.lower() not in suffixes:
        raise ValueError(f"{path} ends in {path.suffix!r}, which names no known format. Use {' or '.join(suffixes)}.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, but a file is to be written there. Give the path of a file.")
    check_folder(path.parent)


def check_folder(folder: Path) -> None:
    """Refuse a folder that does not exist or cannot be written to."""
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise FileNotFoundError(f"the output folder {folder} {what}. Create it, or choose another.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"the output folder {folder} cannot be written to. Change its rights, or choose another.")


def check_differs(output: Path, source: Path) -> None:
    """Refuse to write over the input."""
    if output.exists() and source.exists() and output.samefile(source):
        raise ValueError(f"--output {output} is the input itself, which would be lost. Choose another path.")
