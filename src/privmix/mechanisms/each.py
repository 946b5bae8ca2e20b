"""Records of several columns: a mechanism for each, or for some of them, chosen without looking."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, ClassVar

import numpy as np

from privmix.frames.rows import like_rows, pick_columns, stack_columns
from privmix.mechanisms.evidence import LOCAL_HOOKS
from privmix.mechanisms.local import LocalMechanism
from privmix.mechanisms.one_column import column_of_rows
from privmix.mechanisms.slots import at_record, log_q
from privmix.parts import given
from privmix.parts.checks import check_count, fill
from privmix.parts.columns import Columns, named_parts, of_column, over_children, summed
from privmix.privacy import Guarantee, compose, weakest

# More cells than this take longer than the records that they stand for: a sweep passes over all of them.
MOST_CELLS_OF_ROWS = 8192


def reported_number(mechanism, z, y):
    """Return log q(z|y) of one column; 0 where it is missing."""
    return 0.0 if z != z else log_q(mechanism, z, y)


def reported_row(mechanism, z, y):
    """Return the same of a column whose release is a row: a missing one has NaN in its first place."""
    return 0.0 if z[0] != z[0] else log_q(mechanism, z, y)


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Each(Columns, LocalMechanism):
    """Perturb each column of a record by a mechanism of its own, with independent noise.

    A released entry that is missing (NaN, null) says nothing of its record: log q is that of the entries that are
    there. That entries are missing must not depend on their values, given the other columns: where whoever earns more
    answers less often, a fit does not know.

    Guarantee: by composition of those of the columns, the sum of ε, of ρ, or of ε and δ. With ``reports``, the worst
    such sum over that many columns: which are reported is drawn without looking at the record.

    Parameters
    ----------
    parts
        Mechanisms by column, a mapping or pairs: for names that are no Python names.
    reports
        How many columns each record reports, drawn at random; the others are missing. None for all. One column a record
        spends all of ε on it, but no two columns are seen together: their dependence then comes from the prior.
    named
        Mechanisms by column: ``Each(age=Laplace(…), sex=RandomizedResponse(categories=("f", "m"), …))``. Any mechanism
        that perturbs each record by itself serves, yours too.

    Examples
    --------
    >>> from privmix.mechanisms import Laplace, RandomizedResponse
    >>> age = Laplace(epsilon=1.0, bounds=(0.0, 100.0))
    >>> sex = RandomizedResponse(categories=("f", "m"), epsilon=0.5)
    >>> Each(age=age, sex=sex).guarantee, Each(age=age, sex=sex, reports=1).guarantee
    (PureDP(epsilon=1.5), PureDP(epsilon=1.0))
    """

    parts: tuple[tuple[str, LocalMechanism], ...]
    reports: int | None = given()

    is_wrapper: ClassVar[bool] = True
    columns_apart: ClassVar[bool] = True
    details: ClassVar[dict[str, str]] = {"reports": "columns that a record reports"}
    column_alone = column_of_rows

    def __init__(
        self,
        parts: Mapping[str, LocalMechanism] | Iterable[tuple[str, LocalMechanism]] = (),
        reports: int | None = None,
        **named: LocalMechanism,
    ) -> None:
        fill(self, parts=named_parts("Each", LocalMechanism, parts, named), reports=reports)
        for name, child in self.parts:
            refuse_child(name, child)
        columns = self.file_columns()
        twice = [column for column in columns if columns.count(column) > 1]
        if twice:
            raise ValueError(f"Each: a release would have two columns {twice[0]!r}. Rename a column.")
        revealed = [name for name, child in self.parts if child.reveals]
        if revealed and len(revealed) < len(self.parts):
            raise ValueError(
                f"Each: column {revealed[0]!r} is published as it is, beside columns with noise; samplers propose "
                "whole records, and none with another value could be accepted. Give all columns noise, or none."
            )
        if reports is not None and check_count("reports", reports, 1, "Each") > len(self.parts):
            raise ValueError(f"Each: reports must be at most the number of columns, {len(self.parts)}; got {reports}.")

    def __repr__(self) -> str:
        shown = super().__repr__()
        return shown if self.reports is None else f"{shown[:-1]}, reports={self.reports})"

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and self.reports == other.reports  # type: ignore[attr-defined]

    __hash__ = Columns.__hash__

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Number of columns."""
        return len(self.parts)

    @property
    def reveals(self) -> bool:  # type: ignore[override]
        """Whether all columns are published as they are."""
        return all(child.reveals for child in self.children)

    @property
    def row_length(self) -> int:
        """Numbers of a released record: those of the columns, side by side."""
        return len(self.file_columns())

    @property
    def withholds(self) -> bool:
        """Whether entries may be missing."""
        return True

    @property
    def guarantee(self) -> Guarantee | None:
        """The composition of what the columns promise; with `reports` the worst over so many of them."""
        each = [child.guarantee for child in self.children]
        return weakest([compose(some) for some in combinations(each, self.reports or len(each))])

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        each = "; ".join(f"{name}: {child.in_words}" for name, child in self.parts)
        some = "" if self.reports is None else f", {self.reports} of them for each record, drawn at random"
        return f"columns were published by a mechanism each{some} ({each})"

    def why_not_counted(self) -> str:
        """Return why records of these columns do not come in counts of cells, or "" where they do."""
        many = [name for name, child in self.parts if child.outputs is None or child.row_length is not None]
        if many:
            kind = type(self.children[self.column(many[0])]).__name__
            return f"column {many[0]!r} ({kind}) releases more than a few values; counts of cells need few in each."
        if self.varying_fields():
            return "noise that differs between records does not come in counts."
        cells = math.prod(len(child.outputs) + 1 for child in self.children)
        if cells > MOST_CELLS_OF_ROWS:
            most = f"{MOST_CELLS_OF_ROWS:,}"
            return f"the columns make {cells:,} cells, more than {most}. Fit the records, or fewer columns."
        return ""

    @property
    def outputs(self) -> np.ndarray | None:
        """Every row that can be released, with NaN for a missing entry, where columns have few outputs; else None."""
        if self.why_not_counted():
            return None
        each = np.meshgrid(*[np.append(child.outputs, np.nan) for child in self.children], indexing="ij")
        return np.stack([values.reshape(-1) for values in each], axis=1)

    def place_of(self, z: np.ndarray) -> np.ndarray:
        """Return which of the outputs each released row is: a missing entry comes after all others of its column."""
        place = np.zeros(len(z), np.int64)
        for child, column in zip(self.children, z.T, strict=True):
            absent, count = np.isnan(column), len(child.outputs)
            found = child.place_of(np.where(absent, child.outputs[0], column))
            place = place * (count + 1) + np.where(absent, count, found)
        return place

    def varying_fields(self) -> list[str]:
        """Return what differs by record, in words."""
        return [f"{field} of {name}" for name, child in self.parts for field in child.varying_fields()]

    def check_records(self, n: int) -> None:
        """Refuse data whose length does not match a parameter given record by record."""
        for name, child in self.parts:
            with of_column(name):
                child.check_records(n)

    def spans(self) -> list[slice]:
        """Return where the numbers of each column stand in a released row."""
        return _side_by_side([child.row_length or 1 for child in self.children])

    def file_columns(self) -> list[str]:
        """Return the names of the columns of a release: those of the records, numbered where one has several."""
        return [
            name if child.row_length is None else f"{name}_{k}"
            for name, child in self.parts
            for k in range(child.row_length or 1)
        ]

    def check_data(self, y: Any) -> np.ndarray:
        """Return confidential rows as an array of floats, categories by their places, or say what is wrong."""
        return self._each_column(y, lambda name, child, column: child.check_data(column))

    def clip_data(self, y: Any, stacklevel: int = 2, of: str = "") -> np.ndarray:
        """Return confidential rows inside the bounds of their columns; warnings say how many were outside."""

        def clip(name: str, child: LocalMechanism, column: Any) -> np.ndarray:
            return child.clip_data(column, stacklevel + 3, f" of {name}")

        return self._each_column(y, clip)

    def _each_column(self, y: Any, check: Callable[[str, LocalMechanism, Any], np.ndarray]) -> np.ndarray:
        found = pick_columns(y, self.names, "the data y")
        columns = []
        for name, child in self.parts:
            with of_column(name):
                columns.append(check(name, child, found[name]))
        return np.column_stack(columns)

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw the released rows: every column, of which those that a record does not report are then missing."""
        pieces = [np.asarray(child.perturb(rng, y[:, j])) for j, child in enumerate(self.children)]
        if self.reports is not None:
            order = rng.random(y.shape).argsort(axis=1).argsort(axis=1)
            for j, piece in enumerate(pieces):
                piece[order[:, j] >= self.reports] = np.nan
        return np.column_stack(pieces)

    def give_back(self, given: Any, z: np.ndarray) -> Any:
        """Return a release as the kind of thing that the data came in: a frame has names of categories."""
        return like_rows(given, self.to_columns(z), z)

    def to_columns(self, z: np.ndarray) -> dict[str, Any]:
        """Return a release as named columns."""
        each = zip(self.parts, self.spans(), strict=True)
        shown = [_shown(name, child, z[:, span]) for (name, child), span in each]
        return {name: column for columns in shown for name, column in columns.items()}

    def from_columns(self, columns: dict[str, Any]) -> np.ndarray:
        """Return the release from its columns."""
        return self.check_release(columns)

    def text_columns(self) -> list[str]:
        """Return the columns of a file whose cells are names."""
        return [name for name, child in self.parts if child.releases_categories]

    def check_release(self, z: Any) -> np.ndarray:
        """Return released rows as an array of floats, NaN where an entry is missing, or say what is wrong."""
        rows = self.read_rows(z)
        self._check_missing(rows)
        return rows

    def read_rows(self, z: Any) -> np.ndarray:
        """Return rows as a release has them, each by itself right: whichever and how many entries are missing."""
        found = pick_columns(z, self.file_columns(), "the release z")
        pieces = []
        for (name, child), span in zip(self.parts, self.spans(), strict=True):
            with of_column(name):
                columns = [found[column] for column in self.file_columns()[span]]
                pieces.append(_check_piece(child, stack_columns(columns, child.read_column)))
        return np.column_stack(pieces)

    def _check_missing(self, rows: np.ndarray) -> None:
        absent = np.isnan(rows)[:, [span.start for span in self.spans()]]
        empty = [name for name, none in zip(self.names, absent.all(axis=0), strict=True) if none]
        if empty:
            raise ValueError(f"all entries of column {empty[0]!r} are missing. Leave the column out of the mechanism.")
        if self.reveals and absent.any():
            raise ValueError(
                "entries are missing from records that were published as they are; samplers that keep such records "
                "cannot draw them. Leave incomplete records out, or give the columns noise."
            )
        most = len(self.parts) if self.reports is None else self.reports
        over = np.flatnonzero((~absent).sum(axis=1) > most)
        if len(over):
            raise ValueError(
                f"row {over[0] + 1} has {int((~absent[over[0]]).sum())} entries, but each record reports {most} "
                f"(reports={self.reports}); {len(over)} rows have more. Check that the mechanism is the one that made "
                "the release."
            )

    def encode(self, z: np.ndarray) -> np.ndarray:
        """Return what the hooks of each column read, side by side; a missing one has NaN in its first place."""
        pieces = []
        for child, piece, absent in self._filled(z):
            coded = np.array(child.encode(piece), dtype=np.float64)
            coded = coded.reshape(len(z), -1)
            coded[absent, 0] = np.nan
            pieces.append(coded)
        return np.column_stack(pieces)

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return plausible rows: a missing entry is one that another record has."""
        columns = []
        for child, piece, absent in self._filled(z):
            column = np.array(child.initial(piece))
            if absent.any() and not absent.all():
                column[absent] = np.resize(column[~absent], int(absent.sum()))
            columns.append(column)
        return np.column_stack(columns)

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return bounds of log P(a number as far out is released), column by column; 0 where it is missing."""
        out = np.zeros(z.shape)
        for (child, piece, absent), span in zip(self._filled(z), self.spans(), strict=True):
            tail = child.log_tail(piece, child.bounds or (-math.inf, math.inf)).reshape(len(z), -1)
            out[:, span] = np.where(absent[:, None], 0.0, tail)
        return out

    def _filled(self, z: np.ndarray) -> Iterator[tuple[LocalMechanism, np.ndarray, np.ndarray]]:
        """Yield each column's mechanism, its release with something in place of what is missing, and what that is."""
        for child, span in zip(self.children, self.spans(), strict=True):
            yield (child, *_fill(child, z[:, span]))

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this mechanism fills: flat functions over its columns."""
        scopes = [child.hooks() for child in self.children]
        reported = [reported_number if width is None else reported_row for width in self.encoded_widths()]
        calls = [f"f{j}(mechanism.c{j}, {place}, y[{j}])" for j, place in enumerate(self.encoded_places("z"))]
        log_q_of_all = over_children("log_q", "mechanism, z, y", reported, scopes, summed(calls))
        each = [f"f{j}(mechanism.c{j}, i)" for j in range(len(scopes))]
        made = [f"return Numbers({', '.join(each)})"] if self.varying_fields() else ["return mechanism"]
        as_seen = over_children("at_record", "mechanism, i", at_record, scopes, made, Numbers=type(self.numbers()))
        return {**LOCAL_HOOKS, log_q: log_q_of_all, at_record: as_seen}

    def encoded_widths(self) -> list[int | None]:
        """Return how many numbers hooks read of each column; None where they read one alone."""
        return [_encoded_width(child) for child in self.children]

    def encoded_places(self, row: str, before: str = "") -> list[str]:
        """Return how generated code reads each column of an encoded row; with ":, " before, of all of them."""
        widths = self.encoded_widths()
        spans = _side_by_side([width or 1 for width in widths])
        return [
            f"{row}[{before}{span.start}]" if width is None else f"{row}[{before}{span.start}:{span.stop}]"
            for span, width in zip(spans, widths, strict=True)
        ]


def refuse_child(name: str, child: Any) -> None:
    """Refuse a mechanism that cannot be one column's."""
    wrong = ""
    if child.is_counted or child.is_global:
        wrong = "makes one release of all records"
    elif child.dimension > 1:
        wrong = f"perturbs records of {child.dimension} numbers, and a column is one; name its columns in this Each"
    elif child.withholds or child.records_unknown:
        wrong = "withholds numbers by their values, which tells of them; missing entries here tell nothing"
    if wrong:
        raise ValueError(f"Each: column {name!r}: {type(child).__name__} {wrong}.")


