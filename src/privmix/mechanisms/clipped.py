"""Clipped records: bounds that cut the tails before the noise, instead of a range that holds every record.

log q(z|y) is that of the bound nearest to y. So a release near a bound may come from anywhere beyond it, and of how
records lie out there it says nothing but how many they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from privmix.jit import slot
from privmix.mechanisms.base import Mechanism
from privmix.mechanisms.cells import cell_hooks
from privmix.mechanisms.local import LocalMechanism
from privmix.mechanisms.noisy_histogram import NoisyHistogram
from privmix.mechanisms.processed_counts import ProcessedCounts
from privmix.mechanisms.slots import log_between, log_q
from privmix.mechanisms.wrapper import Wrapper

PUT_INSIDE = (
    "Clipped: records are clipped before the noise and released values post-processed after it. Put Clipped inside: "
    "Clamped(Clipped(mechanism), …)."
)


@slot
def unclipped_log_q(mechanism, z, y):
    """Return log q(z|y) of a record inside the bounds."""


@slot
def unclipped_log_between(mechanism, low, high, y):
    """Return log P(low < Z ≤ high|y) of a record inside the bounds."""


@dataclass(frozen=True, eq=False)
class ClippedRecords(Wrapper):
    """A mechanism whose bounds are a clip: records beyond them were moved to the nearer bound before the noise.

    Made by `Clipped`.

    Guarantee: that of the wrapped mechanism, which sees records inside its bounds.

    Parameters
    ----------
    mechanism
        What perturbs each record; it has bounds.
    """

    mechanism: LocalMechanism

    def __post_init__(self) -> None:
        inner = self.mechanism
        if not isinstance(inner, LocalMechanism) or inner.dimension > 1 or inner.reveals:
            name = type(inner).__name__ if isinstance(inner, Mechanism) else repr(inner)
            raise ValueError(
                "Clipped serves mechanisms that perturb records of one number, and noisy histograms of them; got "
                f"{name}."
            )
        if inner.publishes_intervals:
            raise ValueError(PUT_INSIDE)
        if inner.bounds is None:
            raise ValueError(
                f"Clipped: {type(inner).__name__} has no bounds to clip records to. Give it bounds=(lower, upper)."
            )

    @property
    def clipped_at(self) -> tuple[float, float]:
        """The bounds to which records were clipped."""
        return self.mechanism.bounds

    @property
    def lattice_step(self) -> float | None:
        """Distance of neighbouring values that a record can take."""
        return self.mechanism.lattice_step

    @property
    def in_words(self) -> str:
        """What was done to the records, as the second half of a sentence."""
        lower, upper = self.clipped_at
        return f"{self.mechanism.in_words}; records beyond {lower:g} and {upper:g} were moved there first"

    def own_numbers(self) -> dict[str, Any]:
        """Return the ends of the clip."""
        return {"clip": self.clipped_at}

    def wrapped_hooks(self) -> dict[Callable, Callable]:
        """Return the hooks of the wrapped mechanism in the slots that are called here."""
        hooks = self.mechanism.hooks()
        found = {unclipped_log_between: hooks[log_between]} if log_between in hooks else {}
        return {unclipped_log_q: hooks[log_q], **found}

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this mechanism fills."""
        hooks = {**super().hooks(), log_q: _clipped_log_q}
        return {**hooks, log_between: _clipped_log_between} if log_between in hooks else hooks

    def cell_hooks(self) -> dict[Callable, Callable]:
        """Return the hooks of the wrapped mechanism's cells, which reach outwards already."""
        return cell_hooks(self.mechanism)

    def point_hooks(self) -> dict[Callable, Callable]:
        """Return those of one cell for each point, where records are points of a lattice."""
        return getattr(self.mechanism, "point_hooks", dict)()

    @property
    def points(self) -> np.ndarray:
        """Every value of a record that the wrapped mechanism sees, where they are points of a lattice."""
        return self.mechanism.points  # type: ignore[attr-defined]

    @property
    def cell_cost(self) -> float | None:
        """Cost of a sum over the wrapped mechanism's cells."""
        return getattr(self.mechanism, "cell_cost", None)

    def log_q(self, z, y):
        """Return log q(z|y moved into the bounds)."""
        return self._call(_clipped_log_q, z, y)

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw the release of the records moved into the bounds."""
        return self.mechanism.perturb(rng, np.clip(y, *self.clipped_at))


def Clipped(mechanism: Mechanism) -> Mechanism:  # noqa: N802 - it is used as a class is
    """Return the mechanism with the statement that its bounds are a clip: records beyond them were moved there first.

    Without it, bounds are the natural range of the records, and the model gives none beyond them. With it, records may
    lie anywhere; the posterior says what share lies beyond each bound (``posterior.beyond()``), and their shape there
    is the prior's. Of a histogram the outermost bins hold what lies beyond. The guarantee is unchanged.

    Parameters
    ----------
    mechanism
        What perturbs each record, or a noisy histogram; it has bounds.

    Examples
    --------
    >>> from privmix.mechanisms import Laplace
    >>> Clipped(Laplace(epsilon=1.0, bounds=(0.0, 100.0))).clipped_at
    (0.0, 100.0)
    """
    if isinstance(mechanism, ProcessedCounts) and not mechanism.names:
        raise ValueError(PUT_INSIDE)
    if isinstance(mechanism, NoisyHistogram):
        return ProcessedCounts(mechanism, clipped=True)
    return ClippedRecords(mechanism)  # type: ignore[arg-type]


def _clipped_log_q(part, z, y):
    """Return log q(z|y moved into the bounds)."""
    return unclipped_log_q(part, z, min(max(y, part.clip[0]), part.clip[1]))


def _clipped_log_between(part, low, high, y):
    """Return log P(low < Z ≤ high|y moved into the bounds)."""
    return unclipped_log_between(part, low, high, min(max(y, part.clip[0]), part.clip[1]))
