"""Errors and warnings of the library as single lines on stderr; Ctrl-C as exit code 130."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

# What the library raises for something that the user can put right.
USER_ERRORS = (ValueError, TypeError, OSError, LookupError, ImportError, MemoryError)
FAILED = 2
INTERRUPTED = 130


class Commands(TyperGroup):
    """The group of commands: runs one and turns what goes wrong into a line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        with warnings_as_lines():
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                say("interrupted: the command stopped before its end.")
                raise typer.Exit(INTERRUPTED) from None
            except Exception as error:
                line = explain(error)
                if line is None:
                    raise
                if ctx.params.get("traceback"):
                    traceback.print_exc()
                say(f"error: {line}")
                raise typer.Exit(FAILED) from None


def say(line: str) -> None:
    """Write a line to stderr."""
    typer.echo(line, err=True)


def explain(error: Exception) -> str | None:
    """Return an error as one line, or None where it is none that a user can put right."""
    if hasattr(error, "format_message"):  # typer's own: an option that is missing or cannot be read
        text = error.format_message()
    elif isinstance(error, BrokenPipeError) or not isinstance(error, USER_ERRORS):
        return None
    elif isinstance(error, KeyError) and error.args:
        text = str(error.args[0])  # str() of a KeyError has quotes around it
    else:
        text = str(error) or type(error).__name__
    return " ".join(text.split())


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Write warnings as lines `warning: …` to stderr, each as it comes."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        say("warning: " + " ".join(str(message).split()))

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield
