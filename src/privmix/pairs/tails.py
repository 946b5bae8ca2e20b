"""The probability that a released record lies between two numbers, from the tails of its law, in logarithms.

A pair gives of each number the tail that keeps its digits: that away from the middle of the law. Two tails on one side
are subtracted; where the interval holds the middle, both are taken off 1. So nothing is lost far out, on either side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from privmix.jit import slot


@slot
def outer_tail(mechanism, kernel, z, theta):
    """Return (True, log P(Z ≤ z|θ)) or (False, log P(Z > z|θ)), whichever keeps its digits; the first for smaller z."""


def log_difference(large, small):
    """Return log(e^large − e^small)."""
    return large + math.log(-math.expm1(small - large)) if small < large else -math.inf


def log_between(mechanism, kernel, low, high, theta):
    """Return log P(low < Z ≤ high|θ); either end may be infinite."""
    low_is_lower, left, high_is_lower, right = True, -math.inf, False, -math.inf
    if low > -math.inf:
        low_is_lower, left = outer_tail(mechanism, kernel, low, theta)
    if high < math.inf:
        high_is_lower, right = outer_tail(mechanism, kernel, high, theta)
    if high_is_lower:
        return log_difference(right, left)
    if not low_is_lower:
        return log_difference(left, right)
    outside = math.exp(left) + math.exp(right)
    return math.log1p(-outside) if outside < 1.0 else -math.inf


def between_by(tail: Callable) -> dict[str, Any]:
    """Return what a `Convolution` needs to know of intervals where a pair has a function for `outer_tail`."""
    return {"log_between": log_between, "extra": {outer_tail: tail}}
