"""How much Laplace noise a guarantee asks for on Haar coefficients.

References
----------
Butucea, C., Dubois, A., Kroll, M. and Saumard, A. (2020). Local differential privacy: elbow effect in optimal density
    estimation and adaptation over Besov ellipsoids. Bernoulli.
"""

from __future__ import annotations

import math
import operator

from numpy.typing import ArrayLike

from privmix.privacy.arguments import FloatOrArray, plain, positive


def haar_scale(levels: int, epsilon: ArrayLike) -> FloatOrArray:
    """Return the smallest Laplace scale for Haar coefficients of levels 0..J: their L1 sensitivity / epsilon.

    s = (2/epsilon) (2^{(J+1)/2} - 1)/(sqrt 2 - 1) with J = `levels`. Proof. At level j exactly one of the 2^j
    functions psi_jk is non-zero at y, with the value +-2^{j/2}. So level j adds to sum |psi_jk(y) -
    psi_jk(y')| exactly 2 * 2^{j/2} where y and y' lie in different supports (two terms of 2^{j/2}) or in the
    two halves of one support (one term of 2 * 2^{j/2}), and 0 where they lie in the same half. Hence the sum
    is at most sum_{j=0}^{J} 2 * 2^{j/2}, the geometric sum above; y < 1/2 <= y' attains it, because they
    differ in sign at level 0 and in support at every later level.

    Parameters
    ----------
    levels : int
        The finest level J, at least 0.
    epsilon : float or array
        Budget of pure differential privacy for all the coefficients of one record.

    Returns
    -------
    float or ndarray
        An array where epsilon is one.
    """
    sensitivity = 2 * (2 ** ((_level(levels) + 1) / 2) - 1) / (math.sqrt(2) - 1)
    return plain(sensitivity / positive("epsilon", epsilon))


def haar_scale_butucea(levels: int, epsilon: ArrayLike) -> FloatOrArray:
    """Return the Laplace scale of Butucea et al. (2020): (12/epsilon) (sqrt 2/(sqrt 2 - 1)) 2^{J/2}.

    Valid, because above `haar_scale`, and six to twenty times as noisy: for comparison with published
    results.

    Parameters
    ----------
    levels : int
        The finest level J, at least 0.
    epsilon : float or array
        Budget of pure differential privacy for all the coefficients of one record.

    Returns
    -------
    float or ndarray
        An array where epsilon is one.
    """
    factor = 12 * math.sqrt(2) / (math.sqrt(2) - 1) * 2 ** (_level(levels) / 2)
    return plain(factor / positive("epsilon", epsilon))


def _level(levels: int) -> int:
    """Return the finest level as an int, or say why it cannot be one."""
    try:
        finest = operator.index(levels)
    except TypeError:
        finest = -1
    if finest < 0:
        raise ValueError(
            f"The Haar basis was given levels={levels!r}, but needs a whole number of at least 0, the finest "
            f"level J. Give levels=0 for the two halves, levels=3 for sixteen cells."
        )
    return finest
