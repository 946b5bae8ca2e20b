"""What the posterior predicts: new confidential records, and the density of new releases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.jit import bind
from privmix.kernels.slots import draw_y, prepare
from privmix.posterior.clusters.partitions import check_local
from privmix.posterior.clusters.predict import (
    AUXILIARIES,
    evidence_hooks,
    log_evidence,
    propose,
    with_mechanism,
)
from privmix.samplers.base import Draws, empty_records

if TYPE_CHECKING:
    from privmix.posterior.posterior import Posterior

# Rounds of drawing anew what fell outside the support, before giving up.
ROUNDS = 1000


def draw_records(posterior: Posterior, n: int, seed: Any = None) -> np.ndarray:
    """Draw new confidential records from the posterior predictive distribution.

    Each belongs to a draw of the mixture chosen at random, so that the uncertainty about the density is included. Where
    the density is cut to a support, a record outside it is drawn again from the same draw of the mixture.

    Parameters
    ----------
    posterior
        A fit.
    n
        Number of records.
    seed
        Anything that `numpy.random.default_rng` takes.
    """
    kernel, rng = posterior.model.kernel, np.random.default_rng(seed)
    components, weight, atom = pooled(posterior._stacked())
    run = bind(draw_from_mixtures, kernel.hooks(), owner=type(kernel).__name__)
    which = rng.integers(len(components), size=n)
    ys, row = empty_records(posterior.model, n), np.zeros((1, kernel.columns))
    todo = np.arange(n)
    for _ in range(ROUNDS):
        fresh = empty_records(posterior.model, len(todo))
        run(kernel.record(), rng, components, weight, atom, which[todo], row, fresh)
        ys[todo] = fresh
        if posterior.support is None:
            return ys
        lower, upper = posterior.support
        todo = np.flatnonzero((ys < lower) | (ys > upper))
        if len(todo) == 0:
            return ys
    raise RuntimeError(f"{len(todo)} of {n} records fell outside the support {posterior.support} {ROUNDS} times.")


def draw_from_mixtures(kernel, rng, components, weight, atom, which, row, ys):
    """Draw ys[j] from mixture which[j] (compiled)."""
    theta = row[0]
    for j in range(len(which)):
        d = which[j]
        total = 0.0
        for h in range(components[d]):
            total += weight[d, h]
        left = rng.random() * total
        h = 0
        while h < components[d] - 1 and left >= weight[d, h]:
            left -= weight[d, h]
            h += 1
        for p in range(atom.shape[2]):
            theta[p] = atom[d, h, p]
        prepare(kernel, theta)
        draw_y(kernel, rng, theta, ys, j)


def log_release_density(posterior: Posterior, z: Any, mechanism: Any = None, seed: Any = 0) -> np.ndarray:
    """Return the log of the posterior predictive density of new releases, each considered by itself.

    With weights w_h and atoms φ_h it is log E[Σ_h w_h g(z|φ_h)], g(z|φ) = ∫ q(z|y) f(y|φ) dy, the expectation over the
    draws. Where g has no closed form it is estimated, without bias, as in `Posterior.predict_proba`. A support to which
    the density of the confidential data is cut plays no part: the chains did not know of it.

    Parameters
    ----------
    posterior
        A fit to records that were released one by one.
    z
        Released records.
    mechanism, seed
        As in `Posterior.predict_proba`.
    """
    check_local(posterior.model)
    model = with_mechanism(posterior.model, mechanism)
    data = model.data(np.array(model.mechanism.check_release(z)))
    components, weight, atom = pooled(posterior._stacked())
    top, total = np.full(len(data.z), -np.inf), np.zeros(len(data.z))
    scratch = np.zeros((1, model.kernel.columns)), empty_records(model, AUXILIARIES)
    run = bind(add_densities, {**model.hooks(), **evidence_hooks(model)}, owner=model.describe())
    parts, rng = model.parts(), np.random.default_rng(seed)
    run(parts.mechanism, parts.kernel, data, rng, components, weight, atom, *scratch, top, total)
    with np.errstate(divide="ignore"):
        return top + np.log(total) - math.log(len(components))


def add_densities(mechanism, kernel, data, rng, components, weight, atom, row, ys, top, total):
    """Add w_h g(z_j|φ_h) of every component of every draw to total[j], in units of e^top[j] (compiled)."""
    theta = row[0]
    for d in range(len(components)):
        for h in range(components[d]):
            for p in range(atom.shape[2]):
                theta[p] = atom[d, h, p]
            prepare(kernel, theta)
            propose(kernel, rng, theta, ys)
            for j in range(len(total)):
                value = math.log(weight[d, h]) + log_evidence(mechanism, kernel, data, j, theta, ys)
                if value > top[j]:
                    total[j] *= math.exp(top[j] - value)
                    top[j] = value
                if value > -math.inf:
                    total[j] += math.exp(value - top[j])


def pooled(draws: Draws) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of components, weights and atoms of all draws, the chains one after the other."""
    arrays = (draws.components, draws.weight, draws.atom)
    components, weight, atom = (np.ascontiguousarray(array.reshape(-1, *array.shape[2:])) for array in arrays)
    return components, weight, atom
