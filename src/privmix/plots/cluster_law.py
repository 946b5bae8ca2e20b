"""The prior law of the number of clusters among n records."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from privmix.priors import DirichletProcess

if TYPE_CHECKING:
    from privmix.posterior import Posterior

# Points of the mixture over a learned concentration: quantiles in the middle of equal shares.
POINTS = 200


def prior_cluster_law(posterior: Posterior) -> np.ndarray | None:
    """Return the prior probability of 0, 1, 2, … clusters, or None where no formula is known."""
    prior = posterior.model.prior
    if not isinstance(prior, DirichletProcess):
        return None
    if prior.learned:
        from scipy import stats  # loads slowly

        shares = (np.arange(POINTS) + 0.5) / POINTS
        alphas = stats.gamma(prior.shape, scale=1.0 / prior.rate).ppf(shares)
    else:
        alphas = np.array([prior.fixed])
    return cluster_law(np.maximum(alphas, 1e-12), posterior.records)


def cluster_law(alphas: np.ndarray, n: int) -> np.ndarray:
    """Return the law of the number K of clusters of a Chinese restaurant, the mean over concentrations.

    Its generating function is E[s^K] = Γ(αs + n) Γ(α) / (Γ(αs) Γ(α + n)): taken on the unit circle, a Fourier transform
    gives the probabilities, to some 12 digits and at any n.
    """
    size = _room(float(alphas.max()), n)
    s = np.exp(2j * np.pi * np.arange(size) / size)
    a = alphas[:, None]
    log_e = special.loggamma(a * s + n) - special.loggamma(a * s) + special.loggamma(a) - special.loggamma(a + n)
    law = np.fft.fft(np.exp(log_e).mean(axis=0)).real / size
    return np.clip(law, 0.0, None)


def _room(alpha: float, n: int) -> int:
    """Return how many probabilities are needed: K is a sum of independent coins, so 10 deviations are enough."""
    mean = alpha * float(special.digamma(alpha + n) - special.digamma(alpha))
    return min(n + 1, math.ceil(mean + 10.0 * math.sqrt(mean) + 20.0))
