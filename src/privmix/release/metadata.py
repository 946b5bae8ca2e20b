"""What a file says about a release but its records: its text, its checksums, and what is wrong with them."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from privmix.mechanisms import Mechanism
from privmix.parts import part_from_dict, part_to_dict
from privmix.parts.checks import is_whole
from privmix.privacy import Guarantee
from privmix.release.files import naming

#: version and entries of the metadata, which say everything about a release but its records; version 1 had no checksum
FORMAT_VERSION = 2
ENTRIES = ("mechanism", "guarantee", "records", "notes")
CHECKSUM = "checksum"
IDEALISED = (
    "The noise is idealised floating point noise: fit for simulation and study, not a release hardened against "
    "attacks on floating point arithmetic."
)
#: what happened to a file that is not what was saved
CUT = (
    "The file was cut or changed after it was saved, or the metadata belong to another release; fetch both again. A "
    "spreadsheet that saves a table may round its numbers."
)


def sum_records(z: np.ndarray) -> str:
    """Return the checksum of records: of the numbers themselves, however a file writes them."""
    # Adding 0.0 turns -0.0 into 0.0, which some programs write in its place.
    values = np.ascontiguousarray(z + 0.0, dtype="<f8")
    return hashlib.sha256(repr(values.shape).encode() + values.tobytes()).hexdigest()


def sum_metadata(metadata: dict[str, Any]) -> str:
    """Return the checksum of metadata: of what they say, however the text is laid out."""
    said = {name: _as_floats(value) for name, value in metadata.items() if name != CHECKSUM}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _as_floats(value: Any) -> Any:
    """Return plain data with floats for whole numbers: other programs write 1 for 1.0."""
    if isinstance(value, dict):
        return {name: _as_floats(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_as_floats(entry) for entry in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


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
        "noise": how_drawn(release.mechanism),
    }
    try:
        metadata[CHECKSUM] = {"records": sum_records(release.z), "metadata": sum_metadata(metadata)}
        return json.dumps(metadata, indent=2, ensure_ascii=False) + "\n"
    except TypeError as error:
        raise TypeError(
            f"{type(release.mechanism).__name__} has a field that cannot be saved: {error}. "
            "Fields must be numbers, text, tuples, arrays or parts."
        ) from error


def how_drawn(mechanism: Mechanism) -> str:
    """Return what the noise of a release is: idealised, or drawn by whom on what lattice."""
    return f"The noise was drawn by {mechanism.drawn_by}." if mechanism.drawn_by else IDEALISED


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
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"the metadata in {source} are not JSON ({error}). Fetch the file again, or save the release anew."
        ) from error
    _check_entries(source, metadata)
    _check_checksum(source, metadata)
    return metadata


def _check_entries(source: Path, metadata: Any) -> None:
    version: Any = metadata.get("format_version") if isinstance(metadata, dict) else None
    if not is_whole(version) or version < 1:
        raise ValueError(f"{source} has no format_version, so it is not the metadata of a release. Use Release.save.")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"{source} has format version {version}, written by privmix {metadata.get('privmix_version', 'unknown')}; "
            f"this privmix reads up to version {FORMAT_VERSION}. Upgrade privmix."
        )
    missing = [name for name in ENTRIES if name not in metadata]
    if missing:
        raise ValueError(f"the metadata in {source} lack {', '.join(missing)}. Fetch the file again.")
    if not isinstance(metadata["notes"], str):
        raise ValueError(f"the metadata in {source} have notes that are no text: {_shown(metadata['notes'])}.")
    if metadata["records"] is not None and not is_whole(metadata["records"]):
        raise ValueError(
            f"the metadata in {source} give {_shown(metadata['records'])} as the number of records, which is no whole "
            "number. Fetch the file again."
        )


def _check_checksum(source: Path, metadata: dict[str, Any]) -> None:
    """Refuse metadata that are not what was saved; those of version 1 had no checksum."""
    if metadata["format_version"] == 1 and CHECKSUM not in metadata:
        return
    try:
        kept = metadata[CHECKSUM]["metadata"], metadata[CHECKSUM]["records"]
        same = kept[0] == sum_metadata(metadata)
    except (KeyError, TypeError, OverflowError, RecursionError):
        same = False
    if not same:
        raise ValueError(
            f"the metadata in {source} are not those that were saved: their checksum is missing or differs. Fetch the "
            "file again; to publish other notes, save the release anew."
        )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def build_mechanism(path: Path, entry: Any, known: dict[str, type] | None) -> Mechanism:
    """Return the mechanism that the metadata describe."""
    try:
        with naming(path):
            mechanism = part_from_dict(entry, known)
    except (ImportError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
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
