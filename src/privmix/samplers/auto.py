"""Auto: a sampler that chooses another, by what is known of the pair and by a short pilot.

What to expect, measured on the paper's Section 4.1: under strong noise, label steps with g(z|θ), parameters that walk
on it, and one split or merge a sweep give four to twelve times the effective draws per second of the paper's better
sampler; under weak noise, exact records and the kernel's own update do best; where g is costly or unknown, the paper's
Neal 5, and its slice sampler under weak noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from privmix.samplers import base
from privmix.samplers.neal5 import Neal5
from privmix.samplers.slice import Slice
from privmix.samplers.split_merge import SplitMerge

if TYPE_CHECKING:
    from privmix.model import PrivateMixture

# Noise below this share of the spread of the data leaves the records nearly known.
WEAK = 0.2
# g(z|θ) that costs more than this many normal-Laplace evaluations is evaluated once a record at most.
COSTLY = 5.0


class Candidate(NamedTuple):
    """A sampler worth trying, with the nominal cost of one of its record-updates and the reason for it."""

    sampler: base.Sampler
    cost: float
    reason: str


@dataclass(frozen=True)
class Auto(base.Sampler):
    """Choose the sampler from the pair, the ratio of noise to scale and a short pilot; then use it unchanged.

    The pilot runs the two candidates for a few hundred sweeps on the data and compares the effective sample size of
    the density at its worst point, for the same nominal cost. Costs are nominal, not timed, so that a seed gives the
    same choice on any machine. The choice stands in ``posterior.sampler`` and, in words, in
    ``posterior.datatree.attrs["auto"]``.

    Parameters
    ----------
    pilot
        Whether to run the pilot; without it the rule alone decides.
    """

    pilot: bool = True

    functions: ClassVar[dict[Callable, Callable]] = {}

    def candidates(self, model: PrivateMixture, z: np.ndarray) -> list[Candidate]:
        """Return two candidates, the one that the rule prefers first."""
        ratio = noise_ratio(model, z)
        strong = ratio is None or ratio > WEAK
        words = "noise of unknown size" if ratio is None else f"noise {ratio:.2g} times the spread of the data"
        if model.mechanism.reveals:
            return _known(model, "the records are known")
        if model.convolution is None:
            return _ordered(strong, Candidate(Neal5(), 1.0, words), Candidate(Slice(), 2.0, words))
        if model.convolution.cost > COSTLY:
            words += ", and g(z|θ) is costly"
            return _ordered(strong, Candidate(Neal5(), 1.0, words), Candidate(Slice(), 2.0, words))
        imputing = Neal5(exact=True, update="impute")
        walk = SplitMerge(Neal5(exact=True)) if hasattr(type(model.kernel), "log_base") else imputing
        return _ordered(strong, Candidate(walk, 4.5, words), Candidate(imputing, 3.0, words))


def _ordered(strong: bool, for_strong: Candidate, for_weak: Candidate) -> list[Candidate]:
    if for_strong.sampler == for_weak.sampler:
        return [for_strong]
    return [for_strong, for_weak] if strong else [for_weak, for_strong]


def _known(model: PrivateMixture, words: str) -> list[Candidate]:
    sliced = Candidate(Slice(), 1.5, words)
    if model.convolution is None:
        return [sliced]
    return [Candidate(Neal5(exact=True, update="impute"), 1.5, words), sliced]


def noise_ratio(model: PrivateMixture, z: np.ndarray) -> float | None:
    """Return the standard deviation of the noise over that of the data, or None where z is not y plus noise.

    The spread of y follows from that of z by subtracting the noise's variance; it is taken to be at least a tenth of
    the bounds' width, or of the spread of z, so that pure noise counts as strong.
    """
    noise = model.mechanism.noise_spread()
    if noise is None or z.ndim != 1:
        return None
    bounds = model.mechanism.bounds
    width = bounds[1] - bounds[0] if bounds is not None else 4.0 * float(np.std(z))
    spread = float(np.sqrt(max(np.var(z) - noise**2, 0.0)))
    return noise / max(spread, 0.1 * width, 1e-300)
