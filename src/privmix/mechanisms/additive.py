"""What mechanisms share that add noise to each record: its scale, from a guarantee and the bounds or as given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from privmix.mechanisms.local import LocalMechanism
from privmix.parts.checks import check_bounds, check_scale, fill, one_of


class AdditiveNoise(LocalMechanism):
    """Add independent noise to each record, of a scale that may differ by record.

    A subclass is a frozen dataclass with fields ``epsilon``, ``rho``, ``bounds`` and ``scale``.
    """

    epsilon: Any
    rho: Any
    scale: Any

    @classmethod
    def needs_bounds(cls, given: dict[str, Any]) -> bool:
        """Return whether the noise is set by a guarantee."""
        return "scale" not in given

    def fill_scale(self, calibrate: Callable[..., Any], **rest: Any) -> None:
        """Set ``scale`` and ``bounds`` while under construction.

        A mechanism that is rebuilt from its own fields has both a guarantee and the scale that follows from it; that is
        accepted when the two agree.
        """
        owner = type(self).__name__
        for name in ("epsilon", "rho"):  # a copy: the promise must not follow changes of the caller's array
            if np.ndim(getattr(self, name)) == 1:
                fill(self, **{name: check_scale(getattr(self, name), varying=True)})
        if self.epsilon is None and self.rho is None:
            one_of(owner, epsilon=self.epsilon, rho=self.rho, scale=self.scale)
            fill(self, scale=check_scale(self.scale, varying=True), bounds=check_bounds(self.bounds))
            return
        name = one_of(owner, epsilon=self.epsilon, rho=self.rho)
        bounds = check_bounds(self.bounds, needed_for=f"{owner}({name}=…)")
        assert bounds is not None
        derived = calibrate(bounds[1] - bounds[0], **{name: getattr(self, name)}, **rest)
        derived = check_scale(derived, varying=True)
        given = derived if self.scale is None else check_scale(self.scale, varying=True)
        # No absolute tolerance: any scale would agree with that of bounds a billionth apart.
        if np.shape(given) != np.shape(derived) or not np.allclose(given, derived, rtol=1e-9, atol=0.0):
            raise ValueError(f"{owner} takes one of epsilon=, rho= or scale=; the given {name} and scale disagree.")
        fill(self, scale=derived, bounds=bounds)
