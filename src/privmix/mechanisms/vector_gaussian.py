"""Gaussian noise on records of several columns: z = y + N(0, η²I), or with a covariance for each record."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms.gaussian import Gaussian, gaussian_scale
from privmix.mechanisms.vector_noise import VectorNoise
from privmix.parts import given
from privmix.parts.checks import fill
from privmix.privacy import ZCDP, ApproxDP


@dataclass(frozen=True, eq=False)
class VectorGaussian(VectorNoise):
    """Add Gaussian noise to all columns of a record at once.

    Guarantee: that of `Gaussian` with Δ the largest Euclidean distance of two records: the diagonal of the box of
    bounds, or twice the radius. The log-ratio of two densities depends on z along the line between the two records
    alone, where the noise is that of one number (Balle and Wang 2018). With a scale for each column, distances are
    taken in these units. A covariance for each record promises nothing: that is measurement error, and no privacy.

    A released entry that is missing (NaN, null) says nothing; that it is missing must not depend on its value.

    Parameters
    ----------
    names
        Names of the columns; or a mapping from names to bounds, ``{"x": (0, 1), "y": (0, 5)}``, known without looking
        at the data.
    box
        The bounds of the columns, where `names` has names alone.
    radius
        Largest Euclidean distance of a record from the middle of the box; from 0 where there is none.
    epsilon, delta
        Wanted (ε, δ).
    rho
        Wanted zCDP budget instead.
    scale
        Standard deviation of the noise instead of a guarantee: a number, one for each of d columns, n × d for each
        record; or n × d × d, a covariance matrix for each record.

    Examples
    --------
    >>> VectorGaussian({"x": (0.0, 3.0), "y": (0.0, 4.0)}, rho=0.5).scale
    5.0
    """

    names: Any = given(("x", "y"))
    box: tuple[tuple[float, float], ...] | None = given()
    radius: float | None = given()
    epsilon: float | None = given()
    delta: float | None = given()
    rho: float | None = given()
    scale: float | np.ndarray = given()
    covariance: np.ndarray = field(init=False, repr=False)  # of the noise; one for each record where they differ
    whitening: np.ndarray = field(init=False, repr=False)  # inverse of its Cholesky factor
    is_one: bool = field(init=False, repr=False)  # whether all records have one covariance

    order: ClassVar[int] = 2
    shapes: ClassVar[dict[int, str]] = {2: "n × d, one for each record and column", 3: "n × d × d covariances"}
    in_words = "each record was published with Gaussian noise added to all its columns"

    def __post_init__(self) -> None:
        if (self.epsilon is None) != (self.delta is None):
            raise ValueError(
                "Gaussian noise has a guarantee in (ε, δ): give epsilon= and delta= together; got "
                f"epsilon={self.epsilon!r} and delta={self.delta!r}. For a single budget use rho=."
            )
        self.fill_fields(gaussian_scale, **({} if self.delta is None else {"delta": self.delta}))
        covariance = self._covariances()
        try:
            root = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError as error:
            raise ValueError("VectorGaussian: every covariance must be symmetric and positive definite.") from error
        fill(self, covariance=covariance, whitening=np.linalg.inv(root), is_one=not self.varies)

    def _covariances(self) -> np.ndarray:
        scale = np.asarray(self.scale)
        if scale.ndim < 3:
            return np.square(self.column_scales)[..., None] * np.eye(self.dimension)
        if not np.allclose(scale, np.swapaxes(scale, 1, 2), rtol=1e-9, atol=0.0):
            raise ValueError("VectorGaussian: every covariance must be symmetric and positive definite.")
        return scale

    def per_record_fields(self) -> tuple[str, ...]:
        """Return what compiled code reads of each record, where they differ."""
        return ("covariance", "whitening") if self.varies else ()

    def child(self, scale: Any, bounds: tuple[float, float] | None) -> Gaussian:
        """Return Gaussian noise on one column."""
        return Gaussian(scale=scale, bounds=bounds)

    @property
    def guarantee(self) -> ApproxDP | ZCDP | None:
        """(ε, δ)-DP where that was asked for, else ρ-zCDP of the least noisy record; None without bounds."""
        if self.epsilon is not None and self.delta is not None:
            return ApproxDP(float(self.epsilon), float(self.delta))
        apart = None if np.ndim(self.scale) == 3 else self._reach(self.column_scales)
        return None if apart is None else ZCDP(0.5 * apart * apart)

    def check_release(self, z: Any) -> np.ndarray:
        """Return released rows as an array of floats, NaN where an entry is missing, or say what is wrong."""
        rows = super().check_release(z)
        if np.ndim(self.scale) == 3 and np.isnan(rows).any():
            raise ValueError(
                "entries are missing from records whose noise is correlated between columns. Give their noise as n × d "
                "standard deviations, or leave incomplete records out."
            )
        return rows

    def log_q(self, z, y):
        """Return log N(z | y, C), C the covariance of the noise; where entries are missing, C is diagonal."""
        d = len(z)
        total = 0.0
        for i in range(d):
            if z[i] == z[i]:
                entry = 0.0
                for j in range(i + 1):
                    if z[j] == z[j]:
                        entry += self.whitening[i, j] * (z[j] - y[j])
                total += math.log(self.whitening[i, i]) - 0.5 * entry * entry - 0.5 * math.log(2.0 * math.pi)
        return total

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw z given y."""
        noise = rng.standard_normal(y.shape)
        if np.ndim(self.scale) == 3:
            return y + np.einsum("nij,nj->ni", np.linalg.cholesky(self.covariance), noise)
        return y + self.column_scales * noise
