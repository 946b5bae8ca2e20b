"""The posterior: draws of the mixing measure, and what is read off them."""

from privmix.checks.check import Finding
from privmix.checks.informativeness import Informativeness
from privmix.clusters import Clustering, CredibleBall
from privmix.posterior.posterior import Posterior
from privmix.posterior.storage import load

__all__ = ["Clustering", "CredibleBall", "Finding", "Informativeness", "Posterior", "load"]
