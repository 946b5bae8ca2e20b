"""The sampler on counts, and the steps that serve it alone."""

from privmix.samplers.binned.sampler import Binned

__all__ = ["Binned"]
