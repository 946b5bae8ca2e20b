"""The posterior: draws of the mixing measure, and what is read off them."""

from privmix.posterior.posterior import Posterior
from privmix.posterior.storage import load

__all__ = ["Posterior", "load"]
