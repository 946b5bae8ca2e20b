"""Auto: a sampler that chooses another, by a rule on what is known of the pair and by a short pilot.

What to expect, measured on the paper's Section 4.1: under strong noise, label steps with g(z|θ), parameters that walk
on it, and one split or merge a sweep give four to twelve times the effective draws per second of the paper's better
sampler; under moderate noise its Neal 5, whose record-update is the cheapest, is as good, and under weak noise the
slice sampler with exact records. Where g is costly or unknown: Neal 5, or the slice sampler under weak noise.
Histograms, releases of few outputs, and 500 records or more that few bins can hold are fitted on counts; from 100,000
records on by trajectories, where the model allows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from privmix.mechanisms.cells import cell_hooks
from privmix.pairs.slots import walk_columns
from privmix.samplers import base
from privmix.samplers.binned import Binned
from privmix.samplers.binned.bins import find_bins
from privmix.samplers.binned.bits import tells_sets
from privmix.samplers.capabilities import check_served
from privmix.samplers.lifted import Lifted
from privmix.samplers.neal5 import Neal5
from privmix.samplers.neal8 import Neal8
from privmix.samplers.slice import Slice
from privmix.samplers.split_merge import SplitMerge

if TYPE_CHECKING:
    from privmix.model import PrivateMixture

# Noise beyond this many spreads of the data is strong: the release hardly tells one cluster from another.
STRONG_NOISE_IN_SPREADS = 1.0
# Noise below this share of the spread leaves the records nearly known.
WEAK_NOISE_IN_SPREADS = 0.2
# Releases that are not y plus noise: what tells a record this much more closely than its spread hardly ever accepts a
# proposal from the kernel. A square wave at ε = 10 is .0006; at ε = 5, where it is .05, proposals still do.
NARROW_RELEASE_IN_SPREADS = 0.02
# Records from which a release is rounded to bins, where that is possible and few bins do: at n = 1,000 counts gave 1.3
# to 6 times the effective draws of the best sampler over records, at n = 200 a third to nine tenths.
LEAST_RECORDS_FOR_BINS = 500
# Few bins, counted times the cost of their probability: so many, or one for so many records. More are allowed where
# records are many: with a square wave at ε = 1 and n = 10,000 R-hat was 2.5 over records and 1.05 on counts. Sets of
# cells are counted without their cost, which they share: with 2 of 18 cells on two grids, ε = 4, n = 10,000, R-hat was
# 2.2 and the L1 error .15 over records, 1.05 and .026 on counts.
FEW_BINS, RECORDS_FOR_A_BIN = 256, 8
# Cells of rows whose columns have few outputs: so many, or one for each record. With 8 × 8 cells, ε = 2 each and n =
# 4,000, the worst R-hat of the density after 1,500 sweeps was 1.8 over records and 1.05 on counts, in the same time.
FEW_CELLS_OF_ROWS = 1024
# Records from which it is rounded however many bins that takes: a sweep over records takes longer than one over bins,
# and what the rounding loses is far below the noise.
LEAST_RECORDS_FOR_MANY_BINS = 20_000
# Records from which counts hold the chains of Binned, whose steps shrink as 1/√n: see the table of docs/counts.md.
LEAST_RECORDS_FOR_TRAJECTORIES = 100_000
# Sweeps that trajectories need to learn along what to move, and bins beyond which their tables take too long. With
# 1,320 bins of a staircase's releases, n = 900,000, 2,000 sweeps took 57 CPU seconds a chain, at R-hat 1.01; those of
# Binned took 15, at 1.5.
LEAST_SWEEPS_TO_LEARN, MOST_BINS_FOR_TRAJECTORIES = 1000, 1400
# g(z|θ) that costs more than this many normal-Laplace evaluations is evaluated once a record at most.
LARGEST_COST_OF_G = 5.0
# The pilot of a candidate takes this share of the sweeps that were asked for, within limits: below the first it would
# tell nothing, beyond the second nothing more.
PILOT_SHARE, LEAST_PILOT_SWEEPS, MOST_PILOT_SWEEPS = 0.03, 150, 1500
# The rule's choice stands unless the other is this many times better: a short pilot sees no more.
LEAST_GAIN_TO_OVERRULE = 2.0
# Where the pilot follows the density: quantiles of the plausible records.
WATCHED_QUANTILES = (0.02, 0.2, 0.4, 0.6, 0.8, 0.98)


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

    learns_records: ClassVar[bool] = True
    takes_counts: ClassVar[bool] = True

    def choose(self, model: PrivateMixture, z: np.ndarray, sweeps: int, trial: base.Trial) -> tuple[base.Sampler, str]:
        """Return the rule's sampler, or the other where the pilot finds it clearly better; and why."""
        if model.mechanism.is_counted or model.mechanism.records_unknown:
            Binned().check(model)  # there is no other, so that its reason is the answer
        candidates = [c for c in self.candidates(model, z) if serves(c.sampler, model)] or [_for_any(model)]
        if trajectories_suit(candidates[0].sampler, model, z, sweeps):
            candidates = [Candidate(Lifted(), 1.0, f"{candidates[0].reason}, of so many that other steps are short")]
        first, short = candidates[0], min(int(PILOT_SHARE * sweeps), MOST_PILOT_SWEEPS)
        line = model.kernel.dimension == 1 and model.kernel.categories is None
        if not self.pilot or short < LEAST_PILOT_SWEEPS or len(candidates) == 1 or not line:
            return first.sampler, f"{first.sampler!r} by rule: {first.reason}"
        points = watched_points(model, z)
        rates = [pilot_rate(trial(tried.sampler, short, points), tried.cost) for tried in candidates]
        chosen = 1 if rates[1] > LEAST_GAIN_TO_OVERRULE * rates[0] else 0
        verdict = pilot_in_words(rates[chosen], rates[1 - chosen], candidates[1 - chosen].sampler, short)
        return candidates[chosen].sampler, f"{candidates[chosen].sampler!r}: {first.reason}; {verdict}"

    def candidates(self, model: PrivateMixture, z: np.ndarray) -> list[Candidate]:
        """Return the candidates, the one that the rule prefers first.

        Costs are those of a record-update in units of the pseudo-marginal Neal 5's, as measured on Section 4.1.
        """
        ratio = noise_ratio(model, z)
        words = "noise of unknown size" if ratio is None else f"noise {ratio:.2g} times the spread of the data"
        if model.mechanism.reveals:
            return _for_known_records(model)
        if model.mechanism.is_global:
            return _for_one_release(model)
        if model.mechanism.records_unknown:
            return [Candidate(Binned(), 1.0, f"{words}, and an unknown number of records withheld")]
        if model.kernel.dimension > 1:
            return _for_rows(model, len(z))
        adds = model.mechanism.noise_spread() is not None
        narrow = ratio is not None and ratio < (WEAK_NOISE_IN_SPREADS if adds else NARROW_RELEASE_IN_SPREADS)
        if tells_sets(model) and counts_suit(model, len(z)):
            return [Candidate(Binned(), 1.0, f"{len(z)} rows of bits, as counts of cells that are drawn along")]
        if counts_suit(model, len(z), known=narrow and not adds):
            return [Candidate(Binned(), 1.0, f"{words}, {len(z)} records, kept as counts of bins")]
        neal5, sliced = Candidate(Neal5(), 1.0, words), Candidate(Slice(), 2.0, words)
        if model.convolution is None or model.convolution.cost > LARGEST_COST_OF_G:
            return [sliced, neal5] if ratio is not None and ratio < WEAK_NOISE_IN_SPREADS else [neal5, sliced]
        if narrow:
            # Against records that move by proposals: 1.2 times the effective draws at n = 200, .8 to 2 at n = 1000.
            return [Candidate(Slice(records="exact"), 2.0, words)]
        if not model.kernel.has("log_base"):
            return [neal5, sliced]
        splitting = Candidate(SplitMerge(Neal5(exact=True)), 5.0, words)
        return [neal5, splitting] if ratio is not None and ratio < STRONG_NOISE_IN_SPREADS else [splitting, neal5]


