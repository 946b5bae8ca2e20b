"""The Dirichlet process, with a fixed concentration or a gamma hyperprior on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from privmix.numerics import beta_logs, log_gamma_variate, uniform
from privmix.parts import given
from privmix.priors.base import Prior
from privmix.priors.concentration import LEAST, draw_learned, nodes, store_learned


@dataclass(frozen=True)
class DirichletProcess(Prior):
    """Dirichlet process of concentration α over the kernel's base measure.

    Parameters
    ----------
    concentration
        A positive number, or a pair (shape, rate) that puts a Gamma hyperprior on it.
    """

    concentration: float | tuple[float, float] = given(1.0)
    fixed: float = field(init=False, repr=False)
    shape: float = field(init=False, repr=False)
    rate: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        store_learned(self, "concentration")

    @property
    def learned(self) -> bool:
        """Whether the concentration has a hyperprior."""
        return self.shape > 0.0

    def cluster_law(self, n: int) -> np.ndarray:
        """Return the probability of 0, 1, 2, … clusters among n records, a learned concentration integrated out."""
        return cluster_law(*nodes(self), n)

    def draw_concentration(self, rng):
        """Draw α ~ Gamma(shape, rate), or return the fixed one."""
        return draw_learned(rng, self.fixed, self.shape, self.rate)

    def new_weight(self, law, n, k):
        """Return α: the Pólya urn's weight of a new cluster."""
        return law[0]

    def stick(self, rng, law, h):
        """Draw ν ~ Beta(1, α)."""
        return beta_logs(rng, 1.0, law[0])

    def log_stick_density(self, law, h, log_stick, log_rest):
        """Return log of ν·(1 − ν)^α: the Beta(1, α) density times ν(1 − ν), the Jacobian of the logit."""
        return log_stick + law[0] * log_rest

    def stick_given(self, rng, law, h, size, beyond):
        """Draw ν_h ~ Beta(1 + n_h, α + n_{>h})."""
        return beta_logs(rng, 1.0 + size, law[0] + beyond)

    def update_given_partition(self, rng, law, n, k, sizes):
        """Draw α given that n records form k clusters (Escobar and West 1995, Section 6).

        η ~ Beta(α+1, n); then α ~ Gamma(a+k, b − log η) with odds (a+k−1) : n(b − log η), else Gamma(a+k−1, b − log η).
        """
        if self.shape == 0.0:
            return law[0]
        log_eta, _ = beta_logs(rng, law[0] + 1.0, float(n))
        rate = self.rate - log_eta
        odds = (self.shape + k - 1.0) / (n * rate)
        shape = self.shape + k
        if uniform(rng) * (1.0 + odds) >= odds:
            shape -= 1.0
        return max(math.exp(log_gamma_variate(rng, shape)) / rate, LEAST)

    def update_given_sticks(self, rng, law, count, log_rest):
        """Draw α ~ Gamma(a + H, b − Σ log(1−ν_h)) given H sticks.

        A state that holds stick labels must use this and not the rule for partitions: given the labels, the sizes of
        the sticks carry information on α that the number of clusters does not.
        """
        if self.shape == 0.0:
            return law[0]
        log_draw = log_gamma_variate(rng, self.shape + count)
        return max(math.exp(log_draw) / (self.rate - log_rest), LEAST)


def cluster_law(alphas: np.ndarray, weights: np.ndarray, n: int) -> np.ndarray:
    """Return the law of the number K of clusters of a Chinese restaurant, the weighted mean over concentrations.

    Its generating function is E[s^K] = Γ(αs + n) Γ(α) / (Γ(αs) Γ(α + n)): taken on the unit circle, a Fourier transform
    gives the probabilities, to some 12 digits and at any n.
    """
    size = _room(float(alphas.max()), n)
    s = np.exp(2j * np.pi * np.arange(size) / size)
    a = alphas[:, None]
    log_e = special.loggamma(a * s + n) - special.loggamma(a * s) + special.loggamma(a) - special.loggamma(a + n)
    law = np.fft.fft(weights @ np.exp(log_e)).real / size
    return np.clip(law, 0.0, None)


def _room(alpha: float, n: int) -> int:
    """Return how many probabilities are needed: K is a sum of independent coins, so 10 deviations are enough."""
    mean = alpha * float(special.digamma(alpha + n) - special.digamma(alpha))
    return min(n + 1, math.ceil(mean + 10.0 * math.sqrt(mean) + 20.0))
