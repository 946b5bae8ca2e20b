"""Counting: from a lazy frame, wherever it lives, or from files, to a release of counts."""

from privmix.counting.count import count
from privmix.counting.files import count_files

__all__ = ["count", "count_files"]
