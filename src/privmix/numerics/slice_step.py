"""The slice step: one coordinate, real or whole, redrawn by stepping out and shrinking (Neal 2003)."""

from __future__ import annotations

from collections.abc import Callable

from privmix.numerics.random import exponential, uniform, uniform_index

# Steps out where there is no limit to them: more than any target needs.
UNLIMITED = 2**40


def make_slice_step(log_target: Callable, *, whole: bool = False, most_steps: int = 0) -> Callable:
    """Return a slice step on a target, ready to be bound.

    Parameters
    ----------
    log_target
        ``log_target(about, place)``, the log density of the coordinate; −∞ outside its support.
    whole
        The coordinate is a whole number.
    most_steps
        Most steps by which the slice is widened, to both sides together; 0 for no limit.
    """
    draw_within, unit = (draw_whole, 1) if whole else (draw_real, 0)

    def slice_step(about, rng, place, width):
        """Return a new place of the coordinate, reached from the old one by steps of `width`."""
        level = log_target(about, place) - exponential(rng)
        left = place - draw_within(rng, width)
        right = left + width - unit
        # A limit on the steps keeps the move reversible only if it is split at random.
        steps_left = uniform_index(rng, most_steps) if most_steps > 0 else UNLIMITED
        steps_right = most_steps - 1 - steps_left if most_steps > 0 else UNLIMITED
        while steps_left > 0 and log_target(about, left) > level:
            left -= width
            steps_left -= 1
        while steps_right > 0 and log_target(about, right) > level:
            right += width
            steps_right -= 1
        while True:
            tried = left + draw_within(rng, right - left + unit)
            if right - left < 1e-12 * (1.0 + abs(place)):
                tried = place
            if tried == place or log_target(about, tried) > level:
                return tried
            if tried < place:
                left = tried + unit
            else:
                right = tried - unit

    return slice_step


def draw_real(rng, width):
    """Draw from the uniform distribution on [0, width)."""
    return width * uniform(rng)


def draw_whole(rng, width):
    """Draw one of the whole numbers 0, …, width − 1."""
    return uniform_index(rng, int(width))
