"""The Dirichlet process, with a fixed concentration or a gamma hyperprior on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

from privmix.numerics import beta_logs, gamma, log_gamma_variate, uniform
from privmix.parts import given
from privmix.priors.base import Prior

# The least concentration that a hyperprior can give: zero would absorb the chain.
_LEAST = 1e-300
# Points of the mixture over a learned concentration: quantiles in the middle of equal shares.
POINTS = 200


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
        fixed, shape, rate = _read(self.concentration)
        object.__setattr__(self, "concentration", fixed if shape == 0.0 else (shape, rate))
        for name, value in {"fixed": fixed, "shape": shape, "rate": rate}.items():
            object.__setattr__(self, name, value)

    @property
    def learned(self) -> bool:
        """Whether the concentration has a hyperprior."""
        return self.shape > 0.0

    def cluster_law(self, n: int) -> np.ndarray:
        """Return the probability of 0, 1, 2, … clusters among n records, a learned concentration integrated out."""
        alphas = np.array([self.fixed])
        if self.learned:
            from scipy import stats  # loads slowly

            shares = (np.arange(POINTS) + 0.5) / POINTS
            alphas = stats.gamma(self.shape, scale=1.0 / self.rate).ppf(shares)
        return cluster_law(np.maximum(alphas, 1e-12), n)

    def draw_concentration(self, rng):
        """Draw α ~ Gamma(shape, rate), or return the fixed one."""
        if self.shape == 0.0:
            return self.fixed
        return max(gamma(rng, self.shape) / self.rate, _LEAST)

    def new_weight(self, concentration, n, k):
        """Return α: the Pólya urn's weight of a new cluster."""
        return concentration

    def stick(self, rng, concentration, h):
        """Draw ν ~ Beta(1, α)."""
        return beta_logs(rng, 1.0, concentration)

    def log_stick_density(self, concentration, h, log_stick, log_rest):
        """Return log of ν·(1 − ν)^α: the Beta(1, α) density times ν(1 − ν), the Jacobian of the logit."""
        return log_stick + concentration * log_rest

    def stick_given(self, rng, concentration, h, size, beyond):
        """Draw ν_h ~ Beta(1 + n_h, α + n_{>h})."""
        return beta_logs(rng, 1.0 + size, concentration + beyond)

    def update_given_partition(self, rng, concentration, n, k):
        """Draw α given that n records form k clusters (Escobar and West 1995, Section 6).

        η ~ Beta(α+1, n); then α ~ Gamma(a+k, b − log η) with odds (a+k−1) : n(b − log η), else Gamma(a+k−1, b − log η).
        """
        if self.shape == 0.0:
            return concentration
        log_eta, _ = beta_logs(rng, concentration + 1.0, float(n))
        rate = self.rate - log_eta
        odds = (self.shape + k - 1.0) / (n * rate)
        shape = self.shape + k
        if uniform(rng) * (1.0 + odds) >= odds:
            shape -= 1.0
        return max(math.exp(log_gamma_variate(rng, shape)) / rate, _LEAST)

    def update_given_sticks(self, rng, concentration, count, log_rest):
        """Draw α ~ Gamma(a + H, b − Σ log(1−ν_h)) given H sticks.

        A state that holds stick labels must use this and not the rule for partitions: given the labels, the sizes of
        the sticks carry information on α that the number of clusters does not.
        """
        if self.shape == 0.0:
            return concentration
        log_draw = log_gamma_variate(rng, self.shape + count)
        return max(math.exp(log_draw) / (self.rate - log_rest), _LEAST)


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


def _read(concentration: Any) -> tuple[float, float, float]:
    """Return (fixed, shape, rate); shape 0 marks a fixed concentration."""
    try:
        values = (
            [float(v) for v in concentration] if isinstance(concentration, tuple | list) else [float(concentration)]
        )
    except (TypeError, ValueError):
        values = []
    if len(values) not in (1, 2) or not all(math.isfinite(v) and v > 0 for v in values):
        raise ValueError(
            "concentration must be a positive number, or a pair (shape, rate) of positive numbers for a Gamma "
            f"hyperprior; got {concentration!r}."
        )
    return (values[0], 0.0, 0.0) if len(values) == 1 else (0.0, values[0], values[1])
