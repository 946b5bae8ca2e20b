"""Laplace noise on records of several columns, set for all of them at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms.laplace import Laplace, laplace_scale
from privmix.mechanisms.vector_noise import VectorNoise
from privmix.parts import given
from privmix.parts.checks import fill
from privmix.privacy import PureDP


@dataclass(frozen=True, eq=False)
class VectorLaplace(VectorNoise):
    """Add independent Laplace noise of one scale to all columns of a record.

    Guarantee: ε-differential privacy with ε = Δ/scale, where Δ is the largest L1 distance of two records: the sum of
    the widths of the bounds, or twice the radius (Dwork, McSherry, Nissim and Smith 2006, Proposition 1). Columns
    should be in units in which their noise may be alike. With a scale for each, distances are taken in these units.

    A released entry that is missing (NaN, null) says nothing; that it is missing must not depend on its value.

    Parameters
    ----------
    names
        Names of the columns; or a mapping from names to bounds, ``{"x": (0, 1), "y": (0, 5)}``, known without looking
        at the data.
    box
        The bounds of the columns, where `names` has names alone.
    radius
        Largest L1 distance of a record from the middle of the box; from 0 where there is none.
    epsilon
        Wanted ε.
    rho
        Wanted zCDP budget instead of ε: uses ε = √(2ρ).
    scale
        Scale of the noise instead of a guarantee: a number, one for each of d columns, or n × d for each record.

    Examples
    --------
    >>> VectorLaplace({"x": (0.0, 3.0), "y": (0.0, 4.0)}, epsilon=2.0).scale
    3.5
    """

    names: Any = given(("x", "y"))
    box: tuple[tuple[float, float], ...] | None = given()
    radius: float | None = given()
    epsilon: float | None = given()
    rho: float | None = given()
    scale: float | np.ndarray = given()
    scales: np.ndarray = field(init=False, repr=False)  # of each column; rows of them where records differ

    order: ClassVar[int] = 1
    shapes: ClassVar[dict[int, str]] = {2: "n × d, one for each record and column"}
    in_words = "each record was published with Laplace noise added to all its columns"

    def __post_init__(self) -> None:
        self.fill_fields(laplace_scale)
        fill(self, scales=self.column_scales)

    def per_record_fields(self) -> tuple[str, ...]:
        """Return what compiled code reads of each record, where they differ."""
        return ("scales",) if self.varies else ()

    def child(self, scale: Any, bounds: tuple[float, float] | None) -> Laplace:
        """Return Laplace noise on one column."""
        return Laplace(scale=scale, bounds=bounds)

    @property
    def guarantee(self) -> PureDP | None:
        """Pure ε-DP of the least noisy record; None without bounds."""
        apart = self._reach(self.column_scales)
        return None if apart is None else PureDP(apart)

    def log_q(self, z, y):
        """Return Σ −|z_j − y_j|/b_j − log 2b_j over the entries that are there."""
        total = 0.0
        for j in range(len(z)):
            if z[j] == z[j]:
                total -= abs(z[j] - y[j]) / self.scales[j] + math.log(2.0 * self.scales[j])
        return total

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw z given y."""
        return y + rng.laplace(0.0, self.column_scales, size=y.shape)
