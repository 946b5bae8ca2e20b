"""Draws of the mixing measure from the prior, and the prior mean of the density."""

from __future__ import annotations

import math

import numpy as np

from privmix.curves.density import density_draws, mass_inside
from privmix.curves.mixture import parts_of
from privmix.jit import bind
from privmix.kernels.slots import draw_atom, draw_hyper
from privmix.model import PrivateMixture
from privmix.priors.rest import MOST_STICKS
from privmix.priors.slots import draw_concentration, draw_unseen, rest_atoms, stick
from privmix.samplers.base import Draws

# Least mass on an interval of a draw whose density is cut to it.
LEAST_MASS = 1e-3


def prior_draws(
    model: PrivateMixture, count: int, rng: np.random.Generator, remainder: float = 1e-4, room: int = 128
) -> Draws:
    """Return draws of the mixing measure from the prior, as one chain without records.

    Sticks are broken until less than `remainder` is left; the last atom takes what is left. Where that takes too many,
    what is left beyond some is spread evenly (see `privmix.priors.rest`). Hyperparameters of the base measure and a
    learned concentration are drawn too.

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
        row, law = np.zeros((1, kernel.columns)), np.zeros(model.prior.law_size(0))
        arrays = (weight, atom, components, concentration, hyper, row, law)
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


def draw_mixing(kernel, prior, rng, weight, atom, components, concentration, hyper, row, law, log_remainder):
    """Fill draws of P by stick breaking; return whether any needed more room (compiled)."""
    full = False
    for d in range(len(weight)):
        law[0] = draw_concentration(prior, rng)
        draw_unseen(prior, rng, law)
        concentration[d] = law[0]
        draw_hyper(kernel, rng, hyper[d])
        components[d], short = break_sticks(
            kernel, prior, rng, weight[d], atom[d], hyper[d], row[0], law, log_remainder
        )
        full = full or short
    return full


def break_sticks(kernel, prior, rng, weight, atom, hyper, theta, law, log_remainder):
    """Fill one draw of P; return its number of atoms, and whether it needed more room."""
    log_left = 0.0
    h = 0
    while True:
        write_atom(kernel, rng, atom, h, hyper, theta)
        log_stick, log_rest = stick(prior, rng, law, h)
        if log_left + log_rest < log_remainder or h == len(weight) - 1:
            weight[h] = math.exp(log_left)
            return h + 1, log_left + log_rest >= log_remainder
        weight[h] = math.exp(log_left + log_stick)
        log_left += log_rest
        h += 1
        if h >= MOST_STICKS and rest_atoms(prior, law, h) > 1:
            break
    return spread_rest(kernel, rng, weight, atom, hyper, theta, h, rest_atoms(prior, law, h), math.exp(log_left))


def spread_rest(kernel, rng, weight, atom, hyper, theta, h, equal, mass):
    """Spread what is left beyond h sticks over equal atoms; return as `break_sticks` does."""
    if h + equal > len(weight):
        return h, True
    for k in range(h, h + equal):
        write_atom(kernel, rng, atom, k, hyper, theta)
        weight[k] = mass / equal
    return h + equal, False


def write_atom(kernel, rng, atom, h, hyper, theta):
    """Write a draw of the base measure as atom h."""
    draw_atom(kernel, rng, theta, hyper)
    for p in range(atom.shape[1]):
        atom[h, p] = theta[p]


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
