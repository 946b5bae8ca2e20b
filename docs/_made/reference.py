"""What the reference lists beside the exports of a room: functions in the files of mechanisms, proofs with them."""

import dataclasses
import inspect
import sys

from privmix import mechanisms


def calibrations(root):
    """Return an entry for every public function in the file of a mechanism."""
    kinds = [getattr(mechanisms, name) for name in mechanisms.__all__]
    files = [sys.modules[kind.__module__] for kind in kinds if dataclasses.is_dataclass(kind)]
    entries = [f".. autofunction:: {file.__name__}.{function}\n" for file in files for function in functions(file)]
    return "\n".join(["```{eval-rst}", *entries]) + "```\n"


def functions(file):
    """Return the names of the public functions that a file defines, in its order."""
    found = inspect.getmembers(file, inspect.isfunction)
    own = [(f.__code__.co_firstlineno, name) for name, f in found if f.__module__ == file.__name__ and name[0] != "_"]
    return [name for _, name in sorted(own)]
