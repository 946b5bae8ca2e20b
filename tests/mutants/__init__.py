"""Planted bugs: a test that lets one pass proves nothing."""

from mutants.cells import cell_bugs
from mutants.counts import count_bugs
from mutants.exact import exact_bugs
from mutants.lifted import lifted_bugs
from mutants.parts import part_bugs
from mutants.priors import prior_bugs
from mutants.published import clip_bugs, published_value_bugs, statement_bugs
from mutants.records import neal5_bugs, published_bugs, slice_bugs
from mutants.truncated import truncated_bugs
from privmix.testing import Mutant

__all__ = [
    "Mutant",
    "all_mutants",
    "cell_bugs",
    "clip_bugs",
    "count_bugs",
    "exact_bugs",
    "lifted_bugs",
    "neal5_bugs",
    "part_bugs",
    "prior_bugs",
    "published_bugs",
    "published_value_bugs",
    "slice_bugs",
    "statement_bugs",
    "truncated_bugs",
]


def all_mutants() -> list[Mutant]:
    """Return every planted bug."""
    bugs = published_bugs() + neal5_bugs() + slice_bugs() + part_bugs() + exact_bugs() + count_bugs()
    return bugs + prior_bugs() + truncated_bugs() + published_value_bugs() + clip_bugs() + cell_bugs()
