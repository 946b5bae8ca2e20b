"""Fits that take the release for the data: what ignoring the noise gives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from privmix.baselines.base import Baseline, Fitted
from privmix.kernels import HierarchicalNormal
from privmix.mechanisms import Identity, LocalMechanism
from privmix.model import PrivateMixture
from privmix.numerics.slices import slices_of
from privmix.posterior import Posterior

# Values (point, record) held at a time: 64 MB.
CHUNK = 8_000_000


def silverman(z: np.ndarray) -> float:
    """Return .9 · min(sd, IQR/1.34) · n^(−1/5) (Silverman 1986, equation 3.31)."""
    quartiles = np.quantile(z, [0.25, 0.75])
    spreads = [float(np.std(z, ddof=1)), float(quartiles[1] - quartiles[0]) / 1.34]
    return 0.9 * min([s for s in spreads if s > 0.0], default=0.0) * len(z) ** -0.2


def scott(z: np.ndarray) -> float:
    """Return (4/3n)^(1/5) · sd: best for a normal density (Scott 1992, equation 6.17; Silverman's 3.28)."""
    return float(np.std(z, ddof=1)) * (4.0 / (3.0 * len(z))) ** 0.2


RULES = {"silverman": silverman, "scott": scott}


def refuse_rows(mechanism: LocalMechanism) -> str:
    """Say that releases that do not look like data are not served."""
    if mechanism.row_length is not None:
        return "takes the release for the data, which rows of numbers cannot be; use Wavelet or EMS"
    if mechanism.names_cells:
        return "takes the release for the data, which numbers of cells cannot be; use EMS"
    return ""


@dataclass(frozen=True)
class KernelFit(Fitted):
    """A Gaussian kernel density estimate of the release."""

    z: np.ndarray
    bandwidth: float

    def evaluate(self, points: np.ndarray) -> np.ndarray:
        """Return (1/nh) Σ_i φ((y − z_i)/h)."""
        out = np.empty(len(points))
        for part in slices_of(len(points), CHUNK // len(self.z)):
            out[part] = np.exp(-0.5 * np.square((points[part, None] - self.z) / self.bandwidth)).sum(axis=1)
        return out / (len(self.z) * self.bandwidth * math.sqrt(2.0 * math.pi))


@dataclass(frozen=True)
class NaiveKernel(Baseline):
    """Estimate the density of the release by a Gaussian kernel, as if there were no noise.

    Parameters
    ----------
    bandwidth
        ``"silverman"``, .9 min(sd, IQR/1.34) n^(−1/5); ``"scott"``, 1.06 sd n^(−1/5); or a number.
    """

    bandwidth: str | float = "silverman"

    def __post_init__(self) -> None:
        number = isinstance(self.bandwidth, int | float) and not isinstance(self.bandwidth, bool)
        if self.bandwidth not in RULES and not (number and 0.0 < self.bandwidth < math.inf):  # type: ignore[operator]
            raise ValueError(
                f"NaiveKernel: bandwidth must be 'silverman', 'scott' or a positive number; got {self.bandwidth!r}."
            )

    def refusal(self, mechanism: LocalMechanism) -> str:
        """Say that releases that do not look like data are not served."""
        return refuse_rows(mechanism)

    def estimate(self, z: np.ndarray, mechanism: LocalMechanism) -> KernelFit:
        """Choose the bandwidth."""
        if not isinstance(self.bandwidth, str):
            return KernelFit(z, float(self.bandwidth))
        h = RULES[self.bandwidth](z) if len(z) > 1 else 0.0
        if not h > 0.0:
            raise ValueError("the released values are all equal, so they give no bandwidth; give a number.")
        return KernelFit(z, h)


@dataclass(frozen=True)
class MixtureFit(Fitted):
    """The posterior of a mixture of the release."""

    posterior: Posterior

    def evaluate(self, points: np.ndarray) -> np.ndarray:
        """Return the posterior mean density."""
        return self.posterior.density(points)["mean"].values


@dataclass(frozen=True)
class NaiveMixture(Baseline):
    """Fit the mixture of `privmix.fit` to the release as if it were the data.

    The same kernel, prior and samplers, with `mechanisms.Identity` for the mechanism. The base measure follows from
    the mechanism's bounds or, where there are none, from the range of the release.

    Parameters
    ----------
    draws, warmup, thin, chains, seed
        As in `privmix.fit`; the defaults are smaller.
    """

    draws: int = 500
    warmup: int = 500
    thin: int = 2
    chains: int = 2
    seed: Any = None
    is_random: ClassVar[bool] = True

    def refusal(self, mechanism: LocalMechanism) -> str:
        """Say that releases that do not look like data are not served."""
        return refuse_rows(mechanism)

    def estimate(self, z: np.ndarray, mechanism: LocalMechanism) -> MixtureFit:
        """Draw from the posterior."""
        bounds = mechanism.bounds or (float(z.min()), float(z.max()))
        model = PrivateMixture(Identity(), HierarchicalNormal(bounds))
        settings: dict[str, Any] = {
            "draws": self.draws,
            "warmup": self.warmup,
            "thin": self.thin,
            "chains": self.chains,
        }
        return MixtureFit(model.sample(z, seed=self.seed, allocations=False, **settings))
