"""A fit as one self-contained page: what was released, what it says, and how far to trust it."""

from privmix.report.page import render, write

__all__ = ["render", "write"]
