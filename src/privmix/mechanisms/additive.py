"""How mechanisms that add noise settle on its scale: from a guarantee and the bounds, or as given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from privmix.mechanisms.base import LocalMechanism, check_bounds, check_scale, one_of


def settle_scale(
    mechanism: LocalMechanism, calibrate: Callable[..., Any], *, epsilon: Any, rho: Any, **rest: Any
) -> None:
    """Set ``scale`` and ``bounds`` of a mechanism under construction.

    A mechanism that is rebuilt from its own fields has both a guarantee and the scale that follows from it; that is
    accepted when the two agree.
    """
    owner = type(mechanism).__name__
    for name in ("epsilon", "rho"):  # a copy: the promise must not follow changes of the caller's array
        if np.ndim(getattr(mechanism, name)) == 1:
            _set(mechanism, **{name: check_scale(getattr(mechanism, name), varying=True)})
    scale: Any = mechanism.scale  # type: ignore[attr-defined]
    if epsilon is None and rho is None:
        one_of(owner, epsilon=epsilon, rho=rho, scale=scale)
        _set(mechanism, scale=check_scale(scale, varying=True), bounds=check_bounds(mechanism.bounds))
        return
    name = one_of(owner, epsilon=epsilon, rho=rho)
    bounds = check_bounds(mechanism.bounds, needed_for=f"{owner}({name}=…)")
    assert bounds is not None
    budget = {"epsilon": epsilon} if name == "epsilon" else {"rho": rho}
    derived = check_scale(calibrate(bounds[1] - bounds[0], **budget, **rest), varying=True)
    if scale is not None and not (np.shape(scale) == np.shape(derived) and np.allclose(scale, derived, rtol=1e-9)):
        raise ValueError(f"{owner} takes one of epsilon=, rho= or scale=; the given {name} and scale disagree.")
    _set(mechanism, scale=derived, bounds=bounds)


def _set(mechanism: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(mechanism, name, value)
