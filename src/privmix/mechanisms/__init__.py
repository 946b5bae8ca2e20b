"""Mechanisms: the channel Q(z|y) from a confidential record to what is released."""

from privmix.mechanisms.base import LocalMechanism
from privmix.mechanisms.gaussian import Gaussian
from privmix.mechanisms.haar import HaarWavelet
from privmix.mechanisms.identity import Identity
from privmix.mechanisms.laplace import Laplace
from privmix.mechanisms.randomized_response import RandomizedResponse
from privmix.mechanisms.square_wave import SquareWave

__all__ = ["Gaussian", "HaarWavelet", "Identity", "Laplace", "LocalMechanism", "RandomizedResponse", "SquareWave"]
