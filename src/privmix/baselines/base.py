"""What every baseline shares: one way to fit, one way to ask for the density, and the checks."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from privmix.mechanisms import LocalMechanism, Mechanism
from privmix.release import Release


class Fitted:
    """What a baseline learnt from a release."""

    def density(self, grid: Any) -> np.ndarray:
        """Return the estimated density of the confidential data at each point of the grid."""
        return self.evaluate(check_grid(grid))

    def evaluate(self, points: np.ndarray) -> np.ndarray:
        """Return the density at checked points."""
        raise NotImplementedError


class Baseline:
    """An estimator of the density of confidential data from their release.

    A subclass is a frozen dataclass of options with `estimate`, and `refusal` where it does not serve every mechanism.
    """

    #: whether the estimate is drawn: then there is a field `seed`
    is_random: ClassVar[bool] = False

    def fit(self, z: Any, mechanism: LocalMechanism | None = None) -> Fitted:
        """Return the fit to a release.

        Parameters
        ----------
        z
            The released records, or a `Release`.
        mechanism
            What made them; not needed with a `Release`.
        """
        z, mechanism = read(z, mechanism)
        reason = "is for records of one number" if mechanism.dimension > 1 else self.refusal(mechanism)
        if reason:
            raise ValueError(f"{type(self).__name__} {reason}; the release was made by {type(mechanism).__name__}.")
        return self.estimate(z, mechanism)

    def refusal(self, mechanism: LocalMechanism) -> str:
        """Return why a mechanism is not served and what to use instead, or an empty string."""
        return ""

    def estimate(self, z: np.ndarray, mechanism: Any) -> Fitted:
        """Return the fit to a checked release of a mechanism that is served."""
        raise NotImplementedError


def read(z: Any, mechanism: Any) -> tuple[np.ndarray, LocalMechanism]:
    """Return the records and the mechanism that made them, both checked."""
    if isinstance(z, Release):
        if mechanism is not None and mechanism != z.mechanism:
            raise ValueError(f"the release was made by {z.mechanism!r}, but the mechanism given is {mechanism!r}.")
        z, mechanism = z.z, z.mechanism
    if isinstance(mechanism, Mechanism) and mechanism.is_global:
        raise ValueError(
            f"the baselines read one released value for each record; {type(mechanism).__name__} makes one release of "
            "all records. Use privmix.fit, or normalise the released counts."
        )
    if not isinstance(mechanism, LocalMechanism):
        raise TypeError(f"mechanism must be a mechanism such as mechanisms.Laplace(…); got {mechanism!r}.")
    return np.array(mechanism.check_release(z)), mechanism


def check_grid(grid: Any) -> np.ndarray:
    """Return the points of a grid as an array of finite floats."""
    try:
        points = np.atleast_1d(np.asarray(grid, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise TypeError(f"the grid must be numbers; got {grid!r}.") from error
    if points.ndim != 1 or points.size == 0 or not np.isfinite(points).all():
        raise ValueError(f"the grid must be a sequence of finite numbers; got an array of shape {points.shape}.")
    return points


def proper(values: Any, grid: Any) -> np.ndarray:
    """Return values on a grid made a density there: negative ones set to 0, then the integral to 1.

    Some estimators are negative in places, or have mass outside the bounds. The integral is taken by the trapezoid
    rule.

    Parameters
    ----------
    values
        What ``density(grid)`` returned.
    grid
        The points, in increasing order.
    """
    points, clipped = check_grid(grid), np.maximum(np.asarray(values, dtype=np.float64), 0.0)
    if clipped.shape != points.shape or len(points) < 2 or (np.diff(points) <= 0.0).any():
        raise ValueError(
            f"proper needs one value for each of at least two increasing points; got {clipped.shape} values for "
            f"{points.shape} points."
        )
    mass = float(np.trapezoid(clipped, points))
    if not mass > 0.0:
        raise ValueError("the values are nowhere positive on the grid, so they cannot be made a density.")
    return clipped / mass
