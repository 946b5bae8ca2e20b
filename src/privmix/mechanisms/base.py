"""What every mechanism shares: bounds, checks, clipping, and what is known of its releases."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from privmix.frames import as_floats, like
from privmix.frames.categories import as_codes, named_column
from privmix.frames.rows import Named
from privmix.mechanisms.bars import Bars, bars_of_values
from privmix.mechanisms.noise import distance_from, noise_generator
from privmix.parts import Part
from privmix.parts.options import Option, options_of
from privmix.privacy import Guarantee

if TYPE_CHECKING:
    from privmix.mechanisms.post_processing import Step

#: metavar and help of fields that several mechanisms have, for the command line
SHARED_OPTIONS = {
    "epsilon": ("E", "Privacy budget ε of each record; of a histogram as a whole"),
    "delta": ("D", "δ of (ε, δ), with --epsilon, for Gaussian noise"),
    "rho": ("R", "zCDP budget instead of --epsilon"),
    "scale": ("S", "Scale of the noise instead of a budget"),
    "bounds": ("LO HI", "Range that a record can take, known without looking at the data"),
    "records": ("N", "Number of confidential records, which is public"),
    "bins": ("M", "Number of equal bins"),
}


class Mechanism(Part):
    """What local and global mechanisms share: bounds, checks of the data, and the making of a release."""

    #: length of a confidential record: 1 for a number, d > 1 for a row
    dimension: ClassVar[int] = 1
    #: True if z is y itself (no privacy): then y is known and never imputed
    reveals: ClassVar[bool] = False
    #: True if one release is made of the whole data set, so that it says nothing of any one record's identity
    is_global: ClassVar[bool] = False
    #: True if a release is how many released records are in each bin
    is_counted: ClassVar[bool] = False
    #: True if a released number is the name of a cell and no value on the scale of the records
    names_cells: ClassVar[bool] = False
    #: True if what is released sees sums over bins of `bin_edges`, so that no bin is seen by itself
    joins_bins: ClassVar[bool] = False
    #: True if it is made of another mechanism: the command line offers none such
    is_wrapper: ClassVar[bool] = False
    #: True if a published record may stand for many noisy ones: hooks read it as a row (low, high)
    publishes_intervals: ClassVar[bool] = False
    #: columns of a release in a file; rows have z_0, z_1, …
    column_names: ClassVar[tuple[str, ...]] = ("z",)
    #: fields that a reader of a report wants to know, with their labels
    details: ClassVar[dict[str, str]] = {"scale": "scale of the noise"}
    #: fields that hold the number of records, which the command line reads off the data
    record_counts: ClassVar[tuple[str, ...]] = ()
    #: how to say the number of records where it is not known, as the end of a sentence
    to_tell_records: ClassVar[str] = "give records="
    #: who drew the noise of a hardened release; "" where this library did, in floating point
    drawn_by: Any = ""
    #: interval of a record, a field of most mechanisms; None where any number may be one
    bounds: Any = None
    #: names of the columns of a record, where it has several with names
    names: Any = ()
    #: the values of a record, where they are names: then y is the place of one among them
    categories: Any = None
    #: True if each column has a range of its own, so that a kernel of each follows from it
    columns_apart: ClassVar[bool] = False
    #: interval into which records were moved before the noise; None where none lie outside the bounds
    clipped_at: Any = None

    @classmethod
    def options(cls) -> dict[str, Option]:
        """Return the options of the command line, by field."""
        return options_of(cls, SHARED_OPTIONS)

    @classmethod
    def needs_bounds(cls, given: dict[str, Any]) -> bool:
        """Return whether bounds must be given beside these options."""
        return "bounds" in cls.options()

    @classmethod
    def left_out(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Return what fields without a default are where they are not among these options."""
        return {}

    @classmethod
    def read_table(cls, columns: dict[str, np.ndarray]) -> tuple[dict[str, Any], np.ndarray]:
        """Return the fields that a plain table of the release tells, and the release.

        Parameters
        ----------
        columns
            The columns that `column_names` names; where that is one, any column that was asked for.
        """
        (z,) = columns.values()
        return {}, z

    @classmethod
    def candidates(cls, n: float, bounds: tuple[float, float], **budget: float) -> list[Any]:
        """Return the settings that a plan for n records should compare under a budget, `epsilon` or `rho`.

        None by default: then `privmix.plan` leaves the mechanism out.
        """
        return []

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw the release given all records (hook)."""
        raise NotImplementedError

    @property
    def each(self) -> Mechanism:
        """The mechanism of each record: another than this one where what it released was counted."""
        return self

    @property
    def guarantee(self) -> Guarantee | None:
        """What the mechanism promises, or None where it promises nothing."""
        return None

    @property
    def outputs(self) -> np.ndarray | None:
        """Every value that a released record can take, where they are few, else None."""
        return None

    def place_of(self, z: np.ndarray) -> np.ndarray:
        """Return which of the outputs each released record is, where they are few."""
        outputs: Any = self.outputs
        order = np.argsort(outputs)
        return order[np.searchsorted(outputs[order], z)]

    @property
    def release_range(self) -> tuple[float, float] | None:
        """Interval that holds every released record, where there is one and the record is a number, else None."""
        return None

    @property
    def row_length(self) -> int | None:
        """How many numbers one released record has, or None if it is a number."""
        return None

    @property
    def withholds(self) -> bool:
        """Whether a released number may be missing, NaN, because it was withheld."""
        return False

    @property
    def releases_categories(self) -> bool:
        """Whether a released record is the place of a category, and shown as its name."""
        return False

    def read_column(self, values: Any) -> np.ndarray:
        """Return a column of a release as floats, places for names of categories; NaN where an entry is missing."""
        if self.releases_categories:
            return as_codes(values, self.categories, "the release z", missing=True)
        return as_floats(values, "the release z", missing=True)

    def show_column(self, z: np.ndarray) -> Any:
        """Return released records of one number as a file or a frame shows them: categories by their names."""
        return Named(z, self.categories) if self.releases_categories else z

    def text_columns(self) -> list[str]:
        """Return the columns of a release in a file whose cells are names of categories."""
        return self.file_columns() if self.releases_categories else []

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        whose = "one release of all records was" if self.is_global else "each record was"
        return f"{whose} made by the mechanism {type(self).__name__}"

    @property
    def output_in_words(self) -> str:
        """What the numbers of a release are, for an axis."""
        return "released value z" if self.row_length is None else "released coefficient"

    @property
    def lattice_step(self) -> float | None:
        """Distance of neighbouring values that a record can take, where they are known to lie on a lattice."""
        return None

    @property
    def output_step(self) -> float | None:
        """Distance of neighbouring values that a released number can have, where they are multiples of it."""
        return None

    @property
    def bin_edges(self) -> np.ndarray | None:
        """Edges of the bins, where a release depends on the data by the count of each bin, else None.

        Then the mechanism is a `Histogram` or has all that one has: a field ``edges`` and its hooks.
        """
        return None

    @property
    def bin_count(self) -> int | None:
        """Number of bins, of one column or of several, where a release depends on the data by the count of each."""
        return None if self.bin_edges is None else len(self.bin_edges) - 1

    @property
    def counted_edges(self) -> np.ndarray | None:
        """Edges of the bins, where a release has a number of records for each bin, else None."""
        return None

    def bars(self, z: np.ndarray, lower: float, upper: float) -> Bars | None:
        """Return a release as shares of all records from lower to upper, or None where it has no place there.

        Rows, such as wavelet coefficients, and the few outputs of other kinds have none.
        """
        if z.ndim != 1 or self.outputs is not None or not lower < upper:
            return None
        return bars_of_values(z, lower, upper, "release" if self.reveals else "release (noisy)")

    def fill_withheld(self, z: np.ndarray) -> np.ndarray:
        """Return a release with a number in the place of what was withheld, for checks and pictures."""
        return z

    def keep_published(self, z: np.ndarray) -> np.ndarray:
        """Return what a release holds of what was made of all records: all of it, where none is missing unseen."""
        return z

    def noise_spread(self) -> float | None:
        """Return the standard deviation of the noise where z is y plus noise, else None."""
        return None

    def resolution(self) -> float | None:
        """Return how closely a release tells its record, as a standard deviation; None where that is not known.

        For noise of other kinds than addition: about ∫ q(z|y) dy / max q(z|y), the width of what is likely, over √12.
        """
        return self.noise_spread()

    def grain(self) -> float | None:
        """Return how far a release must move, as a standard deviation, to tell another record; None if not known.

        Counts have bins of a tenth of it. It is the `resolution`, unless densities of releases have jumps.
        """
        return self.resolution()

    def period(self) -> float | None:
        """Return a distance at which densities of releases repeat beyond the bounds, but for a factor; None if none.

        A whole number of bins of counts is as wide, so that those further out follow from those before.
        """
        return None

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return a bound of log P(a number as far out as z is released), for each, whatever the record in an interval.

        By Chebyshev's inequality where z is y plus noise of a known spread; else 0, which says nothing.
        """
        spread = None if self.varying_fields() else self.noise_spread()
        far = 0.0 if spread is None else distance_from(interval, z) / spread
        return -2.0 * np.log(np.maximum(far, np.ones(z.shape)))

    @property
    def reference(self) -> float:
        """The value of a record that a global mechanism starts from; a local one sees no record but its own."""
        return 0.0

    def origin(self) -> np.ndarray:
        """Return what a global mechanism sees of records that all have the reference value; empty for a local one."""
        return np.zeros(0)

    def encode(self, z: np.ndarray) -> np.ndarray:
        """Return the release in the form that hooks read (made once, before sampling)."""
        return z

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return a plausible y for each record, to start a chain."""
        raise NotImplementedError

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this mechanism fills."""
        raise NotImplementedError

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as an array of floats, or say what is wrong with it."""
        raise NotImplementedError

    @property
    def records_unknown(self) -> bool:
        """Whether the number of confidential records is not known, and is learned from the release."""
        return False

    def count_records(self, z: np.ndarray) -> int:
        """Return the number of confidential records behind a checked release."""
        return len(z)

    def privatize(self, y: Any, seed: Any = None) -> Any:
        """Return a sanitised copy of the confidential data.

        Values outside the bounds are clipped, because the guarantee holds for data inside them; a warning says how
        many. The noise is made in floating point: right for simulation and study, not a hardened release.

        Parameters
        ----------
        y
            Confidential records: an array or sequence, or a column of pandas, polars, pyarrow or xarray.
        seed
            Anything that `numpy.random.default_rng` takes. Leave it out for data that are truly confidential: whoever
            guesses the seed can take the noise off. A number gives a stream that `privmix.fit` cannot share; a
            Generator is used as it is.

        Returns
        -------
        ndarray, or what the data came in
            A column comes back as the same kind with its name and index: keep these out if they are confidential. Rows
            of numbers, and one release of all records, come back as a frame.
        """
        return self.give_back(y, self.perturb(noise_generator(seed), self.clip_data(y, stacklevel=3)))

    def clip_data(self, y: Any, stacklevel: int = 2, of: str = "") -> np.ndarray:
        """Return confidential data as an array of floats inside the bounds; a warning says how many were outside.

        Parameters
        ----------
        y
            Confidential records.
        stacklevel
            Of the warning.
        of
            Whose values they are, for the warning: " of age".
        """
        y = self.check_data(y)
        if self.bounds is None:
            return y
        lower, upper = self.bounds
        outside = int(np.count_nonzero((y < lower) | (y > upper)))
        if outside:
            warnings.warn(
                f"{outside} of {y.size} values{of} lie outside the bounds [{lower:g}, {upper:g}] and were clipped.",
                stacklevel=stacklevel,
            )
        return np.clip(y, lower, upper)

    def give_back(self, given: Any, z: np.ndarray) -> Any:
        """Return a release as the kind of thing that the data came in."""
        return named_column(given, z, self.categories) if self.releases_categories else like(given, z)

    def after(self, step: Step) -> Mechanism:
        """Return the mechanism whose releases are published after a step of post-processing (hook of wrappers)."""
        raise ValueError(
            f"{type(self).__name__} cannot be fitted after post-processing ({step.in_words}): only mechanisms that "
            "release one noisy number for each record or for each bin can."
        )

    def file_columns(self) -> list[str]:
        """Return the names of the columns of a release in a file."""
        length = self.row_length
        return list(self.column_names) if length is None else [f"z_{j}" for j in range(length)]

    def to_columns(self, z: np.ndarray) -> dict[str, Any]:
        """Return a release as named columns, for a file."""
        if self.releases_categories:
            return {self.file_columns()[0]: self.show_column(z)}
        return dict(zip(self.file_columns(), np.atleast_2d(z.T), strict=True))

    def from_columns(self, columns: dict[str, Any]) -> np.ndarray:
        """Return the release from the columns that `to_columns` gave."""
        arrays = list(columns.values())
        return arrays[0] if self.row_length is None else np.column_stack(arrays)

    def check_data(self, y: Any) -> np.ndarray:
        """Return confidential data as an array of floats, or say what is wrong with them."""
        if self.categories is not None:
            y = as_codes(y, self.categories, "the data y")
        y = as_floats(y, "the data y", rows=self.dimension > 1)
        if y.ndim != 1 + (self.dimension > 1) or (self.dimension > 1 and y.shape[1] != self.dimension):
            wanted = "one number a record" if self.dimension == 1 else f"rows of {self.dimension} numbers"
            raise ValueError(f"{type(self).__name__} takes {wanted}; the data y have shape {y.shape}.")
        self.check_records(len(y))
        return y

    def check_records(self, n: int) -> None:
        """Refuse data whose length does not match a parameter given record by record."""
        for name in self.varying_fields():
            value = getattr(self, name)
            if len(value) != n:
                raise ValueError(
                    f"{type(self).__name__} has one {name} for each of {len(value)} records, but there are {n} records."
                )
