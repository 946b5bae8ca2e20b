"""Tables of counts that a model makes: the probability of each bin under a draw, and counts drawn from it.

No record is drawn, so that a table of a billion records costs as much as one of a thousand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from privmix.curves.mixture import count_of, flattened, load_atom
from privmix.jit import bind
from privmix.model import PrivateMixture
from privmix.samplers.base import Draws
from privmix.samplers.binned.bins import Nodes, find_bins
from privmix.samplers.binned.mixture import fill_row


def chances_finder(model: PrivateMixture, draws: Draws) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function that gives the mean probability of each bin over some draws, numbered on one axis."""
    bins = find_bins(model, None)
    flat = [np.ascontiguousarray(array) for array in flattened(draws)]
    run = bind(add_chances, {**model.hooks(), **bins.hooks}, owner=model.describe())
    parts, data, row = model.parts(), model.data(_some_release(model, bins.size)), np.zeros((1, model.kernel.columns))

    def find(which: np.ndarray) -> np.ndarray:
        out = np.zeros(bins.size)
        run(parts, data, Nodes(bins.node), *flat, which, row, np.zeros(bins.size), out)
        return out / out.sum()

    return find


def _some_release(model: PrivateMixture, bins: int) -> np.ndarray:
    """Return any release that the mechanism can make: probabilities of bins need none, but its form."""
    mechanism: Any = model.mechanism
    empty = np.zeros(bins)
    return (
        empty if mechanism.is_counted else mechanism.perturb_counts(np.random.default_rng(0), mechanism.gather(empty))
    )


def add_chances(parts, data, state, weight, atom, components, which, row, fresh, out):
    """Add up Σ_h w_h F_hb of each of some draws (compiled)."""
    theta = row[0]
    for d in which:
        for h in range(components[d]):
            load_atom(parts.kernel, atom, d, h, theta)
            fill_row(parts, data, state, theta, fresh)
            for b in range(len(out)):
                out[b] += weight[d, h] * fresh[b]


def counts_unknown(model: PrivateMixture) -> bool:
    """Whether the release is of the counts of an unknown number of records, whose probabilities are known."""
    mechanism = model.mechanism
    binned = mechanism.is_global and model.has_masses and mechanism.bin_count is not None
    return bool(mechanism.records_unknown and binned and model.restricted_to is None)


def counts_drawer(
    model: PrivateMixture, draws: Draws, records: Any, rng: np.random.Generator
) -> Callable[[], np.ndarray]:
    """Return what makes tables, each from the density of one draw, taken at random.

    They are of so many records; where `records` has one number for each draw, of as many as that draw has.
    """
    find = chances_finder(model, draws)

    def draw() -> np.ndarray:
        which = rng.integers(count_of(draws), size=1)
        size = records[which[0]] if np.ndim(records) else records
        return rng.multinomial(int(size), find(which)).astype(np.float64)

    return draw
