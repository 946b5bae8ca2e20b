"""Moments of each draw: exact where the kernel states those of its components, else by adaptive quadrature.

A component may be a billion times narrower than the interval, so that no fixed panels find it. Where it lies is asked
of the component itself: the first panels are cut at some records drawn from it, and beyond them grow geometrically. A
panel is halved until the halves say what the whole said.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from privmix.curves.mixture import count_of, load_atom, run_over
from privmix.jit import slot
from privmix.kernels import Kernel
from privmix.kernels.slots import central_moments, draw_y, log_f
from privmix.samplers.base import Draws

# Records that show where a component lies, and how much wider each panel beyond them is than the one before.
SCOUTS, GROWTH = 16, 3.0
# A panel is halved while that changes a moment, in units of the middle half of the records, by more than this.
TOLERANCE = 1e-10
# Halvings of one panel: beyond, neighbouring floats are reached.
MOST_HALVINGS = 50
# Panels beyond the records on one side: 3^60 is as far as floats reach from any width that counts.
MOST_OUTWARD = 60
NODES, WEIGHTS = (tuple(values.tolist()) for values in np.polynomial.legendre.leggauss(8))
# Columns of the table of a draw's components: weight, mean, variance, third and fourth central moment.
WEIGHT, MEAN, SECOND, THIRD, FOURTH = range(5)


@slot
def fill_moments(kernel, rng, theta, ends, work, out):
    """Write mass inside the ends and mean, variance, third and fourth central moment there of one component."""


def raw_moments(kernel: Kernel, draws: Draws, ends: tuple[float, float], exact: bool) -> np.ndarray:
    """Return mean, variance, third and fourth central moment for each draw: of the whole line, or inside the ends."""
    out = np.zeros((count_of(draws), 4))
    table = np.zeros((draws.weight.shape[-1], 5))
    work = np.zeros((3 + MOST_HALVINGS, max(SCOUTS, 5)))
    # Where a component lies is no matter of chance: the same records for the same draws.
    rng = np.random.default_rng(0)
    run_over(kernel, mixture_moments, draws, rng, np.array(ends), table, work, out, hooks=_HOW[exact])
    return out


def component_moments(kernel: Kernel, draws: Draws, ends: tuple[float, float], exact: bool) -> np.ndarray:
    """Return mean and variance of each component, (draw, component, 2); 0 where a draw has fewer."""
    out = np.zeros((count_of(draws), draws.weight.shape[-1], 2))
    work = np.zeros((3 + MOST_HALVINGS, max(SCOUTS, 5)))
    rng = np.random.default_rng(0)
    run_over(kernel, fill_components, draws, rng, np.array(ends), np.zeros(5), work, out, hooks=_HOW[exact])
    return out


def fill_components(kernel, weight, atom, components, row, rng, ends, found, work, out):
    """Fill out[d, h] with mean and variance of component h of draw d (compiled)."""
    for d in range(len(weight)):
        for h in range(components[d]):
            load_atom(kernel, atom, d, h, row[0])
            fill_moments(kernel, rng, row[0], ends, work, found)
            out[d, h, 0], out[d, h, 1] = found[MEAN], found[SECOND]


def mixture_moments(kernel, weight, atom, components, row, rng, ends, table, work, out):
    """Fill out[d] with mean, variance, third and fourth central moment of draw d (compiled)."""
    for d in range(len(weight)):
        for h in range(components[d]):
            load_atom(kernel, atom, d, h, row[0])
            fill_moments(kernel, rng, row[0], ends, work, table[h])
            table[h, WEIGHT] *= weight[d, h]
        pool_moments(table, components[d], out[d])


def pool_moments(table, components, out):
    """Write the moments of a mixture, from those of its components about their own means.

    Moved to the mixture's mean, they keep digits for data far from 0.
    """
    total, average = 0.0, 0.0
    for h in range(components):
        total += table[h, WEIGHT]
        average += table[h, WEIGHT] * table[h, MEAN]
    average /= max(total, 1e-300)
    out[0], out[1], out[2], out[3] = average, 0.0, 0.0, 0.0
    for h in range(components):
        share, second, gap = table[h, WEIGHT] / max(total, 1e-300), table[h, SECOND], table[h, MEAN] - average
        square = gap * gap
        out[1] += share * (second + square)
        out[2] += share * (table[h, THIRD] + 3.0 * second * gap + square * gap)
        out[3] += share * (table[h, FOURTH] + 4.0 * table[h, THIRD] * gap + 6.0 * second * square + square * square)


def stated_moments(kernel, rng, theta, ends, work, out):
    """Write what the kernel states, of the whole line."""
    central_moments(kernel, theta, out[1:])
    out[WEIGHT] = 1.0


def integrated_moments(kernel, rng, theta, ends, work, out):
    """Integrate the density between the ends, in panels cut where records of the component lie."""
    scouts, sums = work[0], work[1]
    centre, unit = send_scouts(kernel, rng, theta, ends, scouts)
    for k in range(5):
        sums[k] = 0.0
    if unit == 0.0:  # narrower than floats can tell
        sums[0] = 1.0
    else:
        about = (centre, unit)
        for j in range(SCOUTS - 1):
            add_panel(kernel, theta, scouts[j], scouts[j + 1], about, work)
        add_outwards(kernel, theta, scouts[0], ends[0], about, work)
        add_outwards(kernel, theta, scouts[SCOUTS - 1], ends[1], about, work)
    mass = max(sums[0], 1e-300)
    first, second, third, fourth = sums[1] / mass, sums[2] / mass, sums[3] / mass, sums[4] / mass
    square = first * first
    out[WEIGHT], out[MEAN] = sums[0], centre + unit * first
    out[SECOND] = unit**2 * max(second - square, 0.0)
    out[THIRD] = unit**3 * (third - 3.0 * first * second + 2.0 * square * first)
    out[FOURTH] = unit**4 * (fourth - 4.0 * first * third + 6.0 * square * second - 3.0 * square * square)


def send_scouts(kernel, rng, theta, ends, scouts):
    """Write sorted records of a component, moved inside the ends; return the middle and the range of the inner half.

    Where all are beyond an end, a share of the interval stands for the range.
    """
    for j in range(SCOUTS):
        draw_y(kernel, rng, theta, scouts, j)
        value, k = min(max(scouts[j], ends[0]), ends[1]), j
        while k > 0 and scouts[k - 1] > value:
            scouts[k] = scouts[k - 1]
            k -= 1
        scouts[k] = value
    centre, unit = scouts[SCOUTS // 2], scouts[3 * SCOUTS // 4] - scouts[SCOUTS // 4]
    if unit == 0.0:
        unit = scouts[SCOUTS - 1] - scouts[0]
    if unit == 0.0 and not ends[0] < centre < ends[1]:
        unit = (ends[1] - ends[0]) / SCOUTS
    return centre, unit


def add_outwards(kernel, theta, start, end, about, work):
    """Add the panels from the outermost record to an end, each wider than the one before."""
    width = 0.25 * about[1]
    for _ in range(MOST_OUTWARD):
        if start == end:
            break
        stop = max(start - width, end) if end < start else min(start + width, end)
        add_panel(kernel, theta, min(start, stop), max(start, stop), about, work)
        start = stop
        width *= GROWTH


def add_panel(kernel, theta, lower, upper, about, work):
    """Add a panel to the sums: its leftmost part that is not yet settled is halved until its halves agree with it.

    Parts are halves of halves, so that what is left is a stack of ends.
    """
    sums, trial, depth = work[1], work[2], 0
    ends = work[3:, 0]
    ends[0] = upper
    while lower < upper:
        middle, stop = 0.5 * (lower + ends[depth]), ends[depth]
        for k in range(5):
            trial[k] = 0.0
        add_rule(kernel, theta, lower, stop, -1.0, about, trial)
        add_rule(kernel, theta, lower, middle, 1.0, about, trial)
        add_rule(kernel, theta, middle, stop, 1.0, about, trial)
        change = 0.0
        for k in range(5):
            change = max(change, abs(trial[k]) / (1.0 + abs(sums[k])))
        if change > TOLERANCE and depth < MOST_HALVINGS - 1 and lower < middle < stop:
            depth += 1
            ends[depth] = middle
            continue
        add_rule(kernel, theta, lower, middle, 1.0, about, sums)
        add_rule(kernel, theta, middle, stop, 1.0, about, sums)
        lower = stop
        depth = max(depth - 1, 0)


def add_rule(kernel, theta, lower, upper, sign, about, sums):
    """Add ∫ f(y) ((y − centre)/unit)^k dy, k = 0 to 4, by Gauss's rule."""
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    for j in range(len(NODES)):
        y = middle + half * NODES[j]
        distance = (y - about[0]) / about[1]
        value = sign * half * WEIGHTS[j] * math.exp(log_f(kernel, y, theta))
        for k in range(5):
            sums[k] += value
            value *= distance


_HOW: dict[bool, dict[Callable, Callable]] = {
    True: {fill_moments: stated_moments},
    False: {fill_moments: integrated_moments},
}
