"""What is published: the release with its mechanism, saved and loaded; and the reading of plain tables."""

from privmix.release.files import describes_itself, read_column, read_columns, read_histogram
from privmix.release.metadata import IDEALISED, how_drawn
from privmix.release.release import Release

__all__ = ["IDEALISED", "Release", "describes_itself", "how_drawn", "read_column", "read_columns", "read_histogram"]
