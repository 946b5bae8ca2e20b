"""The Haar wavelet mechanism: each record releases its noisy wavelet coefficients.

References
----------
Butucea, C., Dubois, A., Kroll, M. and Saumard, A. (2020). Local differential privacy: elbow effect in optimal density
    estimation and adaptation over Besov ellipsoids. Bernoulli.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from privmix.mechanisms.cell_table import CellTable
from privmix.mechanisms.noise import distance_from
from privmix.parts import given
from privmix.parts.checks import (
    FloatOrArray,
    check_bounds,
    check_count,
    check_scale,
    fill,
    is_whole,
    one_of,
    plain,
    positive,
)
from privmix.privacy import PureDP


@dataclass(frozen=True)
class HaarWavelet(CellTable):
    """Release ψ_jk(y) + Laplace(0, scale) for levels j = 0…J and k = 0…2^j − 1.

    The paper's Section 2.1, after Butucea et al. (2020). On [0, 1],
    ψ_jk(x) = 2^{j/2}(1[0, ½) − 1[½, 1))(2^j x − k); other bounds are mapped onto it. A record releases
    2^{J+1} − 1 numbers, ordered by level and then by k.

    Guarantee: ε-differential privacy with ε = S/scale, where S = 2(2^{(J+1)/2} − 1)/(√2 − 1) is the L1 distance
    between the coefficients of two records, reached when they differ at every level. The scale of Butucea et al. has
    the constant 12√2/(√2 − 1)·2^{J/2} instead, which is valid and 6.6 to 9.3 times noisier for J = 2…6.

    Parameters
    ----------
    levels
        The finest level J; 2^{J+1} cells of y can be told apart.
    epsilon
        Wanted ε.
    bounds
        Range of a record, known without looking at the data.
    scale
        Scale of the noise instead of ε.
    calibration
        ``"tight"``, or ``"butucea"`` for the scale that the paper uses.
    """

    levels: int = field(default=3, metadata={"metavar": "J", "help": "Finest wavelet level"})
    epsilon: float | None = given()
    bounds: tuple[float, float] = (0.0, 1.0)
    scale: float = None  # type: ignore[assignment]
    calibration: str = given("tight", help="Which constant of the scale to use", choices=("tight", "butucea"))

    command_name = "haar"
    in_words = "of each record noisy wavelet coefficients were published"

    def __post_init__(self) -> None:
        if not is_whole(self.levels) or not 0 <= self.levels <= 12:
            raise ValueError(f"HaarWavelet: levels must be a whole number from 0 to 12; got {self.levels!r}.")
        fill(self, levels=int(self.levels))
        if self.calibration not in CALIBRATIONS:
            raise ValueError(f"HaarWavelet: calibration must be 'tight' or 'butucea'; got {self.calibration!r}.")
        fill(self, bounds=check_bounds(self.bounds, needed_for="HaarWavelet"))
        if self.epsilon is None:
            one_of("HaarWavelet", epsilon=self.epsilon, scale=self.scale)
            fill(self, scale=check_scale(self.scale))
            return
        if np.ndim(self.epsilon) > 0:
            raise ValueError(f"HaarWavelet has one epsilon for all records; got {self.epsilon!r}.")
        derived = float(CALIBRATIONS[self.calibration](self.levels, self.epsilon))
        if self.scale is not None and not math.isclose(check_scale(self.scale), derived, rel_tol=1e-9):
            raise ValueError("HaarWavelet takes one of epsilon= or scale=; the given epsilon and scale disagree.")
        fill(self, scale=derived)

    @property
    def guarantee(self) -> PureDP:
        """Pure ε-DP of the noise that is really added: below the wanted ε where the scale is not the tight one."""
        return PureDP(float(haar_scale(self.levels, 1.0)) / self.scale)

    @property
    def row_length(self) -> int:
        """Number of coefficients that a record releases."""
        return 2 ** (self.levels + 1) - 1

    def encode(self, z: np.ndarray) -> np.ndarray:
        """Return log q(z|cell) for each record and each of the 2^{J+1} cells on which every ψ_jk is constant.

        Relative to noise alone, a cell changes one coefficient of each level, the one on its path, from |z_jk| to
        |z_jk ∓ 2^{j/2}|; the table is built level by level.
        """
        cells = 2 ** (self.levels + 1)
        table = np.tile(
            -np.abs(z).sum(axis=1) / self.scale - self.row_length * math.log(2.0 * self.scale), (cells, 1)
        ).T
        for j, coefficients, height in self._levels(z):
            positive = (np.abs(coefficients) - np.abs(coefficients - height)) / self.scale
            negative = (np.abs(coefficients) - np.abs(coefficients + height)) / self.scale
            halves = np.stack([positive, negative], axis=-1).reshape(len(z), 2 ** (j + 1))
            table += np.repeat(halves, cells // 2 ** (j + 1), axis=1)
        return table

    def log_tail(self, z: np.ndarray, interval: tuple[float, float]) -> np.ndarray:
        """Return that of Laplace noise on coefficients from −2^{j/2} to 2^{j/2}, for each number of a row."""
        out = np.empty(z.shape)
        for (_, found, _), (_, coefficients, height) in zip(self._levels(out), self._levels(z), strict=True):
            found[:] = -distance_from((-height, height), coefficients) / self.scale - math.log(2.0)
        return out

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Draw the noisy coefficients of each record; y outside the bounds counts as the nearest bound."""
        z = rng.laplace(0.0, self.scale, size=(len(y), self.row_length))
        x = (y - self.bounds[0]) / (self.bounds[1] - self.bounds[0])
        rows = np.arange(len(y))
        for j, coefficients, height in self._levels(z):
            half = np.clip(x * 2 ** (j + 1), 0, 2 ** (j + 1) - 1).astype(np.int64)
            coefficients[rows, half // 2] += np.where(half % 2 == 0, height, -height)
        return z

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return the middle of the half-cell that the largest coefficient of the finest level points to."""
        finest = z[:, 2**self.levels - 1 :]
        k = np.argmax(np.abs(finest), axis=1)
        half = 2 * k + (finest[np.arange(len(z)), k] < 0)
        lower, upper = self.bounds
        return lower + (upper - lower) * (half + 0.5) / 2 ** (self.levels + 1)

    def _levels(self, z: np.ndarray):
        """Yield (j, coefficients of level j, height 2^{j/2}); the coefficients are views."""
        for j in range(self.levels + 1):
            yield j, z[:, 2**j - 1 : 2 ** (j + 1) - 1], 2.0 ** (j / 2)


def haar_scale(levels: int, epsilon: ArrayLike) -> FloatOrArray:
    """Return the smallest Laplace scale for Haar coefficients of levels 0..J: their L1 sensitivity / epsilon.

    s = (2/epsilon) (2^{(J+1)/2} - 1)/(sqrt 2 - 1) with J = `levels`. Proof. At level j exactly one of the 2^j
    functions psi_jk is non-zero at y, with the value +-2^{j/2}. So level j adds to sum |psi_jk(y) -
    psi_jk(y')| exactly 2 * 2^{j/2} where y and y' lie in different supports (two terms of 2^{j/2}) or in the
    two halves of one support (one term of 2 * 2^{j/2}), and 0 where they lie in the same half. Hence the sum
    is at most sum_{j=0}^{J} 2 * 2^{j/2}, the geometric sum above; y < 1/2 <= y' attains it, because they
    differ in sign at level 0 and in support at every later level.

    Parameters
    ----------
    levels : int
        The finest level J, at least 0.
    epsilon : float or array
        Budget of pure differential privacy for all the coefficients of one record.

    Returns
    -------
    float or ndarray
        An array where epsilon is one.
    """
    sensitivity = 2 * (2 ** ((check_count("levels", levels, 0, "HaarWavelet") + 1) / 2) - 1) / (math.sqrt(2) - 1)
    return plain(sensitivity / positive("epsilon", epsilon))


def haar_scale_butucea(levels: int, epsilon: ArrayLike) -> FloatOrArray:
    """Return the Laplace scale of Butucea et al. (2020): (12/epsilon) (sqrt 2/(sqrt 2 - 1)) 2^{J/2}.

    Valid, because above `haar_scale`, and six to twenty times as noisy: for comparison with published
    results.

    Parameters
    ----------
    levels, epsilon
        As in `haar_scale`, whose shape of the result it has too.
    """
    factor = 12 * math.sqrt(2) / (math.sqrt(2) - 1) * 2 ** (check_count("levels", levels, 0, "HaarWavelet") / 2)
    return plain(factor / positive("epsilon", epsilon))


CALIBRATIONS = {"tight": haar_scale, "butucea": haar_scale_butucea}
