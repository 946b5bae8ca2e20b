"""The release and its guarantee in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from privmix.mechanisms import (
    Gaussian,
    HaarWavelet,
    Identity,
    Laplace,
    Mechanism,
    NoisyHistogram,
    RandomizedResponse,
    SmoothedHistogram,
    SquareWave,
)
from privmix.privacy import ZCDP, ApproxDP, Guarantee, PureDP

if TYPE_CHECKING:
    from privmix.posterior import Posterior

# A guess that may be right more often than this is hardly hindered: ε above 4.6.
WEAK = 0.99

KINDS: dict[type, str] = {
    Laplace: "each record was published with Laplace noise added to it",
    Gaussian: "each record was published with Gaussian noise added to it",
    HaarWavelet: "of each record noisy wavelet coefficients were published",
    RandomizedResponse: "of each record one cell of its range was published: the true one, or by chance another",
    SquareWave: "of each record a number was published that is likely close to it, and may be anywhere",
    NoisyHistogram: "a trusted holder published the number of records in each bin, with noise added to each count",
    SmoothedHistogram: "a trusted holder published synthetic values drawn from a smoothed histogram of all records",
    Identity: "the records were published as they are",
}


def describe_kind(mechanism: Mechanism) -> str:
    """Return what was done to the records, as the second half of a sentence."""
    known = [words for kind, words in KINDS.items() if isinstance(mechanism, kind)]
    whose = "one release of all records was" if mechanism.is_global else "each record was"
    return known[0] if known else f"{whose} made by the mechanism {type(mechanism).__name__}"


def describe_promise(posterior: Posterior) -> str:
    """Return what the guarantee means for one person, in two sentences."""
    mechanism = posterior.model.mechanism
    surest = guess_bound(mechanism.guarantee)
    if surest is None:
        return "No guarantee is known for this release: it may give any record away."
    bounds = "" if mechanism.bounds is None else " between {:g} and {:g}".format(*mechanism.bounds)
    known = "all other records" if mechanism.is_global else "everything else"
    weak = " That is a weak promise for the value itself." if surest > WEAK else ""
    return (
        f"Suppose that somebody knows {known}, and that a person's value is one of two{bounds}, both equally likely. "
        f"Guessing which of the two it is, they are right with probability 50% without the release; with it, with "
        f"probability at most {percent_above(surest)}.{weak}"
    )


def guess_bound(guarantee: Guarantee | None) -> float | None:
    """Return the greatest probability of guessing right between two equally likely values, or None if unbounded.

    With errors a and b of a test, (ε, δ) means a + e^ε b ≥ 1 − δ and e^ε a + b ≥ 1 − δ; their sum bounds a + b, so the
    chance of being right is at most (e^ε + δ)/(1 + e^ε). Under ρ-zCDP the divergence of the two releases is at most ρ,
    and Pinsker's and Bretagnolle and Huber's inequalities bound their total variation T; the chance is (1 + T)/2.
    """
    if isinstance(guarantee, PureDP):
        return 1.0 / (1.0 + math.exp(-guarantee.epsilon))
    if isinstance(guarantee, ApproxDP):
        return 1.0 - (1.0 - guarantee.delta) / (1.0 + math.exp(min(guarantee.epsilon, 700.0)))
    if isinstance(guarantee, ZCDP):
        variation = min(math.sqrt(0.5 * guarantee.rho), math.sqrt(-math.expm1(-guarantee.rho)))
        return 0.5 * (1.0 + min(1.0, variation))
    return None


def percent_above(share: float) -> str:
    """Return a share as a percentage, rounded up: it is a bound."""
    digits = 2 if share < 0.999 else 4
    shown = math.ceil(10 ** (digits + 2) * share - 1e-9) / 10**digits
    return "100%, or next to it" if shown >= 100.0 else f"{shown:.6g}%"


def why_no_clusters(posterior: Posterior) -> str | None:
    """Return why a fit has no clusters of records to show, or None where it has."""
    mechanism = posterior.model.mechanism
    if mechanism.is_global:
        return (
            f"{type(mechanism).__name__} publishes a summary of all records at once. It says nothing on any single "
            "record, so which records belong together cannot be known, and no clusters are shown."
        )
    if "allocation" not in posterior.datatree["posterior"].data_vars:
        return (
            "The clusters of the records were not kept in this fit, to save memory. Fit again with allocations=True to "
            "see them."
        )
    return None
