"""A mechanism for each record around another one.

A wrapper keeps the wrapped mechanism's parameters in one tuple with its own, so that the wrapped hooks read them as
they always do, one scale a record included. Each kind of wrapper calls the wrapped hooks through slots of its own, so
that one can be put around another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from privmix.jit import accessor, bind
from privmix.jit.numbers import numbers_of
from privmix.mechanisms.bars import Bars
from privmix.mechanisms.base import Mechanism
from privmix.mechanisms.local import LocalMechanism
from privmix.mechanisms.slots import at_record

if TYPE_CHECKING:
    from privmix.mechanisms.post_processing import Intervals


def of_wrapped(name: str) -> Any:
    """Return a property that is that of the wrapped mechanism.

    Parameters
    ----------
    name
        Of the property.
    """
    known = getattr(Mechanism, name, None)
    about = known.__doc__ if isinstance(known, property) else f"The {name} of the wrapped mechanism."
    return property(lambda self: getattr(self.mechanism, name), doc=about)


class Wrapper(LocalMechanism):
    """A mechanism for each record around another one: what it does not change is the other's.

    A subclass is a frozen dataclass with a field ``mechanism`` and with ``log_q`` and ``perturb``; numbers that its
    hooks need beside those of the wrapped mechanism are in ``own_numbers``.
    """

    mechanism: LocalMechanism
    is_wrapper: ClassVar[bool] = True

    guarantee = of_wrapped("guarantee")
    drawn_by = of_wrapped("drawn_by")
    outputs = of_wrapped("outputs")
    release_range = of_wrapped("release_range")
    row_length = of_wrapped("row_length")
    in_words = of_wrapped("in_words")
    output_in_words = of_wrapped("output_in_words")
    names_cells = of_wrapped("names_cells")
    output_step = of_wrapped("output_step")

    def own_numbers(self) -> dict[str, Any]:
        """Return what compiled hooks read beside the wrapped mechanism's numbers, by name."""
        return {}

    def numbers(self) -> Any:
        """Return the numbers of the wrapped mechanism and the wrapper's own, in one tuple."""
        return numbers_of({**self.mechanism.numbers()._asdict(), **self.own_numbers()})

    def per_record_fields(self) -> tuple[str, ...]:
        """Return the fields of the wrapped mechanism that may hold one number a record."""
        return self.mechanism.per_record_fields()

    def varying_fields(self) -> list[str]:
        """Return the fields of the wrapped mechanism that do."""
        return self.mechanism.varying_fields()

    def check_records(self, n: int) -> None:
        """Refuse data whose length does not match a parameter given record by record."""
        self.mechanism.check_records(n)

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as the wrapped mechanism checks it."""
        return self.mechanism.check_release(z)

    def encode(self, z: np.ndarray) -> np.ndarray:
        """Return the release in the form that hooks read."""
        return self.mechanism.encode(z)

    def interval_rows(self, found: Intervals) -> np.ndarray:
        """Return intervals of noisy records as the wrapped mechanism reads them."""
        return self.mechanism.interval_rows(found)

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return a plausible record for each released one."""
        return self.mechanism.initial(z)

    def bars(self, z: np.ndarray, lower: float, upper: float) -> Bars | None:
        """Return a release as shares of all records from lower to upper."""
        return self.mechanism.bars(z, lower, upper)

    def noise_spread(self) -> float | None:
        """Return the standard deviation of the noise where it is added, else None."""
        return self.mechanism.noise_spread()

    def resolution(self) -> float | None:
        """Return how closely a release tells its record."""
        return self.mechanism.resolution()

    def period(self) -> float | None:
        """Return a distance at which densities of releases repeat."""
        return self.mechanism.period()

    def grain(self) -> float | None:
        """Return how far a release must move to tell another record."""
        return self.mechanism.grain()

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return 0: what a wrapper does to a released number may take it anywhere."""
        return np.zeros(z.shape)

    def wrapped_hooks(self) -> dict[Callable, Callable]:
        """Return the hooks of the wrapped mechanism in the slots that the wrapper's hooks call."""
        raise NotImplementedError

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this mechanism fills."""
        each = accessor(self.numbers(), self.per_record_fields())
        return {**self.mechanism.hooks(), **self.wrapped_hooks(), at_record: each}

    def _call(self, function: Callable, *arguments: Any) -> Any:
        return bind(function, self.hooks(), compiled=False)(self.numbers(), *arguments)
