"""The model that an estimator's parameters ask for."""

from __future__ import annotations

from typing import Any

import numpy as np

from privmix.kernels import HierarchicalNormal
from privmix.mechanisms import Identity, Mechanism, OnLattice
from privmix.model import PrivateMixture, default_model, default_prior
from privmix.parts.checks import check_positive_number


def mechanism_of(estimator: Any) -> Mechanism:
    """Return the mechanism, no noise where none is given."""
    mechanism = Identity() if estimator.mechanism is None else estimator.mechanism
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"mechanism must be a mechanism such as mechanisms.Laplace(…), or None; got {mechanism!r}.")
    if mechanism.names or mechanism.categories is not None:
        raise ValueError(
            f"the estimator takes records of one number, and {type(mechanism).__name__} has columns or categories by "
            "name. Use privmix.fit(frame, mechanism)."
        )
    return mechanism


def build_model(estimator: Any, z: np.ndarray) -> PrivateMixture:
    """Return the model: that of `privmix.fit` unless a kernel is given or the data are unperturbed and unbounded."""
    mechanism = mechanism_of(estimator)
    if estimator.resolution is not None:
        mechanism = OnLattice.around(mechanism, check_positive_number("resolution", estimator.resolution))
    if estimator.kernel is not None:
        told = {} if estimator.prior is None else {"prior": estimator.prior}
        return PrivateMixture(mechanism, estimator.kernel, **told)
    prior = default_prior() if estimator.prior is None else estimator.prior
    if mechanism.bounds is None and mechanism.reveals:
        # Data say where they are, not where they end: nothing is truncated at the least and the largest of them.
        return PrivateMixture(mechanism, HierarchicalNormal(range_of(z)), prior)
    return default_model(mechanism, prior)


def range_of(z: np.ndarray) -> tuple[float, float]:
    """Return the range of unperturbed data; an interval around it where all are equal."""
    lower, upper = float(z.min()), float(z.max())
    if lower < upper:
        return lower, upper
    half = 0.5 * max(1.0, abs(lower))
    return lower - half, upper + half
