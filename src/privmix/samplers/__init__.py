"""Samplers: Markov chains whose stationary law is the posterior."""

from privmix.samplers.auto import Auto as Auto
from privmix.samplers.base import Sampler as Sampler
from privmix.samplers.binned import Binned as Binned
from privmix.samplers.lifted import Lifted as Lifted
from privmix.samplers.neal2 import Neal2 as Neal2
from privmix.samplers.neal3 import Neal3 as Neal3
from privmix.samplers.neal5 import Neal5 as Neal5
from privmix.samplers.neal8 import Neal8 as Neal8
from privmix.samplers.slice import Slice as Slice
from privmix.samplers.split_merge import SplitMerge as SplitMerge

# One line above exports a part: `X as X` says so to type checkers, and this to everything else.
__all__ = sorted(name for name, value in globals().items() if isinstance(value, type))
