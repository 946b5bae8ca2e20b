"""The slow twin: the same source run by Python, equal to compiled code draw for draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from privmix.engine.block import compile_block
from privmix.engine.chains import Plan, run_chain
from privmix.model import PrivateMixture
from privmix.samplers import Sampler
from privmix.testing.simulate import simulate_latent, simulate_release


def twin_gap(model: PrivateMixture, sampler: Sampler, *, n: int = 12, draws: int = 20, seed: Any = 1) -> float:
    """Return the largest relative difference between the draws of compiled code and of its twin in plain Python.

    Both use the same random numbers, so it is zero up to rounding: a difference in one comparison would make whole
    draws differ.
    """
    rng = np.random.default_rng(seed)
    z = simulate_release(model, simulate_latent(model, n, 1, rng).y, rng)[0]
    plan = Plan(model, sampler, z, draws, draws // 2, 1, allocations=True)
    seeds = np.random.SeedSequence(seed)
    twin = compile_block(model, sampler, compiled=False)
    fast, slow = run_chain(plan, seeds), run_chain(plan, seeds, run=twin)
    gaps = [0.0]
    for a, b in zip(fast.draws, slow.draws, strict=True):
        if a.shape != b.shape or not np.array_equal(np.isnan(a), np.isnan(b)):
            return float("inf")
        scale = np.maximum(np.abs(np.nan_to_num(a)), 1.0)
        gaps.append(float(np.max(np.abs(np.nan_to_num(a) - np.nan_to_num(b)) / scale, initial=0.0)))
    return max(gaps)
