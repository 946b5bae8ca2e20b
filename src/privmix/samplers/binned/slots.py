"""What a sampler on counts calls for its kind of bins: how a release is read, and how it is told apart again."""

from __future__ import annotations

from privmix.jit import slot


@slot
def bin_of_record(parts, data, state, latent, i):
    """Return the bin of record i at the start."""


@slot
def seat_records(parts, data, state, latent):
    """Put the records of a start at their sticks, in their bins."""


@slot
def label_records(parts, data, state, rng, labels):
    """Write the stick of each record, given the table."""


@slot
def redraw_counts(parts, data, state, rng):
    """Update the counts where the release has noise on them."""


@slot
def count_again(state, n):
    """Return the number of records after the counts were redrawn: the same where it is known."""
