"""Where an error that falls reaches what is wanted: in few guesses, since each may take half a second."""

from __future__ import annotations

import math
from collections.abc import Callable

# An answer is found where error, or n or budget, is known to this factor, after so many guesses.
PRECISION, MOST_GUESSES = 1.01, 24
# From an error that is right to this factor the answer is read off the line, if it is no further away than this.
NEAR, MOST_READ_OFF = 1.04, 1.25
# How fast the logarithm of the error falls with that of n: usually, and the limits of what is believed.
USUAL_SLOPE, STEEPEST, FLATTEST = -0.35, -3.0, -0.05


def solve_for(
    error: Callable[[float], float],
    wanted: float,
    low: float,
    high: float,
    start: float,
    *,
    known: dict[float, float] | None = None,
    slope: float = USUAL_SLOPE,
) -> tuple[float, float]:
    """Return where the error falls to what is wanted, and the least error seen; not a number where it never does.

    On logarithmic scales the error is nearly a straight line, so that the next guess lies on that of the two nearest
    points. It is kept between what is known to be too little and enough.

    Parameters
    ----------
    error
        The error at a number; infinite where there is none.
    wanted
        The wanted error.
    low, high
        Where to look.
    start
        First guess.
    known
        Errors that are known, by number; those that are found are added.
    slope
        Of the line, as long as one point is known.
    """
    known = {} if known is None else known
    if not known:
        first = min(max(start, low), high)
        known[first] = error(first)
    for _ in range(MOST_GUESSES):
        gaps = {math.log(at): math.log(found / wanted) for at, found in known.items()}
        little, enough = _bracket(gaps, math.log(low), math.log(high))
        nearest, guess = _guess(gaps, slope)
        if _is_answer(gaps, nearest, guess):
            return math.exp(guess), wanted
        if enough - little < math.log(PRECISION):
            break
        unknown = enough not in gaps and guess >= enough
        at = guess if little < guess < enough else enough if unknown else 0.5 * (little + enough)
        known[math.exp(at)] = error(math.exp(at))
    reached = [at for at, found in known.items() if found <= wanted]
    return (min(reached), wanted) if reached else (math.nan, min(known.values()))


def _bracket(gaps: dict[float, float], low: float, high: float) -> tuple[float, float]:
    """Return what is too little, and what is enough or more than there is a setting for."""
    little = max([low, *(at for at, gap in gaps.items() if 0.0 < gap < math.inf)])
    return little, min([high, *(at for at, gap in gaps.items() if not 0.0 < gap < math.inf)])


def _guess(gaps: dict[float, float], slope: float) -> tuple[float, float]:
    """Return the point that is nearest to what is wanted, and where the line through the nearest two is there."""
    points = sorted((abs(gap), at) for at, gap in gaps.items() if math.isfinite(gap))
    if not points:
        return math.nan, math.nan
    a, b = points[0][1], points[min(1, len(points) - 1)][1]
    if a != b:
        slope = min(max((gaps[b] - gaps[a]) / (b - a), STEEPEST), FLATTEST)
    return a, a - gaps[a] / slope


def _is_answer(gaps: dict[float, float], nearest: float, guess: float) -> bool:
    """Return whether a guess needs no other look: the nearest point is right, or nearly and not alone."""
    gap = abs(gaps.get(nearest, math.inf))
    near = len(gaps) > 1 and gap < math.log(NEAR) and abs(guess - nearest) < math.log(MOST_READ_OFF)
    return gap < math.log(PRECISION) or near
