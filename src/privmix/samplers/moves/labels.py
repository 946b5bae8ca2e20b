"""Draw one of several candidates by their log weights."""

from __future__ import annotations

import math

from privmix.numerics import uniform


def draw_index(rng, score, candidates, top):
    """Draw an index with probability proportional to exp(score); the scores are overwritten by their running sum.

    `top` is the largest score, finite.
    """
    total = 0.0
    for c in range(candidates):
        total += math.exp(score[c] - top)
        score[c] = total
    threshold = uniform(rng) * total
    c = 0
    while c < candidates - 1 and score[c] <= threshold:
        c += 1
    return c
