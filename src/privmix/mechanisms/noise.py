"""What noise is made of, a stream that no fit shares, and how far out it took a number."""

from __future__ import annotations

from typing import Any

import numpy as np

# Last key of the seed of noise. Chains of a fit end in their number, far below: no seed gives both the same stream.
NOISE_KEY = 0x9E3779B97F4A7C15


def noise_generator(seed: Any) -> np.random.Generator:
    """Return the generator of a release's noise: a Generator as it is, for a seed a stream that no fit shares."""
    if seed is None or isinstance(seed, np.random.Generator | np.random.BitGenerator):
        return np.random.default_rng(seed)
    root = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    keys = (*root.spawn_key, NOISE_KEY)
    return np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=keys, pool_size=root.pool_size))


def distance_from(interval: tuple[float, float], z: np.ndarray) -> np.ndarray:
    """Return how far each number lies outside an interval, whose ends may be infinite; 0 inside it."""
    return np.maximum(np.maximum(interval[0] - z, z - interval[1]), 0.0)
