"""Clusters of the records: similarity, estimates by expected loss, credible balls, and clusters of new records."""

from privmix.posterior.clusters.ball import CredibleBall
from privmix.posterior.clusters.estimate import Clustering

__all__ = ["Clustering", "CredibleBall"]
