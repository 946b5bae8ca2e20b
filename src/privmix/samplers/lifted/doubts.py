"""What a run of trajectories says against itself: in words, with what to do."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

# How far the log of the step may have fallen since the table was made: by a factor of two, where chance makes a fifth.
# A step that grew, or could grow since nearly all is accepted, is not held by the table: of 57 runs that had converged
# 8 had a step that changed as much, 7 of them such a one.
LARGEST_FALL, ALL_BUT_ACCEPTED = 0.7, 0.8
# Share of trajectories that may fail on their way, and that must be accepted. A failure is a rejection like any other,
# and tuning counts it as one: with a billion records 10 to 20% fail where chains mix well.
MOST_FAILURES, LEAST_ACCEPTED = 0.3, 0.3
# How far, in standard deviations, twice the log likelihood may be below that of the counts' own shares.
LARGEST_EXCESS = 6.0
LONGER = "Raise warmup."


def find_doubts(reported: Mapping[str, np.ndarray], most_stiff: int, most_sticks: int) -> list[tuple[str, str]]:
    """Return each reason to doubt a run, by its worst chain, with what to do about it."""
    mean = {name: values.mean(axis=1) for name, values in reported.items()}
    held = mean["acceptance"] < ALL_BUT_ACCEPTED
    fall, failed = float(np.max(-mean["step_drift"][held], initial=0.0)), float(mean["failed"].max())
    accepted, excess = float(mean["acceptance"].min()), float(mean["excess"].max())
    found = []
    if fall > LARGEST_FALL:
        text = f"the step of a chain fell to 1/{np.exp(fall):.1f} after its table was made last."
        found.append((text, f"{LONGER} A table from where the chain is lets it take longer steps."))
    if failed > MOST_FAILURES:
        found.append((f"{failed:.0%} of the trajectories of a chain failed on their way.", LONGER))
    if accepted < LEAST_ACCEPTED:
        found.append((f"a chain accepted {accepted:.0%} of its trajectories, where 70% are aimed at.", LONGER))
    if excess > LARGEST_EXCESS:
        text = (
            f"the counts are {excess:.0f} standard deviations further from the mixture of a chain than chance makes "
            "them: it has not come to where they are, or no mixture of these components does."
        )
        found.append((text, "Raise warmup; then try another kernel."))
    return found + _at_limits(mean, most_stiff, most_sticks)


def _at_limits(mean: Mapping[str, np.ndarray], most_stiff: int, most_sticks: int) -> list[tuple[str, str]]:
    """Return the limits of the sampler that a chain has reached."""
    found = []
    for name, most, option, what in (
        ("stiff", most_stiff, "most_stiff", "stiff combinations"),
        ("sticks_moved", most_sticks, "most_sticks", "sticks that move"),
    ):
        if mean[name].max() >= most:
            text = f"a chain has as many {what} as there may be, {most}: what is beyond moves slowly."
            found.append((text, f"Use Lifted({option}={2 * most}), whose sweeps take longer."))
    return found