def pilot_in_words(chosen: float, left_out: float, other: base.Sampler, sweeps: int) -> str:
    """Return what a pilot said of the sampler that was chosen, by the rates of both and the other."""
    if chosen >= left_out:
        gain = chosen / max(left_out, 1e-300)
        return f"a pilot of {sweeps} sweeps gave it {gain:.2g} times the effective draws of {other!r} at the same cost"
    return (
        f"the usual choice there, kept because a pilot of {sweeps} sweeps, which is rough, gave {other!r} no more than "
        f"{LEAST_GAIN_TO_OVERRULE:g} times its effective draws at the same cost ({left_out / max(chosen, 1e-300):.2g})"
    )


def counts_suit(model: PrivateMixture, n: int, *, known: bool = False) -> bool:
    """Return whether counts of bins are likely to give more effective draws than records, `known` or not."""
    known_base = model.kernel.has("log_base")  # one column of categories has few clusters to tell apart
    if model.convolution is None or not known_base or not binned_serves(model):
        return False
    if tells_sets(model):
        # After 800 sweeps R-hat of the density was 1.00 to 1.01 where it was 1.1 to 1.5 over records, with 15 to 40
        # times the effective draws for four times the seconds: n = 60 to 3,000, ε = 1 to 4, 8 to 16 bits.
        return True
    outputs, cost = model.mechanism.outputs is not None, model.convolution.cost
    if n < LEAST_RECORDS_FOR_BINS and not outputs:
        return False
    if n >= LEAST_RECORDS_FOR_MANY_BINS:
        return cost <= LARGEST_COST_OF_G or model.convolution.cdf is None
    few, bins = max(FEW_BINS, n / RECORDS_FOR_A_BIN), find_bins(model, None).size
    if outputs:
        # After 2,200 sweeps R-hat of the density was 1.00 to 1.08 on counts, 1.03 to 1.66 over records: 25 to 400 of
        # them, randomized response and sets of cells, ε = 1 to 4. Sets come all at once, for the price of the cells.
        return not known and bins * (1.0 if model.convolution.masses is not None else cost) <= few
    if model.convolution.masses is not None and cell_hooks(model.mechanism):
        # All bins at once, where records hold clusters in place: with a square wave at n = 1,000 R-hat after 1,200
        # sweeps was 1.07 to 1.11 on counts, 1.15 to 1.9 over records; with a staircase at n = 2,200, 1.03 and 1.24.
        return not known and bins <= max(FEW_BINS, n)
    return cost <= LARGEST_COST_OF_G and not known and cost * bins <= few


