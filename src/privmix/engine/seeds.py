"""The seed of a run, from what a user gives."""

from __future__ import annotations

from typing import Any

import numpy as np


def root_of(seed: Any) -> np.random.SeedSequence:
    """Return the sequence from which chains are seeded.

    A `SeedSequence` enters by four words of its state, as whole numbers would. So it is left as it was, may be used
    again, and neither it nor the children that its owner spawns give the same random numbers as a chain.
    """
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence([int(word) for word in seed.generate_state(4, np.uint64)])
    return np.random.SeedSequence(seed)
