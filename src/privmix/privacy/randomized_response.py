"""How often randomised response may tell the truth under a guarantee, and what a given share guarantees.

References
----------
Kairouz, P., Bonawitz, K. and Ramage, D. (2016). Discrete distribution estimation under local privacy. ICML.
"""

from __future__ import annotations

import math
import operator

from privmix.privacy.arguments import single


def randomized_response_truth(cells: int, epsilon: float) -> float:
    """Return the probability with which k-ary randomised response tells the truth: e^epsilon/(e^epsilon + k - 1).

    Derivation. Let p be the probability of the true cell and l that of each other, p + (k - 1) l = 1. An output has
    probability p under one input and l under all others, so the log-ratios are 0 and +-log(p/l), and epsilon-DP is
    p <= e^epsilon l. The largest such p has equality: p (1 + (k - 1) e^-epsilon) = 1 (Kairouz, Bonawitz and Ramage
    2016).

    Parameters
    ----------
    cells : int
        Number k of cells, at least 2.
    epsilon : float
        Budget of pure differential privacy.

    Returns
    -------
    float
        Above 1/k; rounded to 1 where a lie is less likely than 1e-16 (epsilon above 37).
    """
    return 1.0 / (1.0 + (_cells(cells) - 1) * math.exp(-single("epsilon", epsilon)))


def randomized_response_epsilon(cells: int, truth: float) -> float:
    """Return the exact epsilon of k-ary randomised response, the inverse of `randomized_response_truth`.

    epsilon = log(p/l), with l = (1 - p)/(k - 1) the probability of each other cell.

    Parameters
    ----------
    cells : int
        Number k of cells, at least 2.
    truth : float
        Probability p of the true cell: above 1/k (at 1/k nothing is released), below 1 (at 1 nothing is promised).

    Returns
    -------
    float
        The smallest epsilon for which it is epsilon-DP.
    """
    count = _cells(cells)
    p = single("truth", truth)
    if not 1.0 / count < p < 1.0:
        raise ValueError(
            f"Randomised response with {count} cells was given truth={truth!r}, but needs 1/{count} < truth < 1: at "
            f"1/{count} nothing is released, at 1 nothing is promised."
        )
    # log(p/l) = log(1 + (p - l)/l), which keeps its digits where p is close to 1/k.
    return math.log1p((count * p - 1.0) / (1.0 - p))


def _cells(cells: int) -> int:
    """Return the number of cells as an int, or say why it cannot be one."""
    try:
        count = operator.index(cells)
    except TypeError:
        count = -1
    if count < 2:
        raise ValueError(
            f"Randomised response was given cells={cells!r}, but needs a whole number of at least 2. Give the number "
            f"of cells into which the bounds are cut."
        )
    return count