def trajectories_suit(chosen: base.Sampler, model: PrivateMixture, z: np.ndarray, sweeps: int) -> bool:
    """Return whether a sampler that would keep counts should move along what they leave free."""
    if chosen != Binned() or sweeps < LEAST_SWEEPS_TO_LEARN or not serves(Lifted(), model):
        return False
    many = model.mechanism.count_records(z) >= LEAST_RECORDS_FOR_TRAJECTORIES
    return many and find_bins(model, None).size <= MOST_BINS_FOR_TRAJECTORIES


def binned_serves(model: PrivateMixture) -> bool:
    """Return whether counts of bins can stand for the release."""
    return serves(Binned(), model)


def serves(sampler: base.Sampler, model: PrivateMixture) -> bool:
    """Return whether a sampler takes a model."""
    try:
        check_served(sampler, model)
    except ValueError:
        return False
    return True


def _for_any(model: PrivateMixture) -> Candidate:
    """Return a sampler on partitions, where the prior leaves no other."""
    exact = model.mechanism.reveals or (model.convolution is not None and not model.mechanism.is_global)
    return Candidate(Neal5(exact=exact, update="impute"), 1.0, "a prior whose sticks lie far out")


def _for_one_release(model: PrivateMixture) -> list[Candidate]:
    words = "one release of all records"
    if model.mechanism.is_counted:
        return [Candidate(Binned(), 1.0, "a table of counts")]
    if binned_serves(model):
        return [Candidate(Binned(), 1.0, f"{words}, a {'table of cells' if model.mechanism.names else 'histogram'}")]
    if model.has_masses:
        return [Candidate(Slice(records="exact"), 1.0, f"{words}, a histogram")]
    return [Candidate(Slice(), 1.0, words), Candidate(Neal5(), 1.0, words)]


