"""Bugs in the treatment of one release of all records, and of the sampler on counts."""

from __future__ import annotations

from collections.abc import Callable

from mutants.models import (
    COUNTS,
    DRAWN,
    PROCESSED,
    SEVERAL,
    SEVERAL_UNCOUNTED,
    UNCOUNTED,
    UNSEEN,
    UNSEEN_ABOVE,
    UNSEEN_ON_LATTICE,
    one,
)
from privmix.mechanisms import ProcessedCounts, SmoothedHistogram, discrete_noise
from privmix.mechanisms import tables as table_file
from privmix.mechanisms.global_mechanism import global_settle
from privmix.samplers import Binned, Neal5, Sampler, Slice
from privmix.samplers import slice as slice_file
from privmix.samplers.binned import chances, counts, mixture, tables, unknown, withheld
from privmix.samplers.moves import records_in_bins, sticks
from privmix.testing import Mutant


def count_bugs() -> list[Mutant]:
    """Return bugs of global mechanisms' samplers."""
    published = processed_bugs() + unknown_bugs() + table_bugs()
    return published + release_bugs() + bin_bugs() + exchange_bugs() + mixture_bugs() + swap_bugs() + split_bugs()


def release_bugs() -> list[Mutant]:
    """Return bugs in how records moved one by one see the release."""
    ratio = "share = count * whole / (self.records * (self.edges[j + 1] - self.edges[j]))"
    unscaled = "share = count / self.records"
    replace = "replace(mechanism, seen, current[0], proposed[0])"
    return [
        one(
            "printed: smoothed histogram without the factor m",
            SmoothedHistogram.log_bin,
            ratio,
            unscaled,
            DRAWN,
            Neal5(),
        ),
        one("statistic left as it was on accepting", global_settle, replace, "pass", COUNTS, Neal5()),
        one("release looked at once", global_settle, "return 0.0", "return value", DRAWN, Neal5(), sweeps=10),
    ]


def processed_bugs() -> list[Mutant]:
    """Return bugs in what stands behind a count that was clamped or withheld."""
    law, within = ProcessedCounts.log_bin, discrete_noise.log_discrete_laplace_between
    mass = "return log_noise_between(self.squared, self.discrete, low, high, scale, log_norm)"
    density = "return log_noise(self.squared, max(low, min(high, 0.0)), scale, log_norm)"
    high, further = "z[j, 1] - count", "z[j, 1] + (z[j, 1] > z[j, 0]) - count"
    return [
        one("mass at the clamp forgotten", law, mass, density, PROCESSED, Binned(), sweeps=10),
        one("limit of what is withheld off by one", law, high, further, PROCESSED, Binned()),
        one("less for less or equal in a discrete mass", within, "(last + 1.0)", "last", PROCESSED, Binned()),
    ]


def unknown_bugs() -> list[Mutant]:
    """Return bugs in the learning of the number of records."""
    target = unknown.count_target
    law, rate = " + math.lgamma(others + place + shape)", " - math.log1p(rate)"
    edits = (
        ("number of records without its prior", target, law, ""),
        ("number of records without the rate of its prior", target, rate, ""),
        ("a count redrawn without the release", target, "log_of_one(parts, data, state, j, place) - ", "-"),
    )
    return [one(*edit, UNCOUNTED, Binned()) for edit in edits] + withheld_bugs()


def withheld_bugs() -> list[Mutant]:
    """Return bugs in the number of records that were withheld without a trace."""
    redraw, drawn = withheld.redraw_withheld, "state.counts[unseen] = poisson(rng, min(mean, LARGEST_MEAN))"
    edits = (
        ("one record too many withheld", redraw, drawn, drawn + " + 1.0"),
        ("number withheld without its prior", redraw, "published + shape", "published + 1.0"),
        ("number withheld without the rate of its prior", redraw, "(seen + rate)", "seen"),
        ("a published bin taken for the withheld one", redraw, "len(state.counts) - 1", "len(state.counts) - 2"),
    )
    models = (UNSEEN, UNSEEN, UNSEEN, UNSEEN_ABOVE)
    cells = one(
        "every cell of a lattice as likely as any other",
        chances.row_of_cells,
        "mass * state.share[j, b]",
        "state.share[j, b] / len(state.share)",
        UNSEEN_ON_LATTICE,
        Binned(bins=8),
    )
    return [one(*edit, model, Binned(bins=8)) for edit, model in zip(edits, models, strict=True)] + [cells]


