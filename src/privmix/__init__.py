"""Bayesian nonparametric mixtures for data released under differential privacy."""

from privmix import baselines, kernels, mechanisms, priors, samplers
from privmix.fit import fit
from privmix.model import PrivateMixture
from privmix.posterior import Posterior, load
from privmix.release import Release

__version__ = "0.1.0"

__all__ = [
    "Posterior",
    "PrivateMixture",
    "Release",
    "baselines",
    "fit",
    "kernels",
    "load",
    "mechanisms",
    "priors",
    "samplers",
]
