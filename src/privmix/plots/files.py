"""Pictures as files that appear whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def save_figure(axes: Axes, path: str | os.PathLike[str]) -> None:
    """Write the figure that holds the Axes; an existing file is replaced only by a complete one.

    Parameters
    ----------
    axes
        Axes of the figure.
    path
        Where to write; its suffix names the format: ``.png``, ``.pdf``, ``.svg``, …
    """
    path = Path(path)
    suffix = picture_format(path)
    with whole_file(path) as temporary:
        axes.figure.figure.savefig(temporary, format=suffix, dpi=150)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a temporary path to write to; it takes the place of the file at the end, and vanishes on failure."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: the folder {path.parent} does not exist. Create it.")
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def picture_format(path: Path) -> str:
    """Return the format that a picture's suffix names, or say which there are."""
    from matplotlib.backend_bases import FigureCanvasBase

    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in FigureCanvasBase.get_supported_filetypes():
        raise ValueError(f"{path} ends in {path.suffix!r}, which names no format of pictures. Use .png, .pdf or .svg.")
    return suffix
