"""Studies by name: the folders of this package, and those of other modules."""

from __future__ import annotations

import importlib

from privmix.studies.runner import Study

# Each is a folder here whose `__init__` has the name `study`; loaded when it is asked for.
FOLDERS = {name: name for name in ("laplace", "wavelet", "gaussian", "donors", "mechanisms", "accuracy")}
FOLDERS["global"] = "global_release"  # `global` is a word of the language
NAMES = tuple(FOLDERS)


def study_names() -> tuple[str, ...]:
    """Return the names of the studies that come with the package."""
    return NAMES


def find_study(name: str) -> Study:
    """Return a study by its name, or by ``module:attribute`` where it lives elsewhere.

    Parameters
    ----------
    name
        One of `study_names()`, or for instance ``my_package.my_study:study``.
    """
    if name in NAMES:
        return importlib.import_module(f"privmix.studies.{FOLDERS[name]}").study
    if ":" not in name:
        raise ValueError(
            f"there is no study {name!r}. There are {', '.join(NAMES)}; give one of your own as module:attribute."
        )
    module, _, attribute = name.partition(":")
    found = getattr(importlib.import_module(module), attribute, None)
    if not isinstance(found, Study):
        raise TypeError(f"{name} must be a privmix.studies.Study; got {found!r}.")
    return found
