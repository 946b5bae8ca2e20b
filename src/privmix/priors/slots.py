"""Slots through which samplers reach a prior.

`law` is the row of numbers that a chain keeps of the prior: the concentration first, then what the prior adds to it.
"""

from __future__ import annotations

from privmix.jit import slot


@slot
def draw_concentration(prior, rng):
    """Draw the concentration from its prior (or return the fixed one)."""


@slot
def draw_unseen(prior, rng, law):
    """Draw what else the law needs from its prior, such as the number of components; law[0] is the concentration."""


@slot
def reduction(prior, law):
    """Return what the urn takes off the size of an old cluster to get its weight; below 1, negative where it adds."""


@slot
def new_weight(prior, law, n, k):
    """Return the urn's weight of a new cluster given n other records in k clusters, where old ones weigh n_h − d."""


@slot
def rest_weight(prior, law, n, k):
    """Return the Dirichlet weight of all that lies beyond the k clusters of n records, whose weights are n_h − d."""


@slot
def stick(prior, rng, law, h):
    """Draw (log ν_h, log(1 − ν_h)) from the prior."""


@slot
def log_stick_density(prior, law, h, log_stick, log_rest):
    """Return the log density of ν_h in its logit, up to a constant, from log ν_h and log(1 − ν_h)."""


@slot
def stick_given(prior, rng, law, h, size, beyond):
    """Draw (log ν_h, log(1 − ν_h)) given the records at stick h and beyond it."""


@slot
def update_given_partition(prior, rng, law, n, k, sizes):
    """Redraw the concentration given that n records form k clusters; `sizes` has zeros between them."""


@slot
def update_unseen(prior, rng, law, n, k):
    """Redraw what else the law needs given that n records form k clusters."""


@slot
def update_given_labels(prior, rng, law, n, sizes):
    """Redraw the concentration given the records at each stick up to the last occupied, the sticks integrated out."""


@slot
def update_given_sticks(prior, rng, law, count, log_rest):
    """Redraw the concentration given the first `count` sticks, with log_rest = Σ log(1 − ν_h)."""


@slot
def rest_sticks(prior, law, k):
    """Return how many sticks beyond the first k a draw of P has room for, the last for what is then left."""


@slot
def rest_atoms(prior, law, h):
    """Return over how many atoms the mass beyond h sticks is spread evenly, where more than a little is left."""
