"""Convolutions: g(z|θ) and Y given z for pairs of a mechanism and a kernel."""

from privmix.convolutions.base import Convolution, register
from privmix.convolutions.base import find_registered as find

__all__ = ["Convolution", "find", "register"]
