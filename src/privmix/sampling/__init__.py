"""From a request to a posterior: settings, seeds, the choice of a sampler, the run."""

from privmix.sampling.sample import fit

__all__ = ["fit"]
