"""Mechanisms with three ratios: an output is e^ε times as likely under one record as under another, or as likely."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from privmix.mechanisms.local import LocalMechanism
from privmix.parts.checks import one_of, single
from privmix.privacy import ZCDP, PureDP
from privmix.privacy.variation import rho_epsilon, variation_rho


class ThreeRatios(LocalMechanism):
    """A mechanism for which q(z|y)/q(z|y') takes no values but e^ε, 1 and e^−ε.

    Then ε and the largest total variation between the releases of two records say all that Rényi divergences do, and
    the zero-concentrated guarantee of `zcdp` is exact (the proof is in `privmix.privacy.variation`). A subclass has a
    field ``epsilon`` and the property ``variation``.
    """

    epsilon: Any

    @property
    def guarantee(self) -> PureDP:
        """Pure ε-DP, exact."""
        return PureDP(self.epsilon)

    @property
    def variation(self) -> float:
        """Largest total variation between the releases of two records."""
        raise NotImplementedError

    def zcdp(self) -> ZCDP:
        """Return the mechanism's own ρ-zCDP: the largest Rényi divergence D_α/α, below the ε²/2 that ε alone gives."""
        return ZCDP(variation_rho(self.guarantee.epsilon, self.variation))


def budget(owner: str, variation_of: Callable[[float], float], epsilon: Any, rho: Any, largest: float = 700.0) -> float:
    """Return ε as given or from ρ; both, as a mechanism rebuilt from its own fields has, must agree.

    Parameters
    ----------
    owner
        The mechanism, for messages.
    variation_of
        Its largest total variation at ε.
    epsilon, rho
        What the user gave.
    largest
        The largest ε that the mechanism serves.
    """
    if rho is None:
        one_of(owner, epsilon=epsilon, rho=rho)
        found = single("epsilon", epsilon)
    else:
        found = rho_epsilon(single("rho", rho), variation_of)
        if epsilon is not None:
            if not math.isclose(single("epsilon", epsilon), found, rel_tol=1e-9):
                raise ValueError(f"{owner} takes one of epsilon= or rho=; the given epsilon and rho disagree.")
            found = float(epsilon)  # not another root of the same equation, so that a copy is equal
    if found > largest:
        raise ValueError(
            f"{owner} was given {f'epsilon={epsilon!r}' if rho is None else f'rho={rho!r}'}, but needs epsilon <= "
            f"{largest:g}: beyond, floats cannot tell its steps apart. Such a release is the data themselves; use less."
        )
    return found
