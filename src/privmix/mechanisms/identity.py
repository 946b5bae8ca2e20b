"""No privacy: the release is the data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privmix.mechanisms.local import LocalMechanism
from privmix.parts import given
from privmix.parts.checks import check_bounds, fill


@dataclass(frozen=True)
class Identity(LocalMechanism):
    """Release the data as they are: no guarantee at all.

    For comparison with what could be learnt without privacy (the "original data" rows of the paper's Table 1).

    Parameters
    ----------
    bounds
        Range of a record, if known; used for plots alone.
    """

    bounds: tuple[float, float] | None = given()

    reveals = True
    in_words = "the records were published as they are"

    def __post_init__(self) -> None:
        fill(self, bounds=check_bounds(self.bounds))

    def log_q(self, z, y):
        """Return 0 where z = y, −∞ elsewhere: a point mass."""
        return 0.0 if z == y else -math.inf

    def perturb(self, rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
        """Return y itself."""
        return y.copy()

    def initial(self, z: np.ndarray) -> np.ndarray:
        """Return the records themselves."""
        return z.copy()
