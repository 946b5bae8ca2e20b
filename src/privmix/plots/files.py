"""Pictures as files that appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from privmix.files import whole_file

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


def picture_format(path: Path) -> str:
    """Return the format that a picture's suffix names, or say which there are."""
    from matplotlib.backend_bases import FigureCanvasBase

    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in FigureCanvasBase.get_supported_filetypes():
        raise ValueError(f"{path} ends in {path.suffix!r}, which names no format of pictures. Use .png, .pdf or .svg.")
    return suffix
