"""Neal 8 on the release: Gibbs steps on the labels with g(z|θ), and auxiliary clusters drawn from the base measure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from privmix.kernels.slots import draw_atom
from privmix.mechanisms.slots import at_record
from privmix.pairs.slots import log_g
from privmix.parts.checks import check_count
from privmix.priors.slots import new_weight, reduction
from privmix.samplers import marginal
from privmix.samplers.moves.labels import draw_index
from privmix.samplers.moves.partition import ROWS, bring_to_top, clusters_without, free_row, join

if TYPE_CHECKING:
    from privmix.model import PrivateMixture


@dataclass(frozen=True)
class Neal8(marginal.Marginal):
    """Gibbs sampling of each label among all clusters and m empty ones (Neal 2000, Section 6), records integrated out.

    Parameters
    ----------
    auxiliaries
        Empty clusters offered to each record.
    update
        How cluster parameters move: ``"impute"`` draws the records exactly and uses the kernel's own update,
        ``"walk"`` moves the parameters on the marginal likelihood.
    """

    auxiliaries: int = 3
    update: marginal.Update = "walk"

    def __post_init__(self) -> None:
        check_count("auxiliaries", self.auxiliaries, 1, owner="Neal8")
        marginal.check_update("Neal8", self.update)

    def check(self, model: PrivateMixture) -> None:
        """Refuse a pair without g(z|θ)."""
        marginal.check_model("Neal8", self.update, model)

    def allocate(self, model: PrivateMixture, n: int) -> marginal.State:
        """Return an empty state with rows for the empty clusters."""
        return marginal.allocate(model, n, len(self.statistics), extra=self.auxiliaries)

    def hooks(self, model: PrivateMixture) -> dict[Callable, Callable]:
        """Return the steps: a Gibbs draw of each label."""
        return marginal.label_hooks(draw_label, self.update, model)


def draw_label(parts, data, state, rng, i):
    """Draw record i's cluster: P(h) ∝ (n_h − d) g(z_i|θ_h), r/m g(z_i|θ) for each of m empty ones; return if moved."""
    old = state.allocation[i]
    n, m = len(state.allocation), len(state.size) - len(state.allocation)
    fill_offered(parts, state, rng, old, m)
    log_new = math.log(new_weight(parts.prior, state.concentration, n - 1, clusters_without(state, i)) / m)
    less = reduction(parts.prior, state.concentration)
    part = at_record(parts.mechanism, i)
    candidates = 0
    top = -math.inf
    for h in range(state.cursor[ROWS]):
        others = state.size[h] - (h == old)
        if others > 0:
            state.score[candidates] = math.log(others - less) + log_g(part, parts.kernel, data.z[i], state.theta[h])
            state.offset[candidates] = h
            top = max(top, state.score[candidates])
            candidates += 1
    for k in range(m):
        row = offered_row(state, old, k)
        state.score[candidates] = log_new + log_g(part, parts.kernel, data.z[i], state.theta[row])
        state.offset[candidates] = row
        top = max(top, state.score[candidates])
        candidates += 1
    if top == -math.inf:
        return False
    row = state.offset[draw_index(rng, state.score, candidates, top)]
    if state.size[row] == 0:
        bring_to_top(state, row)
    join(state, i, old, row)
    return row != old


def offered_row(state, old, k):
    """Return the k-th of the empty rows offered to a record: its own first, where it is alone, then free ones."""
    alone = state.size[old] == 1
    return old if alone and k == 0 else free_row(state, k - alone)


def fill_offered(parts, state, rng, old, m):
    """Draw the atoms of the m rows on offer; a record's own keeps its atom."""
    for k in range(m):
        row = offered_row(state, old, k)
        if row != old:
            draw_atom(parts.kernel, rng, state.theta[row], state.hyper)
