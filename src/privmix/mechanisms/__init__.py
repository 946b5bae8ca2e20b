"""Mechanisms: the channel Q(z|y) from confidential records to what is released."""

from privmix.mechanisms.base import LocalMechanism, Mechanism
from privmix.mechanisms.gaussian import Gaussian
from privmix.mechanisms.global_mechanism import GlobalMechanism
from privmix.mechanisms.haar import HaarWavelet
from privmix.mechanisms.histogram import Histogram
from privmix.mechanisms.identity import Identity
from privmix.mechanisms.laplace import Laplace
from privmix.mechanisms.noisy_histogram import NoisyHistogram
from privmix.mechanisms.randomized_response import RandomizedResponse
from privmix.mechanisms.smoothed_histogram import SmoothedHistogram
from privmix.mechanisms.square_wave import SquareWave

__all__ = [
    "Gaussian",
    "GlobalMechanism",
    "HaarWavelet",
    "Histogram",
    "Identity",
    "Laplace",
    "LocalMechanism",
    "Mechanism",
    "NoisyHistogram",
    "RandomizedResponse",
    "SmoothedHistogram",
    "SquareWave",
]
