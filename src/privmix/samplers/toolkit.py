"""What a sampler of one's own is made of: slots to call, slots to fill, and the steps that samplers share.

A sampler's file imports from here alone.
"""

# ruff: noqa: F401 (what is imported here is what the room gives)

from privmix.jit import constant, slot
from privmix.kernels.slots import copy_y, draw_atom, draw_y, log_base, log_f, prepare, update_atom, update_hyper
from privmix.mechanisms.slots import at_record, begin, evidence, log_q, settle
from privmix.numerics import exponential, gamma, normal, uniform, uniform_index
from privmix.numerics.steps import accepts
from privmix.pairs.slots import (
    add,
    clear,
    draw_given,
    draw_given_at,
    draw_posterior,
    draw_reported_at,
    log_g,
    log_marginal,
    remove,
)
from privmix.parts.checks import check_count
from privmix.priors.slots import (
    new_weight,
    stick,
    stick_given,
    update_given_partition,
    update_given_sticks,
)
from privmix.samplers.base import Draws, Latent, Sampler, adopt, empty_records, empty_tuning, impute, keep, sweep
from privmix.samplers.marginal import Marginal, label_hooks
from privmix.samplers.moves.atoms import copy_row, group_records, update_atoms, update_base
from privmix.samplers.moves.labels import draw_index
from privmix.samplers.moves.parameters import draw_records, impute_and_update, update_parameters, walk_parameters
from privmix.samplers.moves.partition import (
    CLUSTERS,
    ROWS,
    adopt_partition,
    bring_to_top,
    clusters_without,
    empty_partition,
    free_row,
    join,
    keep_partition,
    propose_row,
    update_clusters,
    update_concentration,
)
from privmix.samplers.moves.sticks import (
    STICKS,
    WAITING,
    exchange_more,
    extend_sticks,
    forget_empty,
    keep_sticks,
    may_exchange,
    swap_sticks,
    update_sticks,
)
from privmix.samplers.neal5 import move_record

__all__ = sorted(name for name in globals() if name[0] != "_")
