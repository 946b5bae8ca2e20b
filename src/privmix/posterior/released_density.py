"""The density of new releases under a posterior."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.jit import bind
from privmix.kernels.slots import prepare
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
