"""Samplers: Markov chains whose stationary law is the posterior."""

from privmix.samplers.base import Sampler
from privmix.samplers.neal5 import Neal5
from privmix.samplers.slice import Slice

__all__ = ["Neal5", "Sampler", "Slice"]
