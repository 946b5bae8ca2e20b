"""Bugs in the treatment of one release of all records, and of the sampler on counts."""

from __future__ import annotations

from privmix.mechanisms import SmoothedHistogram, evidence
from privmix.samplers import Binned, Neal5, Slice
from privmix.samplers import slice as slice_file
from privmix.samplers.moves import bin_counts, bins, mixture_of_bins, sticks
from privmix.testing.mutants.base import Mutant, one
from privmix.testing.mutants.models import COUNTS, DRAWN


def count_bugs() -> list[Mutant]:
    """Return bugs of global mechanisms' samplers."""
    ratio = "share = count * whole / (self.records * (self.edges[j + 1] - self.edges[j]))"
    settle, exchange = evidence.global_settle, bin_counts.exchange_target
    return [
        one(
            "printed: smoothed histogram without the factor m",
            SmoothedHistogram.log_bin,
            ratio,
            "share = count / self.records",
            DRAWN,
            Neal5(),
        ),
        one(
            "statistic left as it was on accepting",
            settle,
            "replace(mechanism, seen, current[0], proposed[0])",
            "pass",
            COUNTS,
            Neal5(),
        ),
        one("release looked at once", settle, "return 0.0", "return value", DRAWN, Neal5(), sweeps=10),
        one(
            "bin drawn without the release",
            bins.draw_bin,
            "state.mass[h, j] + state.gain[j]",
            "state.mass[h, j]",
            COUNTS,
            Slice(records="exact"),
        ),
        one(
            "bin drawn with the record in its own way",
            bins.redraw_in_bins,
            "take_from_bin(parts, data, state, find_bin(parts.mechanism.edges, state.y[i]), -1.0)",
            "state.seen[find_bin(parts.mechanism.edges, state.y[i])] -= 1.0",
            COUNTS,
            Slice(records="exact"),
        ),
        one(
            "counts exchanged without the number of ways",
            exchange,
            " - math.lgamma(place + 1.0) - math.lgamma(other + 1.0)",
            "",
            COUNTS,
            Binned(),
        ),
        one(
            "counts exchanged without the release",
            exchange,
            "value = log_bin(parts.mechanism, data.z, j, place) + log_bin(parts.mechanism, data.z, k, other)",
            "value = 0.0",
            COUNTS,
            Binned(),
        ),
        one(
            "atoms moved without the prior",
            mixture_of_bins.move_parameter,
            "log_base(parts.kernel, theta, state.hyper) - before + jacobian",
            "jacobian",
            COUNTS,
            Binned(),
        ),
        one(
            "atoms moved without the Jacobian",
            mixture_of_bins.move_parameter,
            " - before + jacobian",
            " - before",
            COUNTS,
            Binned(),
        ),
        one(
            "sticks moved without the prior",
            mixture_of_bins.stick_target,
            "return prior + ",
            "return ",
            COUNTS,
            Binned(),
        ),
        one(
            "sticks swapped without the Jacobian",
            sticks.swap_sticks,
            "(log_ratio + log_rest - new_rest)",
            "log_ratio",
            COUNTS,
            Binned(),
        ),
        one(
            "the last cluster swapped with an empty stick",
            slice_file.keeps_last,
            "h + 2 < state.cursor[STICKS] or state.size[h] > 0",
            "True",
            COUNTS,
            Slice(),
        ),
        one(
            "counts handed out by weight alone",
            mixture_of_bins.draw_stick,
            "state.weight[h] * state.row[h, b]",
            "state.weight[h] * chance",
            COUNTS,
            Binned(),
        ),
        one(
            "later sticks counted twice",
            mixture_of_bins.fill_rests,
            "share * state.row[h, b] + left * state.rest[h, b]",
            "share * state.row[h, b] + state.rest[h, b]",
            COUNTS,
            Binned(),
        ),
    ]
