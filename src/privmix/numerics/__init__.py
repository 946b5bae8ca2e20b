"""Compiled leaves: random variates and special functions, each checked against SciPy or mpmath."""

from privmix.numerics.normal_tails import normal_cdf
from privmix.numerics.random import (
    beta_logs,
    binomial,
    exponential,
    gamma,
    log_gamma_variate,
    normal,
    poisson,
    uniform,
    uniform_index,
)
from privmix.numerics.special import log_add_exp, log_beta

__all__ = [
    "beta_logs",
    "binomial",
    "exponential",
    "gamma",
    "log_add_exp",
    "log_beta",
    "log_gamma_variate",
    "normal",
    "normal_cdf",
    "poisson",
    "uniform",
    "uniform_index",
]
