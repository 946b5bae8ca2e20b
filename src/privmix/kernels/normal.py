"""The normal kernel with its conjugate Normal-Inverse-Gamma base measure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from privmix.kernels.normal_kernel import NormalKernel
from privmix.numerics import gamma, normal
from privmix.parts.checks import check_number, check_positive


@dataclass(frozen=True)
class Normal(NormalKernel):
    """Normal components N(μ, σ²) with μ | σ² ~ N(mean, σ²/precision_scale) and σ² ~ InverseGamma(shape, rate).

    The paper's Section 4.1 uses ``Normal(mean=0, precision_scale=.1, shape=3, rate=3)``, that is
    N(μ | 0, 10σ²) × IG(σ² | 3, 3).

    Parameters
    ----------
    mean
        Prior mean of μ; or a pair (m, sd), and it is learned, with hyperprior N(m, sd²).
    precision_scale
        Prior precision of μ in units of 1/σ²: the weight of the prior mean, in records.
    shape, rate
        Of the inverse-gamma prior of σ². A pair (s, r) as `rate` lets it be learned, with hyperprior Gamma(s, r).

    Examples
    --------
    >>> Normal(mean=(0.0, 5.0), rate=(2.0, 1.0)).hyperparameters
    ('mean', 'rate')
    """

    mean: float | tuple[float, float] = 0.0
    precision_scale: float = 0.1
    shape: float = 3.0
    rate: float | tuple[float, float] = 3.0
    # (m, sd) and (shape, rate); where the number is fixed it is m, with sd 0, and rate, with shape 0.
    mean_prior: tuple[float, float] = field(init=False, repr=False)
    rate_prior: tuple[float, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_positive(self, "precision_scale", "shape")
        mean, rate = self.mean, self.rate
        if isinstance(mean, tuple | list):
            mean = _read_pair("mean", "(m, sd) with sd > 0 for a normal hyperprior", mean, positive=(False, True))
        else:
            check_number(self, "mean")
        if isinstance(rate, tuple | list):
            rate = _read_pair("rate", "(shape, rate) of positive numbers for a Gamma hyperprior", rate)
        else:
            check_positive(self, "rate")
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "rate", rate)
        object.__setattr__(self, "mean_prior", mean if isinstance(mean, tuple) else (float(mean), 0.0))
        object.__setattr__(self, "rate_prior", rate if isinstance(rate, tuple) else (0.0, float(rate)))

    @property
    def hyperparameters(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of what is learned: "mean", "rate", both or neither."""
        learned = {"mean": self.mean_prior[1] > 0.0, "rate": self.rate_prior[0] > 0.0}
        return tuple(name for name, is_learned in learned.items() if is_learned)

    def base(self, rng, theta, hyper=None):
        """Draw (μ, σ²) ~ NIG."""
        theta[1] = prior_rate(self, hyper) / gamma(rng, self.shape)
        theta[0] = prior_mean(self, hyper) + math.sqrt(theta[1] / self.precision_scale) * normal(rng)

    def log_base(self, theta, hyper=None):
        """Return the log density of NIG at (μ, σ²)."""
        if theta[1] <= 0.0:
            return -math.inf
        rate = prior_rate(self, hyper)
        deviation = theta[0] - prior_mean(self, hyper)
        log_mean = 0.5 * math.log(self.precision_scale / (2.0 * math.pi * theta[1]))
        log_mean -= 0.5 * self.precision_scale * deviation * deviation / theta[1]
        log_variance = self.shape * math.log(rate) - math.lgamma(self.shape)
        return log_mean + log_variance - (self.shape + 1.0) * math.log(theta[1]) - rate / theta[1]

    def update(self, rng, theta, ys, tune, hyper=None):
        """Draw (μ, σ²) from its conditional given the ys.

        It is NIG with λ+n, (λm + nȳ)/(λ+n), a + n/2 and b + ½Σ(y−ȳ)² + ½ λn(ȳ−m)²/(λ+n).
        """
        n = len(ys)
        average = 0.0
        spread = 0.0
        for j in range(n):  # Welford's update: no cancellation however far the data are from 0
            deviation = ys[j] - average
            average += deviation / (j + 1)
            spread += deviation * (ys[j] - average)
        precision = self.precision_scale + n
        mean = prior_mean(self, hyper)
        gap = average - mean
        rate = prior_rate(self, hyper) + 0.5 * spread + 0.5 * self.precision_scale * n * gap * gap / precision
        theta[1] = rate / gamma(rng, self.shape + 0.5 * n)
        centre = (self.precision_scale * mean + n * average) / precision
        theta[0] = centre + math.sqrt(theta[1] / precision) * normal(rng)

    def base_hyper(self, rng, hyper):
        """Draw what is learned from its prior: mean ~ N(m, sd²), rate ~ Gamma(s, r)."""
        if self.mean_prior[1] > 0.0:
            hyper[0] = self.mean_prior[0] + self.mean_prior[1] * normal(rng)
        if self.rate_prior[0] > 0.0:
            hyper[len(hyper) - 1] = gamma(rng, self.rate_prior[0]) / self.rate_prior[1]

    def update_hyper(self, rng, hyper, atoms):
        """Draw what is learned from its conditional given the K occupied atoms.

        mean ~ N(p/q, 1/q) with q = 1/sd² + λ Σ 1/σ² and p = m/sd² + λ Σ μ/σ²; rate ~ Gamma(s + aK, r + Σ 1/σ²).
        """
        inverse, weighted = 0.0, 0.0
        for h in range(len(atoms)):
            inverse += 1.0 / atoms[h, 1]
            weighted += atoms[h, 0] / atoms[h, 1]
        centre, sd = self.mean_prior
        if sd > 0.0:
            precision = 1.0 / (sd * sd) + self.precision_scale * inverse
            middle = (centre / (sd * sd) + self.precision_scale * weighted) / precision
            hyper[0] = middle + normal(rng) / math.sqrt(precision)
        shape, rate = self.rate_prior
        if shape > 0.0:
            hyper[len(hyper) - 1] = gamma(rng, shape + self.shape * len(atoms)) / (rate + inverse)


def prior_mean(kernel, hyper):
    """Return the prior mean of μ: as given, or as it is learned now, which is the first that is learned."""
    if hyper is None:
        return kernel.mean_prior[0]
    return hyper[0] if kernel.mean_prior[1] > 0.0 else kernel.mean_prior[0]


def prior_rate(kernel, hyper):
    """Return the rate of the prior of σ²: as given, or as it is learned now, which is the last that is learned."""
    if hyper is None:
        return kernel.rate_prior[1]
    return hyper[len(hyper) - 1] if kernel.rate_prior[0] > 0.0 else kernel.rate_prior[1]


def _read_pair(name: str, wanted: str, given: Any, positive: tuple[bool, bool] = (True, True)) -> tuple[float, float]:
    """Return a pair of numbers that is a hyperprior, or say what is wrong with it."""
    try:
        first, second = (float(value) for value in given)
    except (TypeError, ValueError):
        first = second = math.nan
    pair = (first, second)
    if not all(math.isfinite(v) and (v > 0.0 or not above) for v, above in zip(pair, positive, strict=True)):
        raise ValueError(f"Normal: {name} must be a number, or a pair {wanted}; got {given!r}.")
    return pair
