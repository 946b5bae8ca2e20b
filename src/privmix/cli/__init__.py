"""The command line: one file a command."""

from privmix.cli.app import app, main

__all__ = ["app", "main"]
