"""Unary encoding: each record releases a bit for every cell of the bounds, each turned over by chance.

References
----------
Erlingsson, Ú., Pihur, V. and Korolova, A. (2014). RAPPOR: randomized aggregatable privacy-preserving ordinal response.
    CCS.
Wang, T., Blocki, J., Li, N. and Jha, S. (2017). Locally differentially private protocols for frequency estimation.
    USENIX Security.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms.cell_grid import cells_to_try
from privmix.mechanisms.cell_table import CellTable
from privmix.mechanisms.ratios import ThreeRatios, budget
from privmix.parts import given
from privmix.parts.checks import cells_of_categories, check_bounds, check_count, fill


@dataclass(frozen=True)
class UnaryEncoding(CellTable, ThreeRatios):
    """Release k bits: that of the cell of y is one with probability p, each other with probability q < p.

    The bounds are cut into k equal cells, closed on the left; y outside the bounds counts as the nearest bound. A
    release is a row of k zeros and ones, and log q its log probability. ``"symmetric"`` turns ones and zeros over
    equally often, p = 1 − q = e^{ε/2}/(e^{ε/2} + 1): basic RAPPOR (Erlingsson, Pihur and Korolova 2014, Section 5).
    ``"optimised"`` has p = ½ and q = 1/(e^ε + 1), with which shares of rare cells vary least (Wang, Blocki, Li and Jha
    2017).

    Guarantee: ε-differential privacy for any two records, exact; the proof is with `unary_encoding_probabilities`.
    Also ρ-zero-concentrated with the ρ of `zcdp`.

    Parameters
    ----------
    cells
        Number k of cells, at least 2.
    epsilon
        Wanted ε.
    bounds
        Range of a record, known without looking at the data.
    probabilities
        ``"optimised"`` or ``"symmetric"``.
    rho
        Wanted zCDP budget instead of ε.
    categories
        Names of the values of a record that is no number: a cell for each, in place of ``cells`` and ``bounds``.
    """

    cells: int = field(default=None, metadata={"metavar": "K", "needed": True})  # type: ignore[assignment]
    epsilon: float = given()
    bounds: tuple[float, float] = None  # type: ignore[assignment]
    probabilities: str = given(
        "optimised", help="Which probabilities of a bit to use", choices=("optimised", "symmetric")
    )
    rho: float | None = given()
    categories: Any = given()

    in_words = "of each record a row of bits was published, one for each cell of its range, some turned over by chance"
    output_in_words = "released bit"
    details: ClassVar[dict[str, str]] = {"cells": "cells", "probabilities": "probabilities of a bit"}

    def __post_init__(self) -> None:
        if self.categories is not None:
            cells_of_categories(self)
        cells = check_count("cells", self.cells, 2, "UnaryEncoding")
        bounds = check_bounds(self.bounds, needed_for="UnaryEncoding")
        if self.probabilities not in ("optimised", "symmetric"):
            raise ValueError(
                f"UnaryEncoding: probabilities must be 'optimised' or 'symmetric'; got {self.probabilities!r}."
            )
        fill(self, cells=cells, bounds=bounds)
        fill(self, epsilon=budget("UnaryEncoding", self._variation_at, self.epsilon, self.rho))

    @classmethod
    def candidates(cls, n: float, bounds: tuple[float, float], **budget: Any) -> list[UnaryEncoding]:
        """Return encodings of about as many cells as n records can tell apart."""
        epsilon = cls(2, bounds=bounds, **budget).epsilon
        wanted = cells_to_try(n, epsilon, staggered=False)
        return [cls(max(4, round(wanted * factor)), bounds=bounds, **budget) for factor in (0.8, 1.25)]

    @property
    def row_length(self) -> int:
        """Number of bits that a record releases."""
        return self.cells

    @property
    def variation(self) -> float:
        """Largest total variation between the releases of two records."""
        return self._variation_at(self.epsilon)

    def _variation_at(self, epsilon: float) -> float:
        """Return p − q: two records differ in the law of two bits, and of these (1, 0) and (0, 1) alone tell."""
        own, other = unary_encoding_probabilities(epsilon, self.probabilities)
        return own - other

    def bit_means(self, y: np.ndarray) -> np.ndarray:
        """Return the probability that each bit of each record is one."""
        own, other = unary_encoding_probabilities(self.epsilon, self.probabilities)
        return np.where(self._cell_of(y)[:, None] == np.arange(self.cells), own, other)

    def encode(self, z: np.ndarray) -> np.ndarray:
        """Return log q(z|cell) for each record and each cell: that of bits of other cells, and what its own changes."""
        (log_one, log_zero), (log_own_one, log_own_zero) = self._log_probabilities()
        base = np.where(z == 1.0, log_one, np.where(z == 0.0, log_zero, -math.inf)).sum(axis=1)
        return base[:, None] + np.where(z == 1.0, log_own_one - log_one, log_own_zero - log_zero)

    def _log_probabilities(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the logs of q, 1 − q, p and 1 − p; small ones are not differences of large ones."""
        half = 0.5 * self.epsilon
        if self.probabilities == "symmetric":
            likely = -math.log1p(math.exp(-half))
            return (likely - half, likely), (likely, likely - half)
        likely = -math.log1p(math.exp(-self.epsilon))
        return (likely - self.epsilon, likely), (-math.log(2.0), -math.log(2.0))

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw the bits of each record; y outside the bounds counts as the nearest bound."""
        return (rng.random((len(y), self.cells)) < self.bit_means(y)).astype(np.float64)

    def _cell_of(self, y: np.ndarray) -> np.ndarray:
        position = self.cells * (y - self.bounds[0]) / (self.bounds[1] - self.bounds[0])
        return np.clip(position, 0.0, self.cells - 1.0).astype(np.int64)

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return the middle of the middle cell of those whose bit is one, or of the bounds where there is none."""
        ones = np.where(z.sum(axis=1, keepdims=True) > 0.0, z, 1.0).cumsum(axis=1)
        middle = np.argmax(ones >= 0.5 * ones[:, -1:], axis=1)
        return self.bounds[0] + (self.bounds[1] - self.bounds[0]) * (middle + 0.5) / self.cells

    def check_release(self, z: Any) -> np.ndarray:
        """Return a release as rows of zeros and ones, or say what is wrong with it."""
        z = super().check_release(z)
        bad = (z != 0.0) & (z != 1.0)
        if bad.any():
            raise ValueError(
                f"UnaryEncoding releases zeros and ones; the release z has {np.count_nonzero(bad)} other values, the "
                f"first {z[bad][0]:g}. Check that the mechanism is the one that made the release."
            )
        return z


def unary_encoding_probabilities(epsilon: float, probabilities: str = "optimised") -> tuple[float, float]:
    """Return the probability that a bit is one, for the cell of the record and for any other.

    Derivation. Bits are independent. Two records with different cells change the law of two bits, whose four values
    have probabilities p(1 - q) and q(1 - p) of (1, 0), the other way round of (0, 1), and the same under both of (1, 1)
    and (0, 0). So the log-ratios are 0 and +-log p(1 - q)/(q(1 - p)), which is epsilon for p = 1/2, q = 1/(e^epsilon +
    1), and for p = 1 - q = e^{epsilon/2}/(e^{epsilon/2} + 1).

    Parameters
    ----------
    epsilon : float
        Budget of pure differential privacy.
    probabilities : {"optimised", "symmetric"}
        Which of the two.

    Returns
    -------
    tuple of float
        (p, q).
    """
    if probabilities == "symmetric":
        return 1.0 / (1.0 + math.exp(-0.5 * epsilon)), math.exp(-0.5 * epsilon) / (1.0 + math.exp(-0.5 * epsilon))
    return 0.5, math.exp(-epsilon) / (1.0 + math.exp(-epsilon))
