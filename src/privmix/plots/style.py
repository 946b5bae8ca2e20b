"""What all pictures share: files, and colours and lines that survive colour-blindness and a black-and-white printer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privmix.files import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito (2008), without its yellow, too light for a line on white; neighbours differ in lightness too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
# Dash patterns in points: solid, dash-dot, dotted, long dashes. The plain dash is kept for the truth.
LINES: tuple[Any, ...] = ("solid", (0, (7, 1.5, 1.5, 1.5)), (0, (1.5, 1.5)), (0, (9, 2)))
RELEASE_COLOUR = "0.88"
RELEASE_EDGE = "0.65"
PRIOR_COLOUR = "0.3"
PRIOR_LINE: Any = (0, (1, 1.6))
DOUBT_COLOUR = "#B34700"
TRUTH_COLOUR = "black"
TRUTH_LINE: Any = (0, (4, 2.5))


def line_style(index: int) -> dict[str, Any]:
    """Return the colour and the dashes of the index-th curve of a picture."""
    return {"color": COLOURS[index % len(COLOURS)], "linestyle": LINES[index % len(LINES)]}


def as_axes(ax: Axes | None) -> Axes:
    """Return the Axes to draw on: those given, or those of a new figure.

    Parameters
    ----------
    ax
        Axes to draw on, or None for a new figure of pyplot, so that notebooks show it.
    """
    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(figsize=(7.5, 4.5), layout="constrained")[1]
    if not hasattr(ax, "fill_between"):
        hint = " Give one of the Axes that it holds." if hasattr(ax, "axes") or hasattr(ax, "__len__") else ""
        raise TypeError(f"ax must be one matplotlib Axes, or None for a new figure; got {ax!r}.{hint}")
    return ax


def plain(name: Any) -> str:
    """Return a name as text of a picture: matplotlib would read what is between two dollars as mathematics."""
    return str(name).replace("$", r"\$")


def doubt_in_words(doubt: str, label: str | None = None) -> str:
    """Return what is written of a band where there is a doubt, of one fit of several with its name."""
    words = f"{doubt}: this band is not to be trusted" if doubt else ""
    return f"{label}: {words}" if words and label else words


def doubts_of(ax: Axes) -> str:
    """Return what is written above the legend, by fits that were drawn before."""
    legend = ax.get_legend()
    return "" if legend is None else legend.get_title().get_text()


def mark_doubt(ax: Axes, *lines: str) -> None:
    """Write lines that are not empty above the legend."""
    legend = ax.get_legend()
    if legend is not None and any(lines):
        legend.set_title("\n".join(filter(None, lines)))
        legend.get_title().set(color=DOUBT_COLOUR, fontsize="small", fontweight="bold")


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
