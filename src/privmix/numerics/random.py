"""Random variates from a NumPy Generator, for compiled code.

Each wraps one call of the Generator in a small function, which is compiled once however often it is called.
"""

from __future__ import annotations

import math


def uniform(rng):
    """Draw from the uniform distribution on [0, 1)."""
    return rng.random()


def uniform_index(rng, n):
    """Draw an integer from 0 to n − 1; its bias is below n/2⁵³."""
    return min(int(rng.random() * n), n - 1)


def normal(rng):
    """Draw from the standard normal distribution."""
    return rng.standard_normal()


def exponential(rng):
    """Draw from the exponential distribution of mean one."""
    return rng.standard_exponential()


def gamma(rng, shape):
    """Draw from the gamma distribution of this shape and rate one."""
    return rng.standard_gamma(shape)


def binomial(rng, n, p):
    """Draw from the binomial distribution of n trials."""
    return rng.binomial(n, p)


def poisson(rng, mean):
    """Draw from the Poisson distribution, exactly for any mean, in steps as many as it has digits.

    The n-th event of a unit process comes at Gamma(n): before the end n are seen and the rest goes on from there, after
    it the other n − 1 are uniform (Ahrens and Dieter 1974). Numba's own needs memory that compiled code here has not.
    """
    total = 0
    while mean >= 10.0:
        n = int(0.875 * mean)
        at = gamma(rng, n)
        if at >= mean:
            return total + binomial(rng, n - 1, mean / at)
        total += n
        mean -= at
    limit, product = math.exp(-mean), uniform(rng)
    while product > limit:
        total += 1
        product *= uniform(rng)
    return total


def log_gamma_variate(rng, shape):
    """Draw the logarithm of a Gamma(shape, 1) variable, finite for every shape > 0.

    For a small shape the variable itself underflows: Gamma(a) = Gamma(a+1)·U^{1/a}, taken in logarithms.
    """
    if shape >= 1.0:
        return math.log(rng.standard_gamma(shape))
    return math.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential() / shape


def beta_logs(rng, a, b):
    """Draw (log x, log(1 − x)) for x ~ Beta(a, b), both finite however close x is to 0 or 1."""
    log_x = log_gamma_variate(rng, a)
    log_y = log_gamma_variate(rng, b)
    top = max(log_x, log_y)
    log_sum = top + math.log1p(math.exp(min(log_x, log_y) - top))
    return log_x - log_sum, log_y - log_sum
