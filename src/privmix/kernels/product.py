"""Records of several columns: a kernel for each, independent of one another inside a component."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from privmix.jit import constant, lookup
from privmix.kernels.base import ROW_HOOKS, Kernel
from privmix.kernels.slots import (
    draw_atom,
    draw_hyper,
    draw_y,
    log_base,
    log_f,
    log_moved,
    log_scale,
    parameter_count,
    prepare,
    shift,
    update_atom,
    update_hyper,
)
from privmix.parts.checks import fill
from privmix.parts.columns import Columns, named_parts, over_children, summed


class Place(NamedTuple):
    """Where a column's numbers stand: its parameters, its block of the row of θ, its hyperparameters, its tuning."""

    parameters: slice
    block: slice
    hyper: slice
    tune: slice

    def copy_in(self) -> str:
        """Return the line that copies the column's parameters into its block."""
        return self._copy(self.block.start, self.parameters.start)

    def copy_back(self) -> str:
        """Return the line that copies the parameters of the block back."""
        return self._copy(self.parameters.start, self.block.start)

    def _copy(self, to: int, source: int) -> str:
        count = self.parameters.stop - self.parameters.start
        return f"for p in range({count}): theta[{to} + p] = theta[{source} + p]"


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Product(Columns, Kernel):
    """Components whose columns are independent: f(y|θ) = Π f_c(y_c|θ_c), and the base measure likewise.

    Columns depend on one another through the component that a record belongs to. So a mixture of products approximates
    any joint law, with more components the closer a component would have to follow a slope.

    A row of θ has the parameters of all columns first, then a block for each column: its parameters again, and the
    constants of its kernel.

    Parameters
    ----------
    parts
        Kernels by column, a mapping or pairs: for names that are no Python names.
    named
        Kernels by column: ``Product(age=TruncatedNormal((0, 100)), sex=Categorical(("f", "m")))``. Any kernel of one
        number serves, yours too.

    Examples
    --------
    >>> from privmix.kernels import Normal, TruncatedNormal
    >>> Product(age=TruncatedNormal((0.0, 100.0)), score=Normal()).parameters
    ('age_mean', 'age_variance', 'score_mean', 'score_variance')
    """

    parts: tuple[tuple[str, Kernel], ...]

    offered: ClassVar[bool] = False

    def __init__(self, parts: Mapping[str, Kernel] | Iterable[tuple[str, Kernel]] = (), **named: Kernel) -> None:
        fill(self, parts=named_parts("Product", Kernel, parts, named))
        for name, child in self.parts:
            if child.dimension > 1:
                raise ValueError(
                    f"Product: column {name!r} has records of {child.dimension} numbers ({type(child).__name__}); a "
                    "column is one number. Name its columns in this product instead."
                )
        for kind, found in (("parameter", self.parameters), ("hyperparameter", self.hyperparameters)):
            twice = sorted({name for name in found if found.count(name) > 1})
            if twice:
                raise ValueError(f"Product: two columns give a {kind} the name {twice[0]!r}. Rename a column.")

    @property
    def parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        """The parameters of all columns, each with the name of its column before it."""
        return tuple(f"{name}_{parameter}" for name, child in self.parts for parameter in child.parameters)

    @property
    def positive(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those that are positive."""
        return tuple(f"{name}_{parameter}" for name, child in self.parts for parameter in child.positive)

    @property
    def hyperparameters(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the base measures of the columns learn."""
        return tuple(f"{name}_{learned}" for name, child in self.parts for learned in child.hyperparameters)

    @property
    def constants(self) -> int:  # type: ignore[override]
        """The length of the blocks."""
        return sum(child.columns for child in self.children)

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Number of columns."""
        return len(self.parts)

    @property
    def tuning(self) -> int:
        """What the columns tune, and a gain for each."""
        return sum(1 + child.tuning for child in self.children)

    @property
    def places(self) -> list[Place]:
        """Where the numbers of each column stand."""
        sizes = [(len(k.parameters), k.columns, len(k.hyperparameters), 1 + k.tuning) for k in self.children]
        # Blocks follow the parameters, and tuned quantities the gain of all.
        ends = np.cumsum([(0, len(self.parameters), 0, 1), *sizes], axis=0)
        return [Place(*map(slice, map(int, first), map(int, last))) for first, last in pairwise(ends)]

    def has(self, name: str) -> bool:
        """Return whether all columns together give a hook: an update always, the density of G₀ where each has one."""
        return name == "update" or (name == "log_base" and all(child.has(name) for child in self.children))

    @property
    def moves(self) -> bool:
        """Whether the parameters of every column can be moved one by one."""
        return all(child.moves for child in self.children)

    def only(self, names: Iterable[str]) -> Kernel:
        """Return the kernel of some columns: a product, or the kernel of the only one."""
        kept = [(name, self.children[self.column(name)]) for name in names]
        return kept[0][1] if len(kept) == 1 else Product(kept)

    def draws_of(self, names: Sequence[str], atom: np.ndarray, hyper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return atoms and hyperparameters of some columns, in the order of their kernel."""
        places = [self.places[self.column(name)] for name in names]
        atoms = [atom[..., place.parameters] for place in places]
        return np.concatenate(atoms, axis=-1), np.concatenate([hyper[..., place.hyper] for place in places], axis=-1)

    def atoms_given(self, name: str, atom: np.ndarray, given: Mapping[str, float]) -> np.ndarray:
        """Return the parameters of one column given others: its own, since inside a component they are independent."""
        return atom[..., self.places[self.column(name)].parameters]

    def move_inside(self, y: np.ndarray) -> np.ndarray:
        """Return records moved into the support, column by column."""
        return np.column_stack([child.move_inside(y[:, j]) for j, child in enumerate(self.children)])

    def first_steps(self, y: np.ndarray) -> np.ndarray:
        """Return the first log steps of all parameters, from the spread of each column."""
        return np.concatenate([child.first_steps(y[:, j]) for j, child in enumerate(self.children)])

    def first_tuning(self, steps: np.ndarray) -> np.ndarray:
        """Return what the columns tune, each after its gain."""
        each = zip(self.children, self.places, strict=True)
        return np.concatenate([[0.0, *child.first_tuning(steps[place.parameters])] for child, place in each])

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this kernel fills: flat functions over its columns."""
        hooks = {**ROW_HOOKS, **{slot: self._over(slot, *written) for slot, written in self._written().items()}}
        if self.moves:
            positive = tuple(name in self.positive for name in self.parameters)
            hooks |= {parameter_count: constant(len(positive)), log_scale: lookup(positive)}
        return hooks

    def _over(self, slot: Callable, arguments: str, lines: Iterable[str]) -> Callable:
        scopes = [child.hooks() for child in self.children]
        return over_children(slot.__name__, arguments, slot, scopes, lines, gather=gather_reported)

    def _written(self) -> dict[Callable, tuple[str, list[str]]]:
        """Return arguments and lines of each function, by the slot that it fills."""
        columns = [(f"f{j}(kernel.c{j}", j, place) for j, place in enumerate(self.places)]
        learned = [column for column in columns if column[2].hyper.start < column[2].hyper.stop]
        rows = {j: f"theta[{place.block.start}:{place.block.stop}]" for _, j, place in columns}
        hyper = {j: f"hyper[{place.hyper.start}:{place.hyper.stop}]" for _, j, place in columns}
        written: dict[Callable, tuple[str, list[str]]] = {
            log_f: ("kernel, y, theta", summed(f"{call}, y[{j}], {rows[j]})" for call, j, _ in columns)),
            prepare: (
                "kernel, theta",
                [line for call, j, place in columns for line in (place.copy_in(), f"{call}, {rows[j]})")],
            ),
            draw_y: ("kernel, rng, theta, ys, i", [f"{call}, rng, {rows[j]}, ys[i], {j})" for call, j, _ in columns]),
            draw_atom: (
                "kernel, rng, theta, hyper",
                [
                    line
                    for call, j, place in columns
                    for line in (f"{call}, rng, {rows[j]}, {hyper[j]})", place.copy_back())
                ],
            ),
            update_atom: (
                "kernel, rng, theta, ys, tune, hyper",
                [line for call, j, place in columns for line in _update(call, j, place, rows[j], hyper[j])],
            ),
            draw_hyper: ("kernel, rng, hyper", [f"{call}, rng, {hyper[j]})" for call, j, _ in learned]),
            update_hyper: (
                "kernel, rng, hyper, atoms",
                [
                    f"{call}, rng, {hyper[j]}, atoms[:, {place.block.start}:{place.block.stop}])"
                    for call, j, place in learned
                ],
            ),
        }
        base = ("kernel, theta, hyper", summed(f"{call}, {rows[j]}, {hyper[j]})" for call, j, _ in columns))
        if self.has("log_base"):
            written[log_base] = base
        if self.moves:
            written |= {log_moved: base, shift: ("kernel, theta, p, step", _shift(columns))}
        return written


def _shift(columns: list[tuple[str, int, Place]]) -> list[str]:
    """Return the lines that move one parameter of the column that has it, or those of all past the last."""
    own = [(call, place.parameters.start, place.parameters.stop) for call, _, place in columns]
    lines = [f"if p < {last}: return {call}, theta[{first}:{last}], p - {first}, step)" for call, first, last in own]
    return lines + summed(f"{call}, theta[{first}:{last}], {last - first}, step)" for call, first, last in own)


def _update(call: str, j: int, place: Place, row: str, hyper: str) -> list[str]:
    """Return the lines that update a column's parameters given its entries that are there; its gain is that of all."""
    first, last = place.tune.start, place.tune.stop
    records = f"ys[:gather(ys, {j}), {j}]"
    update = f"{call}, rng, {row}, {records}, tune[{first}:{last}], {hyper})"
    return [f"tune[{first}] = tune[0]", update, place.copy_back()]


def gather_reported(ys, j):
    """Move the entries of a column that are there to its front; return how many. The array is scratch."""
    count = 0
    for i in range(len(ys)):
        if ys[i, j] == ys[i, j]:
            ys[count, j] = ys[i, j]
            count += 1
    return count
