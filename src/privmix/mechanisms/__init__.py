"""Mechanisms: the channel Q(z|y) from a confidential record to what is released."""

from privmix.mechanisms.base import LocalMechanism
from privmix.mechanisms.laplace import Laplace

__all__ = ["Laplace", "LocalMechanism"]
