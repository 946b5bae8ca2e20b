"""Names of cells, and the seeds that follow from them."""

from __future__ import annotations

import hashlib
import json
import re
from numbers import Integral, Real
from typing import Any

import numpy as np

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def cell_name(coordinates: dict[str, Any]) -> str:
    """Return the name of a cell, which is also that of its file: ``records=50,epsilon=1,replicate=0``.

    Parameters
    ----------
    coordinates
        Numbers and short names. 1 and 1.0 are the same coordinate.
    """
    return ",".join(f"{key}={_word(key, value)}" for key, value in coordinates.items())


def derive_seed(name: str, version: int = 1, **coordinates: Any) -> np.random.SeedSequence:
    """Return the seed that belongs to a name and coordinates, on any machine and in any order of work.

    A cell's own seed is derived from the study's name and version and all of its coordinates. Cells that are to share
    their data derive a second seed from the coordinates that they have in common.

    Parameters
    ----------
    name
        What the seed is for.
    version
        Raise it to draw everything anew.
    coordinates
        Numbers and short names, in any order.
    """
    words = {key: _word(key, value) for key, value in coordinates.items()}
    text = json.dumps([name, version, words], sort_keys=True)
    return np.random.SeedSequence(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))


def _word(key: str, value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value)):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    raise ValueError(
        f"the coordinate {key} must be a finite number or a name of letters, digits and . _ + -, because files are "
        f"named by it; got {value!r}."
    )
