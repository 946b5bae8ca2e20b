"""Bandwidths for deconvolution: the two-stage plug-in and the bootstrap of Delaigle and Gijbels (2004).

θ_r = ∫ f^{(r)}(y)² dy. Both start from θ₄ of a normal with the data's variance, var(Z) − var(U).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np

from privmix.baselines.spectrum import Spectrum

# A bandwidth whose integrated variance exceeds this many times ∫f² is far worse than estimating 0 everywhere.
HOPELESS = 100.0


def plugin(spectrum: Spectrum, bounds: tuple[float, float] | None = None) -> float:
    """Return the h that minimises AMISE(h) = V(h) + h⁴ μ₂² θ̂₂/4, with θ̂₂ estimated in two stages.

    Delaigle and Gijbels (2004, Computational Statistics & Data Analysis 45), Section 3.1. V(h) is the integrated
    variance, μ₂ the kernel's variance.
    """
    spread = data_spread(spectrum, bounds)
    pilot = pilot_bandwidth(spectrum, spread)
    theta_2 = spectrum.roughness(pilot, 2)
    return minimise(lambda h: amise(spectrum, h, theta_2), spectrum, spread)


def bootstrap(spectrum: Spectrum, bounds: tuple[float, float] | None = None) -> float:
    """Return the h that minimises the mean integrated squared error when samples are drawn from a pilot estimate.

    Delaigle and Gijbels (2004, Annals of the Institute of Statistical Mathematics 56): the expectation over bootstrap
    samples is known exactly, so nothing is drawn. The pilot bandwidth g is the one that the plug-in uses for θ̂₂.
    """
    spread = data_spread(spectrum, bounds)
    return minimise(bootstrap_mise(spectrum, pilot_bandwidth(spectrum, spread)), spectrum, spread)


def amise(spectrum: Spectrum, h: float, theta_2: float) -> float:
    """Return the asymptotic mean integrated squared error V(h) + h⁴ μ₂² θ₂/4."""
    return spectrum.variance(h) + 0.25 * h**4 * spectrum.kernel.variance**2 * theta_2


def bootstrap_mise(spectrum: Spectrum, g: float) -> Callable[[float], float]:
    """Return h ↦ MISE*(h) of samples from the pilot estimate with bandwidth g.

    V(h) + ∫ |φ̂_g(t)|² (1 − 2 φ_K(ht) + φ_K(ht)² (1 − Σ_k φ_k⁴/N²)) dt/2π, with φ̂_g(t) = φ̂(t) φ_K(gt). The last
    factor is 1 − 1/n where all records have one scale.
    """
    t = spectrum.frequencies(g)
    pilot = np.square(np.abs(spectrum.transform(t)) * spectrum.kernel.transform(g * t))
    own = 1.0 - spectrum.power(t, 4) / np.square(spectrum.power(t, 2))

    def mise(h: float) -> float:
        smoothing = spectrum.kernel.transform(h * t)
        bias = pilot * (1.0 - 2.0 * smoothing + np.square(smoothing) * own)
        return spectrum.variance(h) + float(np.trapezoid(bias, t)) / math.pi

    return mise


def pilot_bandwidth(spectrum: Spectrum, spread: float) -> float:
    """Return the bandwidth for θ̂₂, from θ₄ of a normal through θ̂₃."""
    theta_4 = math.factorial(8) / ((2.0 * spread) ** 9 * math.factorial(4) * math.sqrt(math.pi))
    theta_3 = spectrum.roughness(unbiased_bandwidth(spectrum, 3, theta_4, spread), 3)
    return unbiased_bandwidth(spectrum, 2, theta_3, spread)


def unbiased_bandwidth(spectrum: Spectrum, order: int, theta_next: float, spread: float) -> float:
    """Return the h at which the asymptotic bias of θ̂_order vanishes: h² μ₂ θ_{order+1} = ∫ t^{2·order} φ_K²/(2πN) dt.

    The left side grows with h and the right side falls, so there is one.
    """

    def bias(log_h: float) -> float:
        h = math.exp(log_h)
        noise = spectrum.variance(h, order)
        return math.log(h * h * spectrum.kernel.variance * theta_next) - math.log(noise) if noise < math.inf else -1e300

    from scipy.optimize import brentq  # loads slowly

    high = math.log(spread)
    while bias(high) < 0.0:
        high += 0.5
    low = high - 0.5
    while bias(low) > 0.0:
        low -= 0.5
    return math.exp(brentq(bias, low, low + 0.5, xtol=1e-12))


def minimise(criterion: Callable[[float], float], spectrum: Spectrum, spread: float) -> float:
    """Return the bandwidth with the least criterion: a search over a grid, then refined between its neighbours."""
    highest = 3.0 * math.sqrt(float(np.var(spectrum.z)) + spread**2)
    from scipy.optimize import minimize_scalar  # loads slowly

    lowest = highest
    while spectrum.variance(lowest) < HOPELESS / (2.0 * math.sqrt(math.pi) * spread) and lowest > 1e-6 * highest:
        lowest *= 0.8
    grid = np.geomspace(lowest, highest, 100)
    best = int(np.argmin([criterion(h) for h in grid]))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return float(minimize_scalar(criterion, bounds=ends, method="bounded", options={"xatol": 1e-6 * grid[best]}).x)


def data_spread(spectrum: Spectrum, bounds: tuple[float, float] | None) -> float:
    """Return the standard deviation of the data behind the noise, √(var(Z) − var(U)).

    Under strong noise the difference may be negative. Then the standard deviation of a uniform density on the bounds
    is taken, with a warning; without bounds there is nothing to go by.
    """
    left = float(np.var(spectrum.z, ddof=1)) - spectrum.noise_variance if len(spectrum.z) > 1 else 0.0
    if left > 0.0:
        return math.sqrt(left)
    if bounds is None:
        raise ValueError(
            "the release varies less than its noise should, so no bandwidth can be chosen from it; give a number as "
            "bandwidth=, or a mechanism with bounds."
        )
    warnings.warn(
        "the release varies less than its noise should: the bandwidth starts from a uniform density on the bounds.",
        stacklevel=2,
    )
    return (bounds[1] - bounds[0]) / math.sqrt(12.0)
