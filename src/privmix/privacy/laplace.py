"""How much Laplace noise a guarantee asks for.

`sensitivity` is the largest L1 distance between the noiseless outputs of two neighbouring inputs: hi - lo for a number
released from [lo, hi].

References
----------
Bun, M. and Steinke, T. (2016). Concentrated differential privacy: simplifications, extensions, and lower bounds. TCC
    2016-B.
Dwork, C. and Roth, A. (2014). The algorithmic foundations of differential privacy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from privmix.privacy.arguments import FloatOrArray, plain, positive


def laplace_scale(
    sensitivity: ArrayLike, *, epsilon: ArrayLike | None = None, rho: ArrayLike | None = None
) -> FloatOrArray:
    """Return the scale of Laplace noise for a budget: sensitivity / epsilon.

    Noise of density exp(-|x|/s)/(2s) changes its log density by at most Delta/s when its centre moves by
    Delta (Dwork and Roth 2014, Theorem 3.6). With `rho`, epsilon = sqrt(2 rho), because epsilon-DP implies
    (epsilon^2/2)-zCDP (Bun and Steinke 2016, Proposition 1.4).

    Parameters
    ----------
    sensitivity : float or array
        L1 sensitivity.
    epsilon, rho : float or array
        Exactly one; an array gives a budget to each record.

    Returns
    -------
    float or ndarray
        An array where any argument is one.
    """
    if (epsilon is None) == (rho is None):
        raise ValueError(
            f"laplace_scale was given epsilon={epsilon!r} and rho={rho!r}, but needs exactly one of them. "
            f"Give epsilon for pure differential privacy or rho for the zero-concentrated kind."
        )
    width = positive("sensitivity", sensitivity)
    budget = np.sqrt(2 * positive("rho", rho)) if epsilon is None else positive("epsilon", epsilon)
    return plain(width / budget)
