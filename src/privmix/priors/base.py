"""What every prior of the mixing measure offers to samplers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from privmix.parts import Part
from privmix.priors.slots import (
    draw_concentration,
    log_stick_density,
    new_weight,
    stick,
    stick_given,
    update_given_partition,
    update_given_sticks,
)


class Prior(Part):
    """Law of the mixing measure: a frozen dataclass with a hook for each slot of this room, of the same name."""

    def cluster_law(self, n: int) -> np.ndarray | None:
        """Return the probability of 0, 1, 2, … clusters among n records, or None where no formula is known."""
        return None

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this prior fills."""
        cls: Any = type(self)
        return {
            draw_concentration: cls.draw_concentration,
            new_weight: cls.new_weight,
            stick: cls.stick,
            log_stick_density: cls.log_stick_density,
            stick_given: cls.stick_given,
            update_given_partition: cls.update_given_partition,
            update_given_sticks: cls.update_given_sticks,
        }