def _for_rows(model: PrivateMixture, n: int) -> list[Candidate]:
    """Return a sampler of records of several columns: a proposal for all of them at once is rarely accepted.

    With 500 records of three columns, integrated out and with split and merge moves, the density had 10 to 30 times the
    effective draws for a second of CPU of one that proposes records or draws them. Drawn records hold the parameters of
    a column in place where its noise is strong: there a walk by column had 5 to 20 times the effective draws again.
    """
    words = "records of several columns"
    if model.pair.augmentation is not None:
        return [Candidate(Slice(records="augmented"), 2.0, f"{words}, {model.pair.augmentation.name}")]
    if model.convolution is None:
        return [Candidate(Slice(), 2.0, words)]
    if n >= LEAST_RECORDS_FOR_BINS and binned_serves(model):
        cells = find_bins(model, None).size
        if cells <= max(FEW_CELLS_OF_ROWS, n):
            return [Candidate(Binned(), 1.0, f"{n} {words}, kept as counts of {cells} cells")]
    exact = Neal5(exact=True, update="walk" if walk_columns in model.convolution.extra else "impute")
    return [Candidate(SplitMerge(exact), 5.0, f"{words}, whose closed forms multiply")]


def _for_known_records(model: PrivateMixture) -> list[Candidate]:
    words = "the records are known"
    sliced = Candidate(Slice(), 1.5, words)
    if model.convolution is None:
        return [sliced]
    if model.kernel.dimension > 1:
        # One fresh atom for each record, where Neal 5 proposes one in a sweep or two, of which hardly any fits: with
        # five columns and two clusters a chain that started in one cluster never left it (R-hat 1.8).
        return [Candidate(Neal8(auxiliaries=1, update="impute"), 5.0, words)]
    return [Candidate(Neal5(exact=True, update="impute"), 1.5, words), sliced]


def noise_ratio(model: PrivateMixture, z: np.ndarray) -> float | None:
    """Return how closely a record is known over the standard deviation of the data, or None where that is not known.

    Where z is y plus noise, the spread of y follows from that of z by subtracting the noise's variance; else it is that
    of plausible records. It is taken to be at least a tenth of the bounds' width, or of the spread of z, so that pure
    noise counts as strong.
    """
    noise = model.mechanism.resolution()
    if noise is None or z.ndim != 1:
        return None
    bounds = model.mechanism.bounds
    width = bounds[1] - bounds[0] if bounds is not None else 4.0 * float(np.std(model.mechanism.fill_withheld(z)))
    if model.mechanism.noise_spread() is None:
        spread = float(np.std(model.mechanism.initial(z)))
    else:
        spread = float(np.sqrt(max(np.var(model.mechanism.fill_withheld(z)) - noise**2, 0.0)))
    return noise / max(spread, 0.1 * width, 1e-300)


def watched_points(model: PrivateMixture, z: np.ndarray) -> np.ndarray:
    """Return the points inside the kernel's support at which the pilot follows the density."""
    points = np.unique(np.quantile(model.mechanism.initial(z), WATCHED_QUANTILES))
    lower, upper = model.kernel.support
    return np.ascontiguousarray(points[(points > lower) & (points < upper)])


def pilot_rate(values: np.ndarray, cost: float) -> float:
    """Return the least effective sample size over the points of a trial, for a unit of nominal cost."""
    return min(effective_size(values[:, j]) for j in range(values.shape[1])) / cost


def effective_size(values: np.ndarray, batches: int = 10) -> float:
    """Return the effective sample size of a short chain by batch means."""
    length = len(values) // batches
    means = values[: batches * length].reshape(batches, length).mean(axis=1)
    spread = np.var(values)
    return float(len(values) * spread / max(length * np.var(means, ddof=1), 1e-300)) if spread > 0.0 else 0.0
