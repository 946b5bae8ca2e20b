"""Draw latent configurations and releases from a model itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from privmix.jit import bind
from privmix.kernels.slots import draw_atom, draw_hyper, draw_y
from privmix.model import PrivateMixture
from privmix.numerics import uniform
from privmix.priors.slots import draw_concentration, draw_unseen, stick
from privmix.samplers.base import Latent, empty_records


def simulate_latent(
    model: PrivateMixture, n: int, replicates: int, rng: np.random.Generator, room: int = 256
) -> Latent:
    """Return independent draws of the latent configuration; every array has a leading axis of replicates.

    Labels are those of the sticks, so the draw serves samplers whose state is a partition and those that hold sticks.
    The last of `room` sticks takes what is left: a prior with a heavy tail leaves it 3e-5 at a discount of .25.
    """
    kernel = model.kernel
    latent = Latent(
        labels=np.zeros((replicates, n), np.int64),
        atoms=np.zeros((replicates, room, kernel.columns)),
        y=empty_records(model, replicates, n),
        concentration=np.zeros((replicates, model.prior.law_size(n))),
        hyper=np.zeros((replicates, len(kernel.hyperparameters))),
    )
    parts = model.parts()
    hooks = {**kernel.hooks(), **model.prior.hooks()}
    run = bind(draw_latent, hooks, owner=model.describe())
    run(parts.kernel, parts.prior, rng, latent, np.zeros(room))
    return latent


def draw_latent(kernel, prior, rng, latent, log_left):
    """Fill the replicates: sticks broken as records need them, atoms, records (compiled)."""
    for r in range(len(latent.labels)):
        law = latent.concentration[r]
        law[0] = draw_concentration(prior, rng)
        draw_unseen(prior, rng, law)
        draw_hyper(kernel, rng, latent.hyper[r])
        count = 0
        for i in range(latent.labels.shape[1]):
            log_v = math.log(1.0 - uniform(rng))
            label = 0
            while True:
                if label == count:
                    _, log_rest = stick(prior, rng, law, label)
                    log_left[label] = log_rest + (log_left[label - 1] if label > 0 else 0.0)
                    draw_atom(kernel, rng, latent.atoms[r, label], latent.hyper[r])
                    count += 1
                if log_left[label] <= log_v or label == len(log_left) - 1:
                    break
                label += 1
            latent.labels[r, i] = label
            draw_y(kernel, rng, latent.atoms[r, label], latent.y[r], i)


def simulate_release(model: PrivateMixture, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a release of each replicate of y, without clipping: the model's own channel."""
    mechanism = model.mechanism
    if mechanism.is_global or mechanism.varying_fields():
        return np.stack([mechanism.perturb(rng, replicate) for replicate in y])
    flat: Any = y.reshape(-1, *y.shape[2:])
    z = mechanism.perturb(rng, flat)
    return z.reshape(*y.shape[:2], *z.shape[1:])


def encode_releases(model: PrivateMixture, z: np.ndarray) -> np.ndarray:
    """Return every replicate's release in the form that hooks read."""
    if model.mechanism.is_global:
        return np.stack([np.ascontiguousarray(model.mechanism.encode(release)) for release in z])
    encoded = model.mechanism.encode(np.ascontiguousarray(z.reshape(-1, *z.shape[2:])))
    return np.ascontiguousarray(encoded.reshape(*z.shape[:2], *encoded.shape[1:]))
