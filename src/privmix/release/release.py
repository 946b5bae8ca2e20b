"""What is published: the sanitised records, the mechanism that made them and its guarantee; never the raw data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from privmix.mechanisms import Mechanism, NoisyHistogram
from privmix.mechanisms.counted_classes import join_counts
from privmix.privacy import Guarantee
from privmix.release.files import (
    PathLike,
    kind,
    names,
    naming,
    numbers,
    pick,
    read_csv_release,
    read_histogram,
    read_parquet,
    sidecar,
    write_release,
)
from privmix.release.hardened import draw_hardened
from privmix.release.metadata import (
    CHECKSUM,
    CUT,
    build_mechanism,
    check_guarantee,
    parse_metadata,
    sum_records,
    to_json,
)


@dataclass(frozen=True, eq=False)
class Release:
    """Sanitised records, or one release of all of them, with the mechanism that made it.

    Neither the raw data nor the seed is kept: the seed and the release together would give the raw data back.

    Parameters
    ----------
    z
        Released records, one number or one row each; of a global mechanism what it releases of all records, such as
        noisy counts. A read-only copy is kept.
    mechanism
        The mechanism that made them.
    notes
        Anything that a reader should know. It is published with the release, so keep confidential facts out.

    Examples
    --------
    >>> from privmix.mechanisms import Laplace
    >>> release = Release([0.3, -1.2], Laplace(epsilon=2.0, bounds=(-1.0, 1.0)))
    >>> len(release), release.guarantee
    (2, PureDP(epsilon=2.0))
    """

    z: np.ndarray
    mechanism: Mechanism
    notes: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            raise TypeError(
                f"Release was given {self.mechanism!r} as its mechanism, but needs a mechanism. Give an instance, such "
                "as mechanisms.Laplace(epsilon=1.0, bounds=(0.0, 1.0))."
            )
        if not isinstance(self.notes, str):
            raise TypeError(f"Release was given notes={self.notes!r}, but needs text. Give a string.")
        z = np.array(self.mechanism.check_release(self.z))
        z.setflags(write=False)
        object.__setattr__(self, "z", z)

    @classmethod
    def from_data(
        cls, y: Any, mechanism: Mechanism, seed: Any = None, notes: str = "", *, hardened: bool = False
    ) -> Release:
        """Privatise confidential data and forget them.

        Parameters
        ----------
        y
            Confidential records. Values outside the mechanism's bounds are clipped, with a warning.
        mechanism
            The mechanism to use.
        seed
            Anything that `numpy.random.default_rng` takes. Leave it out for data that are truly confidential: whoever
            guesses the seed can take the noise off.
        notes
            Published with the release.
        hardened
            Whether OpenDP draws the noise, exactly and on a lattice, instead of floating-point arithmetic: for data
            about real people. Needs the extra ``privmix[opendp]`` and takes no seed. The release names lattice and
            version; its guarantee is what OpenDP's own map says.

        Returns
        -------
        Release
            Holds neither y nor the seed.
        """
        if getattr(mechanism, "neighbours", None) == "add-remove" and mechanism.records is not None:  # type: ignore[attr-defined]
            raise ValueError(
                f"{type(mechanism).__name__}: where a record may be added or removed, the number of records is "
                f"confidential, and a release with records={mechanism.records} tells it. Give records=None, or "  # type: ignore[attr-defined]
                "neighbours='replace', with twice the noise."
            )
        if hardened:
            return cls(*draw_hardened(y, mechanism, seed), notes)
        return cls(mechanism.privatize(y, seed=seed), mechanism, notes)

    @classmethod
    def from_table(
        cls,
        path: PathLike,
        records: int | None,
        noise: str = "laplace",
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
        scale: float | None = None,
        neighbours: str = "replace",
        notes: str = "",
    ) -> Release:
        """Read a noisy histogram that was published as a plain table.

        Parameters
        ----------
        path
            A ``.csv`` or ``.parquet`` file with the columns lower, upper and count, a row for each bin.
        records
            Number of confidential records behind the counts; None where it is not known.
        noise, epsilon, delta, rho, scale, neighbours
            What was added to each count, as in `privmix.mechanisms.NoisyHistogram`: budgets are for neighbours by
            replacement of one record unless told otherwise.
        notes
            Kept with the release.
        """
        edges, counts = read_histogram(path)
        about: Any = (records, edges, noise, epsilon, delta, None, rho, scale, neighbours)
        return cls(counts, NoisyHistogram(*about), notes)

    @property
    def records(self) -> int | None:
        """Number of confidential records behind the release, which is public; None where it is not known."""
        return None if self.mechanism.records_unknown else self.mechanism.count_records(self.z)

    @property
    def counts(self) -> np.ndarray:
        """How many records are in each bin, of a release that `privmix.count` made."""
        if not self.mechanism.is_counted:
            raise ValueError(f"a release of {type(self.mechanism).__name__} is no table of counts; it has z.")
        return self.z

    def __add__(self, other: object) -> Release:
        if not isinstance(other, Release):
            return NotImplemented
        mechanisms: list[Any] = [self.mechanism, other.mechanism]
        if not all(mechanism.is_counted for mechanism in mechanisms):
            raise ValueError(
                f"only tables of counts add up; got {mechanisms[0]!r} and {mechanisms[1]!r}. Count the records first: "
                "privmix.count(frame, column, mechanism)."
            )
        joined = join_counts([pair for one in (self, other) for pair in one.mechanism.split_counts(one.z)])  # type: ignore[attr-defined]
        notes = [note for note in dict.fromkeys((self.notes, other.notes)) if note]
        return Release(*joined, "; ".join(notes))

    @property
    def guarantee(self) -> Guarantee | None:
        """What the mechanism promises, or None where it promises nothing."""
        return self.mechanism.guarantee

    def __len__(self) -> int:
        return len(self.z)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Release):
            return NotImplemented
        same = np.array_equal(self.z, other.z, equal_nan=True) and self.notes == other.notes
        return same and self.mechanism == other.mechanism

    def __hash__(self) -> int:
        # Adding 0.0 turns -0.0 into 0.0: the two are equal, so they must hash alike.
        return hash(((self.z + 0.0).tobytes(), self.z.shape, self.mechanism, self.notes))

    def save(self, path: PathLike) -> None:
        """Write the release to a file; what the path held before stays unless all was written.

        Parameters
        ----------
        path
            ``name.csv`` writes the records as CSV and the mechanism beside it, in ``name.csv.json``. A noisy
            histogram is a table of lower edges, upper edges and counts.
            ``name.parquet`` writes one Parquet file, with the mechanism in its schema metadata (needs pyarrow).
            Floats come back bit for bit from both.
        """
        path = Path(path)
        kind(path)
        write_release(path, self.mechanism.to_columns(self.z), to_json(self))

    @classmethod
    def load(cls, path: PathLike, known: dict[str, type] | None = None) -> Release:
        """Read a release that `save` wrote.

        Parameters
        ----------
        path
            The ``.csv`` file, with its ``.csv.json`` beside it, or the ``.parquet`` file.
        known
            Classes of your own that the file may name, by name: ``{"MyMechanism": MyMechanism}``.

        Returns
        -------
        Release
            Equal to the one that was saved.

        Raises
        ------
        FileNotFoundError
            If the file, or the JSON beside a CSV, is missing.
        ValueError
            If the file is not a release, was cut or changed after it was saved, comes from a newer format, or states a
            guarantee that its mechanism does not give.
        """
        path = Path(path)
        parquet = kind(path) == ".parquet"
        text, columns = read_parquet(path) if parquet else read_csv_release(path)
        metadata = parse_metadata(path if parquet else sidecar(path), text)
        mechanism = build_mechanism(path, metadata["mechanism"], known)
        cells = {name: pick(path, columns, name) for name in mechanism.file_columns()}
        texts, missing = mechanism.text_columns(), mechanism.withholds
        found: dict[str, Any] = {
            name: names(cells[name]) if name in texts else numbers(path, name, cells[name], missing=missing)
            for name in cells
        }
        with naming(path):
            z = mechanism.from_columns(found)
        records = None if mechanism.records_unknown else mechanism.count_records(z)
        if metadata["records"] != records:
            raise ValueError(f"{path} has {records} records, but its metadata say {metadata['records']}. {CUT}")
        with naming(path):
            release = cls(z, mechanism, metadata["notes"])
        if CHECKSUM in metadata and metadata[CHECKSUM]["records"] != sum_records(release.z):
            raise ValueError(f"the records in {path} are not those that were saved: their checksum differs. {CUT}")
        check_guarantee(path, metadata["guarantee"], release.guarantee)
        return release