def _side_by_side(widths: list[int]) -> list[slice]:
    ends = [0, *np.cumsum(widths).tolist()]
    return [slice(first, last) for first, last in pairwise(ends)]


def _some_release(child: LocalMechanism) -> np.ndarray:
    """Return a release of as many records as a mechanism has noise for: one, where all are alike."""
    records = max([len(getattr(child, name)) for name in child.varying_fields()], default=1)
    middle = 0.0 if child.categories is not None or child.bounds is None else 0.5 * sum(child.bounds)
    return np.asarray(child.perturb(np.random.default_rng(0), np.full(records, middle)), dtype=np.float64)


def _encoded_width(child: LocalMechanism) -> int | None:
    coded = np.asarray(child.encode(_some_release(child)))
    return None if coded.ndim == 1 else coded.shape[1]


def _fill(child: LocalMechanism, piece: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a column's release with something in place of what is missing, and what is missing."""
    absent = np.isnan(piece[:, 0])
    if absent.any():
        kept = piece[~absent][:1] if not absent.all() else _some_release(child).reshape(-1, piece.shape[1])[:1]
        piece = np.where(absent[:, None], kept, piece)
    return (np.ascontiguousarray(piece[:, 0]) if child.row_length is None else np.ascontiguousarray(piece)), absent


def _check_piece(child: LocalMechanism, piece: np.ndarray) -> np.ndarray:
    """Return the release of one column, checked by its mechanism where it is there."""
    absent = np.isnan(piece)
    part = absent.any(axis=1) & ~absent.all(axis=1)
    if part.any():
        raise ValueError(
            f"row {int(np.argmax(part)) + 1} has some of its {piece.shape[1]} numbers, and others missing."
        )
    filled, missing = _fill(child, piece)
    checked = np.array(child.check_release(filled), dtype=np.float64).reshape(len(piece), -1)
    checked[missing] = np.nan
    return checked


def _shown(name: str, child: LocalMechanism, piece: np.ndarray) -> dict[str, Any]:
    if child.row_length is not None:
        return {f"{name}_{k}": piece[:, k] for k in range(piece.shape[1])}
    return {name: child.show_column(piece[:, 0])}
