"""Deconvolution in the frequency domain: what a noisy sample says of the characteristic function of the data.

For symmetric noise U_k with characteristic function φ_k(t), which may differ by record (Delaigle and Meister 2008),
φ̂(t) = Σ_k φ_k(t) e^{itZ_k}/N(t) with N(t) = Σ_k φ_k(t)² is unbiased for the data's, and its variance is at most
1/N(t). With one scale φ̂ is the empirical characteristic function over φ_U, and N = n φ_U².
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from privmix.numerics.slices import slices_of

# Entries of a table (record, frequency) held at a time: 32 MB of complex numbers.
CHUNK = 2_000_000
# Made once: finding 200 nodes takes longer than an integral.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


@dataclass(frozen=True)
class Kernel:
    """A kernel by its characteristic function φ_K, which is 0 beyond `reach`, and its variance μ₂."""

    transform: Callable[[np.ndarray], np.ndarray]
    reach: float
    variance: float


def compact_transform(t: np.ndarray) -> np.ndarray:
    """Return (1 − t²)³ on [−1, 1], the kernel of Delaigle and Gijbels (2004)."""
    return np.maximum(1.0 - np.square(t), 0.0) ** 3


def normal_transform(t: np.ndarray) -> np.ndarray:
    """Return the characteristic function of the standard normal."""
    return np.exp(-0.5 * np.square(t))


# Beyond 8 the normal's is below 1e-14, and its square, which meets the noise of θ₃, below 1e-27.
KERNELS = {"compact": Kernel(compact_transform, 1.0, 6.0), "normal": Kernel(normal_transform, 8.0, 1.0)}


@dataclass(frozen=True)
class Spectrum:
    """A noisy sample with its noise and a kernel."""

    z: np.ndarray
    scale: np.ndarray  # of length 1, or one for each record
    noise: Callable[[np.ndarray, np.ndarray], np.ndarray]
    noise_variance: float
    kernel: Kernel

    def power(self, t: np.ndarray, exponent: int) -> np.ndarray:
        """Return Σ_k φ_k(t)^exponent over the records; records with one scale are taken together."""
        scales, counts = np.unique(self.scale, return_counts=True)
        if len(self.scale) == 1:
            counts = np.array([len(self.z)])
        total = np.zeros_like(t)
        for part in slices_of(len(scales), CHUNK // len(t)):
            total += counts[part] @ self.noise(t[None, :], scales[part, None]) ** exponent
        return total

    def transform(self, t: np.ndarray) -> np.ndarray:
        """Return φ̂(t), centred on the sample mean so that phases stay small."""
        total = np.zeros(len(t), dtype=np.complex128)
        centred = self.z - self.z.mean()
        for part in slices_of(len(centred), CHUNK // len(t)):
            weight = self.noise(t[None, :], (self.scale if len(self.scale) == 1 else self.scale[part])[:, None])
            total += (weight * np.exp(1j * centred[part, None] * t)).sum(axis=0)
        return total / self.power(t, 2)

    def frequencies(self, h: float, points: np.ndarray | None = None) -> np.ndarray:
        """Return frequencies from 0 to the kernel's reach at bandwidth h, equally spaced.

        The trapezoid rule with spacing δ repeats an estimate with period 2π/δ. The period is four times what the
        sample, the points and the kernel's tails span.
        """
        ends = [self.z.min(), self.z.max()] if points is None else [*self.ends(), points.min(), points.max()]
        period = 4.0 * (max(ends) - min(ends) + 40.0 * h)
        highest = self.kernel.reach / h
        return np.linspace(0.0, highest, math.ceil(highest * period / (2.0 * math.pi)) + 2)

    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest record."""
        return float(self.z.min()), float(self.z.max())

    def variance(self, h: float, order: int = 0) -> float:
        """Return ∫ t^{2·order} φ_K(ht)²/(2π N(t)) dt: for order 0, the integrated variance of the estimate, or more."""
        s = 0.5 * self.kernel.reach * (NODES + 1.0)
        with np.errstate(over="ignore", divide="ignore"):  # Gaussian noise at a tiny h: rightly infinite
            values = s ** (2 * order) * np.square(self.kernel.transform(s)) / self.power(s / h, 2)
        return float(0.5 * self.kernel.reach * WEIGHTS @ values / (math.pi * h ** (2 * order + 1)))

    def roughness(self, h: float, order: int) -> float:
        """Return θ̂_order = ∫ t^{2·order} |φ̂(t)|² φ_K(ht)² dt/2π, which estimates ∫ f^{(order)}(y)² dy."""
        t = self.frequencies(h)
        values = t ** (2 * order) * np.abs(self.transform(t)) ** 2 * np.square(self.kernel.transform(h * t))
        return float(np.trapezoid(values, t) / math.pi)

    def density(self, points: np.ndarray, h: float) -> np.ndarray:
        """Return f̂(y) = ∫ e^{−ity} φ̂(t) φ_K(ht) dt/2π."""
        t = self.frequencies(h, points)
        weight = self.transform(t) * self.kernel.transform(h * t) * (t[1] - t[0]) / math.pi
        weight[0] *= 0.5  # the trapezoid rule's end; at the other end the kernel is 0
        out = np.empty(len(points))
        for part in slices_of(len(points), CHUNK // len(t)):
            out[part] = (np.exp(-1j * (points[part, None] - self.z.mean()) * t) @ weight).real
        return out


def spectrum_of(z: np.ndarray, mechanism: Any, kernel: str) -> Spectrum:
    """Return the spectrum of a release with noise that was added."""
    scale = np.atleast_1d(np.asarray(mechanism.scale, dtype=np.float64))
    return Spectrum(z, scale, mechanism.noise_transform, mechanism.noise_spread() ** 2, KERNELS[kernel])
