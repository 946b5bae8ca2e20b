"""What commands give: files, checked before the long work, tables, and errors and warnings as single lines."""

from __future__ import annotations

import codecs
import errno
import os
import signal
import sys
import tempfile
import threading
import traceback
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from privmix.engine.chains import CHAIN_THREADS

if TYPE_CHECKING:
    from privmix import Posterior
    from privmix.posterior import Finding

# What the library raises for something that the user can put right.
USER_ERRORS = (ValueError, TypeError, OSError, LookupError, ImportError, MemoryError)
FAILED = 2
#: under --strict: the files were written, but the chains have not converged
NOT_CONVERGED = 3
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


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Take the first SIGTERM for Ctrl-C and leave out the others, so that what was drawn is kept and written."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def leave_at_once(code: Any) -> None:
    """End the process if it was interrupted while a chain compiles: Python would wait for the compiler to end."""
    if code == INTERRUPTED and any(thread.name.startswith(CHAIN_THREADS) for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def load_early() -> None:
    """Load what is needed after the chains before they start: half of what Ctrl-C would else wait for."""
    import arviz_stats.base  # noqa: F401
    import matplotlib.figure  # noqa: F401
    import xarray as xr

    # xarray looks for other libraries when it first makes an array, and when it first writes one.
    xr.DataTree(xr.Dataset({"y": ("y", [0.0])})).to_netcdf(engine="h5netcdf")


def save_somewhere(posterior: Posterior, output: Path) -> None:
    """Write a posterior; where that fails, write it into another folder and say so: draws may have taken days."""
    try:
        posterior.save(output)
    except OSError as error:
        for folder in (tempfile.gettempdir(), Path.home()):
            kept = _save_into(posterior, folder, output.name)
            if kept is not None:
                raise OSError(f"{error} The draws are kept in {kept}: move that file.") from error
        raise OSError(f"{error} No room for the draws was found elsewhere either: they are lost.") from error


def _save_into(posterior: Posterior, folder: str | Path, name: str) -> Path | None:
    """Return where in a folder a posterior was written, or None where it could not be."""
    try:
        place = Path(tempfile.mkdtemp(prefix="privmix-", dir=folder))
    except OSError:
        return None
    try:
        posterior.save(place / name)
    except OSError:
        place.rmdir()
        return None
    return place / name


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


Force = Annotated[bool, typer.Option("--force", "-f", help="Replace files that exist.")]


def check_output(path: Path, *suffixes: str, force: bool) -> None:
    """Refuse a path that cannot be written, whose suffix names none of the formats, or (not forced) that exists."""
    if suffixes and path.suffix.lower() not in suffixes:
        raise ValueError(f"{path} ends in {path.suffix!r}, which names no known format. Use {' or '.join(suffixes)}.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, but a file is to be written there. Give the path of a file.")
    check_folder(path.parent)
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists already. Choose another path, or give --force to replace it.")


@contextmanager
def after_writing() -> Iterator[None]:
    """Let nothing that is printed from here on fail: the files are written, and an error would say that they are not.

    A closed pipe or a full log is no reason to make a second release.
    """
    try:
        yield
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):  # else the interpreter fails at its end, with what is still to be written
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_folder(folder: Path) -> None:
    """Refuse a folder that does not exist or cannot be written to."""
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise FileNotFoundError(f"the output folder {folder} {what}. Create it, or choose another.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"the output folder {folder} cannot be written to. Change its rights, or choose another.")


def check_differs(output: Path, source: Path) -> None:
    """Refuse to write over the input."""
    if output.exists() and source.exists() and output.samefile(source):
        raise ValueError(f"--output {output} is the input itself, which would be lost. Choose another path.")


def print_table(header: list[str], rows: list[list[str]], title: str = "") -> None:
    """Print a table to stdout, the first column to the left and the others to the right."""
    from rich.console import Console
    from rich.table import Table

    class Tables(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError(errno.EPIPE, "nobody reads the output")  # rich itself would leave with exit code 1

    shown = [[as_shown(cell) for cell in row] for row in rows]
    console = Tables(highlight=False, markup=False)
    # Borders and spaces take three characters a column and one more.
    frame = 3 * len(header) + 1
    widths = column_widths([list(column) for column in zip(header, *shown, strict=True)], console.width - frame)
    table = Table(title=title or None, title_justify="left", show_header=any(header))
    for j, (name, width) in enumerate(zip(header, widths, strict=True)):
        table.add_column(name, justify="left" if j == 0 else "right", width=width)
    for row in shown:
        table.add_row(*row)
    console.width = max(console.width, sum(widths) + frame)
    console.print(table)


def column_widths(columns: list[list[str]], room: int) -> list[int]:
    """Return how wide columns of a table are: as their texts, or less where there is no room, but never within a word.

    Numbers are words. Columns that have most to give are narrowed first; where words alone need more room than there
    is, they get it.
    """
    from rich.cells import cell_len

    widths = [max(map(cell_len, column), default=0) for column in columns]
    least = [max((cell_len(word) for text in column for word in text.split()), default=0) for column in columns]
    while sum(widths) > room and widths != least:
        widest = max(range(len(widths)), key=lambda j: widths[j] - least[j])
        widths[widest] -= 1
    return widths


def warn_of(findings: list[Finding]) -> None:
    """Print what checks of a fit warn of, to stderr."""
    for finding in findings:
        if finding.level == "warning":
            say(f"warning: {_in_words(finding)}")


def tell_rest(findings: list[Finding]) -> None:
    """Print what else the checks of a fit found, to stdout."""
    for finding in findings:
        if finding.level != "warning":
            typer.echo(_in_words(finding))


def _in_words(finding: Finding) -> str:
    return f"{finding.title}: {finding.text} {finding.advice}".rstrip()


# What has no letter of its own in ASCII, and no name that a reader would want.
PLAIN = {"−": "-", "–": "-", "—": "-", "×": "x", "·": "*", "…": "...", "≤": "<=", "≥": ">=", "≈": "~", "√": "sqrt"}
HANDLER = "privmix.plain"


def plain(error: UnicodeError) -> tuple[str, int]:
    """Return plain characters for those that an encoding lacks, and where to go on: a handler of `codecs`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_plain(one) for one in error.object[error.start : error.end]), error.end


codecs.register_error(HANDLER, plain)


def _plain(character: str) -> str:
    if character in PLAIN:
        return PLAIN[character]
    name = unicodedata.name(character, "")
    if name.startswith("GREEK SMALL LETTER "):
        return name.split()[3].lower()
    return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode() or "?"


def as_shown(text: str) -> str:
    """Return a text as stdout shows it, so that columns can be made as wide as that."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, HANDLER).decode(encoding)


def write_plainly() -> None:
    """Let stdout and stderr write plain characters where their encoding lacks one, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=HANDLER)
