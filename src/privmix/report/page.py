"""The page is laid out and written, whole or not at all."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    write_page(target, render(posterior, level=level, informativeness=informativeness, title=title))


def write_page(path: Path, text: str) -> None:
    """Write a page, whole or not at all."""
    try:
        write_bytes(path, text.encode())
    except OSError as error:
        if error.strerror is None:  # said in full
            raise
        raise type(error)(f"the report {path} cannot be written: {error.strerror}. Choose another path.") from error


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
    from privmix.report.content import gather

    content = gather(posterior, level, informativeness, title)
    return fill_page("page.html", "density.js", it=content, percent=f"{100 * level:g}%")


def fill_page(template: str, script: str, package: str = "privmix.report", **values: Any) -> str:
    """Return a page as text: a template that extends ``base.html``, with the style of all pages and its own script.

    Parameters
    ----------
    template
        Name of the template.
    script
        Name of the script.
    package
        Where both lie, in the folder ``assets``.
    values
        What the template shows; ``it`` has a title and a date.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    loader = FunctionLoader(lambda name: _asset(name, "privmix.report" if name == "base.html" else package))
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=loader
    )
    page = environment.get_template(template)
    return page.render(style=_asset("page.css"), script=_asset(script, package), **values)


def _asset(name: str, package: str = "privmix.report") -> str:
    return (resources.files(package) / "assets" / name).read_text(encoding="utf-8")
