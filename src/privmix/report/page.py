"""The page is laid out and written, whole or not at all."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from privmix.files import write_bytes

if TYPE_CHECKING:
    from privmix.posterior import Posterior


def write(
    posterior: Posterior,
    path: str | os.PathLike[str],
    *,
    level: float = 0.95,
    informativeness: bool | None = None,
    title: str = "",
) -> None:
    """Write a report of a fit as one HTML page that needs no network.

    Parameters
    ----------
    posterior
        A fit.
    path
        Where to write, ``.html``; an existing file is replaced only by a complete one.
    level
        Posterior probability of bands and intervals.
    informativeness
        Whether to fit 20 releases without information, to answer whether this one tells more than the prior. By default
        where that takes at most some 15 seconds.
    title
        Heading of the page; by default it names the number of records and the mechanism.
    """
    target = Path(path)
    check_target(target)
    text = render(posterior, level=level, informativeness=informativeness, title=title)
    try:
        write_bytes(target, text.encode())
    except OSError as error:
        if error.strerror is None:  # said in full
            raise
        raise type(error)(f"the report {target} cannot be written: {error.strerror}. Choose another path.") from error


def check_target(path: Path) -> None:
    """Refuse a path that cannot take the page, before the work."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{path} ends in {path.suffix!r}, but a report is a page of HTML. Use .html.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, but a file is to be written there. Give the path of a file.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: the folder {path.parent} does not exist. Create it.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{path} cannot be written: the folder {path.parent} may not be written to.")


def render(posterior: Posterior, *, level: float = 0.95, informativeness: bool | None = None, title: str = "") -> str:
    """Return the page of a report as text; `write` documents the parameters."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1; got {level!r}.")
    if not isinstance(title, str):
        raise TypeError(f"title must be text; got {title!r}.")
    from jinja2 import Environment, StrictUndefined

    from privmix.report.content import gather

    content = gather(posterior, level, informativeness, title)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page = environment.from_string(_asset("page.html"))
    return page.render(it=content, percent=f"{100 * level:g}%", style=_asset("page.css"), script=_asset("density.js"))


def _asset(name: str) -> str:
    return (resources.files("privmix.report") / "assets" / name).read_text(encoding="utf-8")