def table_bugs() -> list[Mutant]:
    """Return bugs in how counts of common bins meet several tables."""
    sums = "state.sums[parts.mechanism.cover[j, t]] += count - state.counts[j]"
    every = "for t in range(mechanism.cover.shape[1]):"
    kept = "_ = 0.0"
    return [
        one("coarse sum not updated", tables.set_in_tables, sums, kept, SEVERAL, Binned()),
        one("coarse sum not updated, unknown", tables.set_in_tables, sums, kept, SEVERAL_UNCOUNTED, Binned()),
        one(
            "only the first table looked at", table_file.ratio_of_tables, every, "for t in range(1):", SEVERAL, Neal5()
        ),
    ]


def bin_bugs() -> list[Mutant]:
    """Return bugs in the redrawing of records bin by bin."""
    exact = Slice(records="exact")
    weight = "state.mass[h, j] + state.gain[j]"
    taken = "take_from_bin(parts, data, state, bin_at(parts.mechanism, state.y[i]), -1.0)"
    stale = "state.seen[bin_at(parts.mechanism, state.y[i])] -= 1.0"
    return [
        _on_counts("bin drawn without the release", records_in_bins.draw_bin, weight, "state.mass[h, j]", exact),
        _on_counts("bin drawn with the record in its own way", records_in_bins.redraw_in_bins, taken, stale, exact),
    ]


def exchange_bugs() -> list[Mutant]:
    """Return bugs in the exchange of records between two bins."""
    target = counts.exchange_target
    ways = " - math.lgamma(place + 1.0) - math.lgamma(other + 1.0)"
    seen = "value = log_of_two(parts, data, state, j, k, place, other)"
    return [
        _on_counts("counts exchanged without the number of ways", target, ways, ""),
        _on_counts("counts exchanged without the release", target, seen, "value = 0.0"),
    ]


def mixture_bugs() -> list[Mutant]:
    """Return bugs in the slice steps on atoms and sticks given the counts."""
    move, target = mixture.move_parameter, mixture.stick_target
    change = "log_moved(parts.kernel, theta, state.hyper) - before + jacobian"
    return [
        _on_counts("atoms moved without the prior", move, change, "jacobian"),
        _on_counts("atoms moved without the Jacobian", move, " - before + jacobian", " - before"),
        _on_counts("sticks moved without the prior", target, "return prior + ", "return "),
        _on_counts(
            "width of a slice that depends on where the stick is",
            mixture.width_of_counts,
            "stick = min(max(pull / known, error), 1.0 - error)",
            "return WIDEST_SLICE * (1.0 - state.weight[h] / left) ** 2 + 1e-9",
        ),
    ]


def swap_bugs() -> list[Mutant]:
    """Return bugs in the exchange of neighbouring sticks."""
    swap, may_swap = sticks.swap_sticks, slice_file.keeps_last
    last = "h + 2 < state.cursor[STICKS] or state.size[h] > 0"
    return [
        _on_counts("sticks swapped without the Jacobian", swap, "log_ratio + log_rest - new_rest", "log_ratio"),
        _on_counts("the last cluster swapped with an empty stick", may_swap, last, "True", Slice()),
    ]


def split_bugs() -> list[Mutant]:
    """Return bugs in how the count of a bin is split between the sticks."""
    draw, fill = mixture.draw_stick, mixture.fill_rests
    share, weight = "state.weight[h] * state.row[h, b]", "state.weight[h] * chance"
    rest = "share * state.row[h, b] + left * state.rest[h, b]"
    whole = "share * state.row[h, b] + state.rest[h, b]"
    return [
        _on_counts("counts handed out by weight alone", draw, share, weight),
        _on_counts("later sticks counted twice", fill, rest, whole),
    ]


def _on_counts(name: str, function: Callable, old: str, new: str, sampler: Sampler | None = None) -> Mutant:
    """Return a mutant on a noisy histogram, by default of the sampler on counts."""
    return one(name, function, old, new, COUNTS, sampler or Binned())
