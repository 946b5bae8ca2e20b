"""Records of several columns with noise that is set for all of them at once: what such mechanisms share."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from privmix.frames.read import refuse_masked
from privmix.frames.rows import like_rows, pick_columns, stack_columns
from privmix.mechanisms.local import LocalMechanism
from privmix.mechanisms.one_column import column_of_rows
from privmix.parts.checks import check_bounds, check_positive, fill, one_of, single
from privmix.parts.columns import NamedColumns, check_names, of_column


class VectorNoise(NamedColumns, LocalMechanism):
    """Add noise to all columns of a record at once.

    A subclass is a frozen dataclass with fields ``names``, ``box``, ``radius``, ``epsilon``, ``rho`` and ``scale``, and
    gives ``order``, in whose norm a record can change, ``child`` and ``shapes``.
    """

    names: Any
    box: tuple[tuple[float, float], ...] | None
    radius: float | None
    epsilon: Any
    rho: Any
    scale: Any

    column_alone = column_of_rows
    #: the norm in which a record can change: 1 or 2
    order: ClassVar[int]
    #: forms of `scale` beyond a number and one for each column, by their dimensions, in words
    shapes: ClassVar[dict[int, str]]

    def child(self, scale: Any, bounds: tuple[float, float] | None) -> LocalMechanism:
        """Return the mechanism of one column by itself (hook)."""
        raise NotImplementedError

    def fill_fields(self, calibrate: Callable[..., Any], **rest: Any) -> None:
        """Set ``names``, ``box`` and ``scale`` while under construction; as `AdditiveNoise.fill_scale` does."""
        owner, given = type(self).__name__, self.names
        box = list(given.values()) if isinstance(given, Mapping) else self.box
        names = check_names(owner, list(given) if isinstance(given, Mapping) else given)
        fill(self, names=names, box=_read_box(owner, names, box))
        if self.radius is not None:
            check_positive(self, "radius")
        if self.epsilon is None and self.rho is None:
            one_of(owner, epsilon=self.epsilon, rho=self.rho, scale=self.scale)
            fill(self, scale=self._read_scale(self.scale))
            return
        name = one_of(owner, epsilon=self.epsilon, rho=self.rho)
        width = self.sensitivity
        if width is None:
            raise ValueError(
                f"{owner}({name}=…) needs bounds of the columns, {owner}({{{names[0]!r}: (lower, upper), …}}, …), or a "
                "radius: noise is scaled to how far two records can lie apart. They must be known without looking at "
                "the data."
            )
        derived = calibrate(width, **{name: single(name, getattr(self, name))}, **rest)
        found = derived if self.scale is None else self._read_scale(self.scale)
        if np.shape(found) != () or not math.isclose(found, derived, rel_tol=1e-9):
            raise ValueError(f"{owner} takes one of epsilon=, rho= or scale=; the given {name} and scale disagree.")
        fill(self, scale=float(derived))

    def _read_scale(self, scale: Any) -> Any:
        refuse_masked(scale, "the noise scale")
        try:
            found = np.array(scale, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.array(np.nan)
        d, is_matrix = self.dimension, found.ndim == 3
        known = found.ndim == 0 or (found.ndim in (1, *self.shapes) and found.shape[-1] == d)
        known = known and (not is_matrix or found.shape[1] == d)
        if not known or not found.size or not np.isfinite(found).all() or not (is_matrix or (found > 0.0).all()):
            forms = ", ".join(["a positive number", f"one for each of {d} columns", *self.shapes.values()])
            raise ValueError(
                f"{type(self).__name__}: the noise scale must be one of: {forms}; got shape {found.shape}."
            )
        found.setflags(write=False)
        return float(found) if found.ndim == 0 else found

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Number of columns."""
        return len(self.names)

    @property
    def row_length(self) -> int:
        """Numbers of a released record."""
        return len(self.names)

    @property
    def withholds(self) -> bool:
        """Whether entries may be missing."""
        return True

    @property
    def widths(self) -> np.ndarray | None:
        """How wide the bounds of each column are."""
        return None if self.box is None else np.array([upper - lower for lower, upper in self.box])

    @property
    def sensitivity(self) -> float | None:
        """How far two records can lie apart: the diagonal of the box, or the diameter of the ball if that is less."""
        return self._reach(np.ones(self.dimension))

    def _reach(self, scales: np.ndarray) -> float | None:
        """Return how far two records can lie apart in units of a scale for each column, the most over rows of them."""
        apart = []
        if self.widths is not None:
            apart.append(np.linalg.norm(self.widths / scales, self.order, axis=-1))
        if self.radius is not None:
            apart.append(2.0 * self.radius / np.min(scales, axis=-1))
        return float(np.max(np.min(apart, axis=0))) if apart else None

    @property
    def varies(self) -> bool:
        """Whether every record has noise of its own."""
        return np.ndim(self.scale) > 1

    def varying_fields(self) -> list[str]:
        """Return the scale, where it differs by record."""
        return ["scale"] if self.varies else []

    @property
    def column_scales(self) -> np.ndarray:
        """The scale of the noise of each column, or rows of them."""
        scale = np.asarray(self.scale)
        if scale.ndim == 3:
            return np.sqrt(np.diagonal(scale, axis1=1, axis2=2))
        return np.full(self.dimension, self.scale) if scale.ndim == 0 else scale

    @property
    def children(self) -> tuple[LocalMechanism, ...]:
        """The mechanism of each column by itself."""
        scales, box = self.column_scales, self.box or [None] * self.dimension
        return tuple(
            self.child(np.ascontiguousarray(scales[..., j]) if self.varies else float(scales[j]), box[j])
            for j in range(self.dimension)
        )

    def spans(self) -> list[slice]:
        """Return where the number of each column stands in a released row."""
        return [slice(j, j + 1) for j in range(self.dimension)]

    def file_columns(self) -> list[str]:
        """Return the names of the columns of a release."""
        return list(self.names)

    def check_data(self, y: Any) -> np.ndarray:
        """Return confidential rows as an array of floats, or say what is wrong."""
        return self._each_column(y, lambda j, column: self.child(1.0, None).check_data(column))

    def clip_data(self, y: Any, stacklevel: int = 2, of: str = "") -> np.ndarray:
        """Return confidential rows inside the bounds of their columns and inside the ball; warnings say how many."""
        box = self.box or [None] * self.dimension

        def clip(j: int, column: Any) -> np.ndarray:
            return self.child(1.0, box[j]).clip_data(column, stacklevel + 3, f" of {self.names[j]}")

        rows = self._each_column(y, clip)
        if self.radius is None:
            return rows
        centre = self._centre()
        far = np.linalg.norm(rows - centre, self.order, axis=1)
        if (far > self.radius).any():
            warnings.warn(
                f"{int((far > self.radius).sum())} of {len(rows)} records lie farther than {self.radius:g} from the "
                "centre and were moved towards it.",
                stacklevel=stacklevel,
            )
        return centre + (rows - centre) * np.minimum(1.0, self.radius / np.maximum(far, self.radius))[:, None]

    def _centre(self) -> np.ndarray:
        return np.zeros(self.dimension) if self.box is None else np.mean(self.box, axis=1)

    def _each_column(self, y: Any, check: Callable[[int, Any], np.ndarray]) -> np.ndarray:
        found = pick_columns(y, self.names, "the data y")
        columns = []
        for j, name in enumerate(self.names):
            with of_column(name):
                columns.append(check(j, found[name]))
        rows = np.column_stack(columns)
        self.check_records(len(rows))
        return rows

    def check_release(self, z: Any) -> np.ndarray:
        """Return released rows as an array of floats, NaN where an entry is missing, or say what is wrong."""
        rows = self.read_rows(z)
        empty = [name for name, none in zip(self.names, np.isnan(rows).all(axis=0), strict=True) if none]
        if empty:
            raise ValueError(f"all entries of column {empty[0]!r} are missing. Leave the column out of the mechanism.")
        self.check_records(len(rows))
        return rows

    def read_rows(self, z: Any) -> np.ndarray:
        """Return rows as a release has them, each by itself right: whichever and how many entries are missing."""
        found = pick_columns(z, self.names, "the release z")
        return stack_columns([found[name] for name in self.names], self.read_column)

    def from_columns(self, columns: dict[str, Any]) -> np.ndarray:
        """Return the release from its columns."""
        return self.check_release(columns)

    def give_back(self, given: Any, z: np.ndarray) -> Any:
        """Return a release as the kind of thing that the data came in."""
        return like_rows(given, self.to_columns(z), z)

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return plausible rows: the release moved into the bounds; a missing entry is one that another record has."""
        rows = z.copy()
        for j, bounds in enumerate(self.box or [None] * self.dimension):
            there = ~np.isnan(z[:, j])
            if there.any():
                rows[~there, j] = np.resize(z[there, j], int((~there).sum()))
            rows[:, j] = rows[:, j] if bounds is None else np.clip(rows[:, j], *bounds)
        return rows

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return bounds of log P(a number as far out is released), column by column; 0 where it is missing."""
        whole = (-math.inf, math.inf)
        tails = [child.log_tail(z[:, j], child.bounds or whole) for j, child in enumerate(self.children)]
        return np.nan_to_num(np.column_stack(tails), nan=0.0, neginf=-math.inf)


def _read_box(owner: str, names: tuple[str, ...], box: Any) -> tuple[tuple[float, float], ...] | None:
    """Return the bounds of every column, or None where there are none."""
    if box is None or all(bounds is None for bounds in box):
        return None
    if len(box) != len(names):
        raise ValueError(f"{owner}: box must have bounds of each of {len(names)} columns; got {len(box)}.")
    found = []
    for name, bounds in zip(names, box, strict=True):
        with of_column(name):
            found.append(check_bounds(bounds, needed_for=f"{owner} with bounds of other columns"))
    return tuple(found)  # type: ignore[arg-type]
