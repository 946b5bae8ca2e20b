"""Studies by name: the files of this package, and those of other modules."""

from __future__ import annotations

import importlib
import keyword
import pkgutil
from pathlib import Path

from privmix.studies.runner import Study

PACKAGE, _, THIS_FILE = __name__.rpartition(".")


def study_names() -> tuple[str, ...]:
    """Return the names of the studies that come with the package: every file here beside this one is one."""
    files = (one.name for one in pkgutil.iter_modules([str(Path(__file__).parent)]) if not one.ispkg)
    # The name of a study may be a word of the language; its file then has an underscore at its end: `global_`.
    return tuple(name.removesuffix("_") for name in files if name != THIS_FILE)


def find_study(name: str) -> Study:
    """Return a study by its name, or by ``module:attribute`` where it lives elsewhere.

    Parameters
    ----------
    name
        One of `study_names()`, or for instance ``my_package.my_study:study``.
    """
    names = study_names()
    if name in names:
        file = f"{name}_" if keyword.iskeyword(name) else name
        return importlib.import_module(f"{PACKAGE}.{file}").study
    if ":" not in name:
        raise ValueError(
            f"there is no study {name!r}. There are {', '.join(names)}; give one of your own as module:attribute."
        )
    module, _, attribute = name.partition(":")
    found = getattr(importlib.import_module(module), attribute, None)
    if not isinstance(found, Study):
        raise TypeError(f"{name} must be a privmix.studies.Study; got {found!r}.")
    return found
