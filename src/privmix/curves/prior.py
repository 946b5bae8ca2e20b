"""Draws of the mixing measure from the prior, and the prior mean of the density."""

from __future__ import annotations

import math

import numpy as np

from privmix.curves.density import density_draws, mass_inside
from privmix.curves.mixture import parts_of
from privmix.jit import bind
from privmix.kernels.slots import draw_atom, draw_hyper
from privmix.model import PrivateMixture
from privmix.priors.slots import draw_concentration, stick
from privmix.samplers.base import Draws

# Least mass on an interval of a draw whose density is cut to it.
LEAST_MASS = 1e-3


def prior_draws(
    model: PrivateMixture, count: int, rng: np.random.Generator, remainder: float = 1e-4, room: int = 128
) -> Draws:
    """Return draws of the mixing measure from the prior, as one chain without records.

    Sticks are broken until less than `remainder` is left; the last atom takes what is left. Hyperparameters of the base
    measure and a learned concentration are drawn too.

    Parameters
    ----------
    model
        Whose prior.
    count
        Number of draws.
    rng
        Source of randomness.
    remainder
        Largest mass that may be left to the last atom.
    room
        Most atoms of a draw; doubled while a draw needs more, up to 4,096.
    """
    kernel = model.kernel
    state = rng.bit_generator.state
    while True:
        rng.bit_generator.state = state
        weight, atom = np.zeros((count, room)), np.full((count, room, len(kernel.parameters)), np.nan)
        components, concentration = np.zeros(count, np.int64), np.zeros(count)
        hyper = np.zeros((count, len(kernel.hyperparameters)))
        run = bind(draw_mixing, {**kernel.hooks(), **model.prior.hooks()}, owner=model.describe())
        parts = model.parts()
        row = np.zeros((1, kernel.columns))
        arrays = (weight, atom, components, concentration, hyper, row)
        full = run(parts.kernel, parts.prior, rng, *arrays, math.log(remainder))
        if not full or room >= 4096:
            break
        room *= 2
    none = np.zeros((1, count, 0))
    used = int(components.max())
    return Draws(
        n_clusters=np.zeros((1, count), np.int64),
        concentration=concentration[None],
        hyper=hyper[None],
        components=components[None],
        weight=np.ascontiguousarray(weight[None, :, :used]),
        atom=np.ascontiguousarray(atom[None, :, :used]),
        allocation=none.astype(np.int32),
        statistic=none,
    )


def draw_mixing(kernel, prior, rng, weight, atom, components, concentration, hyper, row, log_remainder):
    """Fill draws of P by stick breaking; return whether any needed more room (compiled)."""
    theta = row[0]
    full = False
    for d in range(len(weight)):
        concentration[d] = draw_concentration(prior, rng)
        draw_hyper(kernel, rng, hyper[d])
        log_left = 0.0
        h = 0
        while True:
            draw_atom(kernel, rng, theta, hyper[d])
            for p in range(atom.shape[2]):
                atom[d, h, p] = theta[p]
            log_stick, log_rest = stick(prior, rng, concentration[d], h)
            last = h == weight.shape[1] - 1
            if log_left + log_rest < log_remainder or last:
                weight[d, h] = math.exp(log_left)
                full = full or (last and log_left + log_rest >= log_remainder)
                break
            weight[d, h] = math.exp(log_left + log_stick)
            log_left += log_rest
            h += 1
        components[d] = h + 1
    return full


def inside_draws(model: PrivateMixture, draws: Draws, interval: tuple[float, float]) -> Draws:
    """Return the draws that have at least a thousandth of their mass on an interval."""
    kept = np.flatnonzero(mass_inside(model.kernel, draws, interval)[0] > LEAST_MASS)
    return Draws(*[array[:, kept] for array in draws])


def prior_mean_density(
    model: PrivateMixture,
    grid: np.ndarray,
    rng: np.random.Generator,
    count: int = 100_000,
) -> np.ndarray:
    """Return the prior mean of the density at a grid, by simulation.

    Unless the model is restricted this is the mean of f(y|θ) over the base measure, hyperparameters included, so that
    one atom a draw serves. Else each drawn density is cut and renormalised before the mean is taken, as those of the
    posterior are; draws with next to no mass inside are left out, because to cut them is to divide by nothing.
    """
    restricted_to = model.restricted_to
    remainder = 1.0 if restricted_to is None else 1e-2
    total = np.zeros(len(grid))
    parts = parts_of(count, len(grid))
    for part in parts:
        draws = prior_draws(model, part.stop - part.start, rng, remainder=remainder)
        draws = draws if restricted_to is None else inside_draws(model, draws, restricted_to)
        total += density_draws(model.kernel, draws, grid, restricted_to)[0].mean(axis=0)
    return total / len(parts)
