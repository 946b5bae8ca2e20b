"""Planted bugs: a test that lets one pass proves nothing."""

from privmix.testing.mutants.base import Mutant
from privmix.testing.mutants.counts import count_bugs
from privmix.testing.mutants.exact import exact_bugs
from privmix.testing.mutants.parts import part_bugs
from privmix.testing.mutants.records import neal5_bugs, published_bugs, slice_bugs

__all__ = [
    "Mutant",
    "all_mutants",
    "count_bugs",
    "exact_bugs",
    "neal5_bugs",
    "part_bugs",
    "published_bugs",
    "slice_bugs",
]


def all_mutants() -> list[Mutant]:
    """Return every planted bug."""
    return published_bugs() + neal5_bugs() + slice_bugs() + part_bugs() + exact_bugs() + count_bugs()
