"""The posterior: draws of the mixing measure, and what is read off them."""

from privmix.posterior.check import Finding
from privmix.posterior.clusters import Clustering, CredibleBall
from privmix.posterior.informativeness import Informativeness
from privmix.posterior.posterior import Posterior
from privmix.posterior.storage import load

__all__ = ["Clustering", "CredibleBall", "Finding", "Informativeness", "Posterior", "load"]
