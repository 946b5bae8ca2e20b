"""What the names in a grid stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Choice(NamedTuple):
    """What a name in a grid stands for.

    Parameters
    ----------
    words
        Its name in figures and tables.
    use
        What a cell does with it: a sampler, or a function that makes a mechanism or a fit.
    """

    words: str
    use: Any


def words(choices: Mapping[str, Choice]) -> dict[str, str]:
    """Return what figures call each choice."""
    return {name: choice.words for name, choice in choices.items()}
