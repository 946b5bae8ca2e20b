"""The sampler on counts of very many records, and the steps that serve it alone."""

from privmix.samplers.lifted.sampler import Lifted

__all__ = ["Lifted"]
