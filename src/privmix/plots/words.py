"""Guarantees and releases in the words of a title."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from privmix.posterior import Posterior
    from privmix.privacy import Guarantee


def describe_guarantee(guarantee: Guarantee | None) -> str:
    """Return a guarantee in a few words and symbols."""
    return "no privacy guarantee" if guarantee is None else guarantee.in_words


def describe_release(posterior: Posterior) -> str:
    """Return how many records were fitted and how they were released."""
    mechanism = posterior.model.mechanism
    records = mechanism.count_records(np.asarray(posterior.datatree["observed_data"]["z"]))
    return f"{records:,} records through {type(mechanism).__name__}: {describe_guarantee(mechanism.guarantee)}"
