"""Width and height of the square wave under a guarantee, and what given ones guarantee.

References
----------
Li, Z., Wang, T., Lopuhaa-Zwakenberg, M., Skoric, B. and Li, N. (2020). Estimating numerical distributions under local
    differential privacy. SIGMOD.
"""

from __future__ import annotations

import math

from privmix.privacy.arguments import single

# The square wave is about epsilon e^-epsilon wide: beyond this its width and its height leave the range of floats.
LARGEST_EPSILON = 700.0


def square_wave_parameters(epsilon: float, half_width: float | None = None) -> tuple[float, float, float]:
    """Return half-width b, high density p and low density q of the square wave on [0, 1].

    The output lies in [-b, 1 + b], with density p within b of y and q elsewhere. What is not within b has length 1, so
    2 b p + q = 1; the densities of an output under two inputs have the ratio 1 or p/q, so epsilon-DP is p <= e^epsilon
    q. Equality gives p = e^epsilon/(2 b e^epsilon + 1) and q = p e^-epsilon (Li et al. 2020). Their b maximises an
    upper bound of the mutual information of input and output:

        b = (epsilon e^epsilon - e^epsilon + 1)/(2 e^epsilon (e^epsilon - 1 - epsilon)) = f(-epsilon)/(2 f(epsilon)),

    with f(x) = (e^x - 1 - x)/x^2 = 1/2 + x/6 + x^2/24 + ..., whose series is used where the fraction cancels.

    Parameters
    ----------
    epsilon : float
        Budget of pure differential privacy, at most 700.
    half_width : float, optional
        A half-width b to use instead.

    Returns
    -------
    tuple of float
        (half_width, high, low).
    """
    budget = single("epsilon", epsilon)
    if budget > LARGEST_EPSILON:
        raise ValueError(
            f"The square wave was given epsilon={epsilon!r}, but needs epsilon <= {LARGEST_EPSILON:g}: beyond, its "
            f"width is below the smallest float. Such a release is the data themselves; use a smaller epsilon."
        )
    b = _square_wave_width(budget) if half_width is None else single("half_width", half_width)
    high = 1.0 / (2.0 * b + math.exp(-budget))
    return b, high, high * math.exp(-budget)


def square_wave_epsilon(high: float, low: float) -> float:
    """Return the exact epsilon of a square wave: the log-ratio of its two densities.

    Whatever the half-width b, the output z = -b has the high density under y = 0 and the low one under y = 1.

    Parameters
    ----------
    high, low : float
        Densities within and beyond the half-width, 0 < low < high.

    Returns
    -------
    float
        The smallest epsilon for which it is epsilon-DP.
    """
    p, q = single("high", high), single("low", low)
    if not q < p:
        raise ValueError(f"The square wave was given high={high!r} and low={low!r}, but needs low < high.")
    return math.log1p((p - q) / q) if p < 2.0 * q else math.log(p) - math.log(q)


def _square_wave_width(epsilon: float) -> float:
    """Return b = f(-epsilon)/(2 f(epsilon)), f(x) = (e^x - 1 - x)/x^2."""
    if epsilon < 1.0:
        # The first term left out is 1/20!, 4e-19.
        rising, falling = (sum(x**k / math.factorial(k + 2) for k in range(18)) for x in (epsilon, -epsilon))
        return falling / (2.0 * rising)
    return (math.expm1(-epsilon) + epsilon) / (2.0 * (math.expm1(epsilon) - epsilon))
