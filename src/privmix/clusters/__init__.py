"""Clusters of the records: similarity, estimates by expected loss, credible balls, and clusters of new records."""

from privmix.clusters.ball import CredibleBall
from privmix.clusters.estimate import Clustering

__all__ = ["Clustering", "CredibleBall"]
