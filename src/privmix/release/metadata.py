"""Metadata of a release: everything about it but its records."""

from __future__ import annotations

import importlib.metadata
import json
import math
from pathlib import Path
from typing import Any

from privmix.mechanisms import Mechanism
from privmix.parts import part_from_dict, part_to_dict
from privmix.privacy import Guarantee

FORMAT_VERSION = 1
ENTRIES = ("mechanism", "guarantee", "records", "notes")
IDEALISED = (
    "The noise is idealised floating point noise: fit for simulation and study, not a release hardened against "
    "attacks on floating point arithmetic."
)


def to_json(release: Any) -> str:
    """Return the metadata of a release as text."""
    guarantee = release.guarantee
    metadata = {
        "format_version": FORMAT_VERSION,
        "privmix_version": _privmix_version(),
        "mechanism": part_to_dict(release.mechanism),
        "guarantee": None if guarantee is None else guarantee.to_dict(),
        "records": release.records,
        "notes": release.notes,
        "noise": IDEALISED,
    }
    try:
        return json.dumps(metadata, indent=2, ensure_ascii=False) + "\n"
    except TypeError as error:
        raise TypeError(
            f"{type(release.mechanism).__name__} has a field that cannot be saved: {error}. "
            "Fields must be numbers, text, tuples, arrays or parts."
        ) from error


def _privmix_version() -> str:
    try:
        return importlib.metadata.version("privmix")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def parse_metadata(source: Path, text: str) -> dict[str, Any]:
    """Return metadata from their text, or say what is wrong with them."""
    if not text:
        raise ValueError(
            f"{source} holds no metadata, so it does not say what mechanism made it. Load a file that Release.save "
            "wrote; or read the numbers with read_column and give the mechanism: Release(z, mechanism)."
        )
    try:
        metadata = json.loads(text)
    except ValueError as error:
        raise ValueError(
            f"the metadata in {source} are not JSON ({error}). Fetch the file again, or save the release anew."
        ) from error
    _check_entries(source, metadata)
    return metadata


def _check_entries(source: Path, metadata: Any) -> None:
    version = metadata.get("format_version") if isinstance(metadata, dict) else None
    if not isinstance(version, int):
        raise ValueError(f"{source} has no format_version, so it is not the metadata of a release. Use Release.save.")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"{source} has format version {version}, written by privmix {metadata.get('privmix_version', 'unknown')}; "
            f"this privmix reads up to version {FORMAT_VERSION}. Upgrade privmix."
        )
    missing = [name for name in ENTRIES if name not in metadata]
    if missing:
        raise ValueError(f"the metadata in {source} lack {', '.join(missing)}. Fetch the file again.")


def build_mechanism(path: Path, entry: Any, known: dict[str, type] | None) -> Mechanism:
    """Return the mechanism that the metadata describe."""
    try:
        mechanism = part_from_dict(entry, known)
    except (ImportError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"the mechanism that {path} describes cannot be built ({error!r}). The metadata were changed, or written "
            "by another version of privmix; read them with that version."
        ) from error
    if not isinstance(mechanism, Mechanism):
        raise ValueError(f"{path} names {entry['class']} as its mechanism, which is not a mechanism. Fetch it again.")
    return mechanism


def check_guarantee(path: Path, stated: Any, guarantee: Guarantee | None) -> None:
    """Refuse a stated guarantee that the mechanism does not give."""
    given = None if guarantee is None else guarantee.to_dict()
    if not _agree(stated, given):
        raise ValueError(
            f"{path} states the guarantee {stated}, but its mechanism gives {given}. The file was changed, or written "
            "by a version of privmix that computes the guarantee differently; do not rely on it, ask its publisher."
        )


def _agree(stated: Any, given: Any) -> bool:
    if isinstance(stated, dict) and isinstance(given, dict):
        return stated.keys() == given.keys() and all(_agree(stated[name], given[name]) for name in given)
    if isinstance(stated, int | float) and isinstance(given, float):
        # A calibrated scale may differ in its last bits from one machine's mathematical library to another's.
        return math.isclose(stated, given, rel_tol=1e-9)
    return stated == given
