"""Noise as a publisher states it, with the guarantee that the publisher claims: none where none is stated.

What follows from the scale of the noise alone is no guarantee: how far a person moves the published numbers is the
publisher's to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privmix.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace, Mechanism, NoisyHistogram
from privmix.parts import given
from privmix.privacy import Guarantee


@dataclass(frozen=True, eq=False, repr=False)
class Stated(Mechanism):
    """What mechanisms of other people's releases share: what was promised.

    Parameters
    ----------
    promised
        The guarantee that the publisher claims; None where it is not known.
    """

    promised: Guarantee | None = given()

    @property
    def guarantee(self) -> Any:
        """What the publisher claims."""
        return self.promised


@dataclass(frozen=True, eq=False)
class StatedLaplace(Stated, Laplace):
    """Laplace noise of a stated scale."""


@dataclass(frozen=True, eq=False)
class StatedGaussian(Stated, Gaussian):
    """Gaussian noise of a stated scale."""


@dataclass(frozen=True, eq=False)
class StatedDiscreteLaplace(Stated, DiscreteLaplace):
    """Discrete Laplace noise of a stated scale."""


@dataclass(frozen=True, eq=False)
class StatedDiscreteGaussian(Stated, DiscreteGaussian):
    """Discrete Gaussian noise of a stated scale."""


@dataclass(frozen=True, eq=False, repr=False)
class StatedHistogram(Stated, NoisyHistogram):
    """A histogram with noise of a stated scale."""
