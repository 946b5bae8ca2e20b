"""The deconvolution kernel density estimator."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privmix.baselines.bandwidths import bootstrap, plugin
from privmix.baselines.base import Baseline, Fitted
from privmix.baselines.spectrum import KERNELS, Spectrum, spectrum_of
from privmix.mechanisms import LocalMechanism

BANDWIDTHS = {"bootstrap": bootstrap, "plugin": plugin}


@dataclass(frozen=True)
class DeconvolutionFit(Fitted):
    """A deconvolution estimate.

    Parameters
    ----------
    spectrum
        The sample, its noise and the kernel.
    bandwidth
        The bandwidth in use.
    """

    spectrum: Spectrum
    bandwidth: float

    def evaluate(self, points: np.ndarray) -> np.ndarray:
        """Return the estimate, which can be negative and extends beyond the bounds."""
        return self.spectrum.density(points, self.bandwidth)


@dataclass(frozen=True)
class Deconvolution(Baseline):
    """Divide the noise out of the characteristic function of the release, and smooth.

    Stefanski and Carroll (1990): f̂(y) = (1/2π) ∫ e^{−ity} φ̂_Z(t) φ_K(ht)/φ_U(t) dt. Serves Laplace and Gaussian noise;
    where records have scales of their own, in the form of Delaigle and Meister (2008). It integrates to 1 over the
    line, can be negative, and knows nothing of the bounds: `proper` makes it a density on a grid.

    Parameters
    ----------
    bandwidth
        ``"bootstrap"`` or ``"plugin"``, both of Delaigle and Gijbels (2004), or a number h.
    kernel
        ``"compact"``, with φ_K(t) = (1 − t²)³ on [−1, 1], or ``"normal"``, which serves Laplace noise alone.
    """

    bandwidth: str | float = "bootstrap"
    kernel: str = "compact"

    def __post_init__(self) -> None:
        if self.kernel not in KERNELS:
            raise ValueError(f"Deconvolution: kernel must be 'compact' or 'normal'; got {self.kernel!r}.")
        named = isinstance(self.bandwidth, str) and self.bandwidth in BANDWIDTHS
        number = isinstance(self.bandwidth, int | float) and not isinstance(self.bandwidth, bool)
        if not named and not (number and math.isfinite(self.bandwidth) and self.bandwidth > 0.0):  # type: ignore[arg-type,operator]
            raise ValueError(
                f"Deconvolution: bandwidth must be 'bootstrap', 'plugin' or a positive number; got {self.bandwidth!r}."
            )

    def refusal(self, mechanism: LocalMechanism) -> str:
        """Say that other noise than Laplace's and Gauss's is not served."""
        if mechanism.noise_transform(np.zeros(1), np.ones(1)) is None:
            return "divides out noise that was added, Laplace or Gaussian; for other mechanisms use EMS"
        if self.kernel == "normal" and mechanism.smooth_noise:
            return "has no finite estimate with a normal kernel under Gaussian noise; use kernel='compact'"
        return ""

    def estimate(self, z: np.ndarray, mechanism: LocalMechanism) -> DeconvolutionFit:
        """Choose the bandwidth."""
        spectrum = spectrum_of(z, mechanism, self.kernel)
        if isinstance(self.bandwidth, str):
            return DeconvolutionFit(spectrum, BANDWIDTHS[self.bandwidth](spectrum, mechanism.bounds))
        return DeconvolutionFit(spectrum, float(self.bandwidth))
