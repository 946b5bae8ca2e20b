"""Plain characters where the output cannot show others: Greek letters by name, others without their marks."""

from __future__ import annotations

import codecs
import sys
import unicodedata

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
