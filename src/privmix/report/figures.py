"""Pictures as SVG inside the page: text stays text, and nothing is fetched."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.plots.density import draw_density

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from privmix.posterior import Posterior

POINTS_PER_INCH = 72.0
# What a line of the density's data is called in the page, and in the Dataset.
CURVES = ("mean", "lower", "upper", "simultaneous_lower", "simultaneous_upper")


def picture(name: str, described: str, draw: Callable[[Axes], Any], size: tuple[float, float] = (5.6, 3.7)) -> str:
    """Return what `draw` draws on Axes as the text of an SVG element.

    Parameters
    ----------
    name
        Put before every id, so that pictures on a page do not share any.
    described
        What is to be seen, for those who cannot see it.
    draw
        Draws on the Axes that it is given.
    size
        Width and height in inches.
    """
    return picture_with_frame(name, described, draw, size)[0]


def picture_with_frame(
    name: str, described: str, draw: Callable[[Axes], Any], size: tuple[float, float]
) -> tuple[str, dict[str, Any]]:
    """Return a picture as `picture` does, and where its Axes lie in it: what a script needs to find its way."""
    figure = _figure(size)
    axes = figure.subplots()
    draw(axes)
    axes.set_title("")
    return _as_svg(figure, name, described), _frame(axes)


def figure_as_svg(name: str, described: str, draw: Callable[[Figure], Any], size: tuple[float, float]) -> str:
    """Return what `draw` draws on a whole figure, as `picture` does on Axes."""
    figure = _figure(size)
    draw(figure)
    return _as_svg(figure, name, described)


def density_picture(
    posterior: Posterior, density: xr.Dataset, prior: np.ndarray, doubt: str
) -> tuple[str, dict[str, Any]]:
    """Return the picture of the density and what a script needs to read values off it."""
    svg, frame = picture_with_frame(
        "density",
        "Posterior mean density with its bands, the prior mean and the release.",
        lambda axes: draw_density(axes, posterior, density, prior, doubt, simultaneous=True),
        (8.4, 4.6),
    )
    return svg, {**frame, **density_values(density, prior)}


def density_values(density: xr.Dataset, prior: np.ndarray) -> dict[str, Any]:
    """Return the curves as lists of six significant digits."""
    columns = {"y": density["y"].values, "prior": prior} | {name: density[name].values for name in CURVES}
    return {name: [float(f"{value:.6g}") for value in values] for name, values in columns.items()}


def _figure(size: tuple[float, float]) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    # Browsers choose fonts of their own, some wider than those that the layout was made with.
    return Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06))


def _frame(axes: Axes) -> dict[str, Any]:
    """Return where the Axes lie in the picture, in its own units, and the limits of their scales."""
    figure = axes.figure.figure
    width, height = POINTS_PER_INCH * figure.get_size_inches()
    box = axes.get_position()
    frame = {"left": box.x0 * width, "right": box.x1 * width}
    frame |= {"top": (1.0 - box.y1) * height, "bottom": (1.0 - box.y0) * height}
    return {**frame, "xlim": list(map(float, axes.get_xlim())), "ylim": list(map(float, axes.get_ylim()))}


def _as_svg(figure: Figure, name: str, described: str) -> str:
    import matplotlib

    stream = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(stream, format="svg", dpi=150, metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # An SVG inside HTML needs no names of its standards, and the page has one style of its own.
    text = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", text, count=2)
    text = re.sub(r'(\sid="|url\(#|href="#)', lambda found: found.group(1) + name + "-", text)
    head = f'<svg role="img" aria-label="{html.escape(described)}"'
    return re.sub(r'^<svg( width="[^"]*")?( height="[^"]*")?', head, text, count=1)
