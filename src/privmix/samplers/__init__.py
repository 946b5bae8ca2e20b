"""Samplers: Markov chains whose stationary law is the posterior."""

from privmix.samplers.auto import Auto
from privmix.samplers.base import Sampler
from privmix.samplers.binned import Binned
from privmix.samplers.neal2 import Neal2
from privmix.samplers.neal3 import Neal3
from privmix.samplers.neal5 import Neal5
from privmix.samplers.neal8 import Neal8
from privmix.samplers.slice import Slice
from privmix.samplers.split_merge import SplitMerge

__all__ = ["Auto", "Binned", "Neal2", "Neal3", "Neal5", "Neal8", "Sampler", "Slice", "SplitMerge"]
