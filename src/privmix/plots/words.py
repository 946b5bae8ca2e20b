"""Guarantees and releases in the words of a title."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privmix.privacy import ZCDP, ApproxDP, Guarantee, PureDP

if TYPE_CHECKING:
    from privmix.posterior import Posterior


def describe_guarantee(guarantee: Guarantee | None) -> str:
    """Return a guarantee in a few words and symbols."""
    if isinstance(guarantee, PureDP):
        return f"ε-differential privacy, ε = {guarantee.epsilon:.6g}"
    if isinstance(guarantee, ApproxDP):
        return f"(ε, δ)-differential privacy, ε = {guarantee.epsilon:.6g}, δ = {guarantee.delta:.3g}"
    if isinstance(guarantee, ZCDP):
        return f"ρ-zero-concentrated differential privacy, ρ = {guarantee.rho:.6g}"
    return "no privacy guarantee" if guarantee is None else repr(guarantee)


def describe_release(posterior: Posterior) -> str:
    """Return how many records were fitted and how they were released."""
    mechanism = posterior.model.mechanism
    records = mechanism.count_records(np.asarray(posterior.datatree["observed_data"]["z"]))
    return f"{records:,} records through {type(mechanism).__name__}: {describe_guarantee(mechanism.guarantee)}"
