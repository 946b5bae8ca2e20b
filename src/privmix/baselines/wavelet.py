"""The linear wavelet estimator for releases of noisy Haar coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privmix.baselines.base import Baseline
from privmix.baselines.histogram import Histogram
from privmix.mechanisms import HaarWavelet, LocalMechanism
from privmix.parts.checks import check_count


@dataclass(frozen=True)
class Wavelet(Baseline):
    """Average the released coefficients and add up the wavelets.

    Butucea, Dubois, Kroll and Saumard (2020), Section 3; the paper's appendix on wavelet-based perturbation. With
    u = (y − lower)/(upper − lower), f̂(y) = (1 + Σ_jk β̂_jk ψ_jk(u))/(upper − lower) and β̂_jk = (1/n) Σ_i Z_ijk. The
    appendix prints the sum without 1/n; the 1 is the level j = −1, whose coefficient is 1 for every density and is
    not released. The estimator is unbiased for the density averaged over the 2^{J+1} cells. It can be negative.

    Parameters
    ----------
    levels
        The finest level used; by default the finest that was released. Fewer levels have less noise and less detail.
    """

    levels: int | None = None

    def __post_init__(self) -> None:
        if self.levels is not None:
            check_count("levels", self.levels, 0, "Wavelet")

    def refusal(self, mechanism: LocalMechanism) -> str:
        """Say that anything but Haar coefficients is not served."""
        if not isinstance(mechanism, HaarWavelet):
            return "adds up the wavelet coefficients that HaarWavelet releases; for other mechanisms use EMS"
        if self.levels is not None and self.levels > mechanism.levels:
            return f"was asked for levels up to {self.levels}, but the release stops at {mechanism.levels}"
        return ""

    def estimate(self, z: np.ndarray, mechanism: HaarWavelet) -> Histogram:
        """Return the estimator as a step function of 2^{levels+1} cells."""
        levels = mechanism.levels if self.levels is None else int(self.levels)
        cells = 2 ** (levels + 1)
        beta = z.mean(axis=0)
        height = np.ones(cells)
        for j in range(levels + 1):
            signed = np.outer(beta[2**j - 1 : 2 ** (j + 1) - 1], [1.0, -1.0]).ravel() * 2.0 ** (j / 2)
            height += np.repeat(signed, cells // 2 ** (j + 1))
        return Histogram(np.linspace(*mechanism.bounds, cells + 1), height / cells)
