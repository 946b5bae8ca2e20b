"""Mechanisms: the channel Q(z|y) from confidential records to what is released."""

from privmix.mechanisms.base import Mechanism as Mechanism
from privmix.mechanisms.clipped import Clipped as Clipped
from privmix.mechanisms.clipped import ClippedRecords as ClippedRecords
from privmix.mechanisms.counted import Counted as Counted
from privmix.mechanisms.counted_classes import CountedClasses as CountedClasses
from privmix.mechanisms.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
from privmix.mechanisms.discrete_laplace import DiscreteLaplace as DiscreteLaplace
from privmix.mechanisms.duchi import Duchi as Duchi
from privmix.mechanisms.each import Each as Each
from privmix.mechanisms.gaussian import Gaussian as Gaussian
from privmix.mechanisms.global_mechanism import GlobalMechanism as GlobalMechanism
from privmix.mechanisms.haar import HaarWavelet as HaarWavelet
from privmix.mechanisms.histogram import Histogram as Histogram
from privmix.mechanisms.identity import Identity as Identity
from privmix.mechanisms.laplace import Laplace as Laplace
from privmix.mechanisms.lattice import OnLattice as OnLattice
from privmix.mechanisms.local import LocalMechanism as LocalMechanism
from privmix.mechanisms.noisy_histogram import NoisyHistogram as NoisyHistogram
from privmix.mechanisms.noisy_table import NoisyTable as NoisyTable
from privmix.mechanisms.piecewise import Piecewise as Piecewise
from privmix.mechanisms.processed_counts import ProcessedCounts as ProcessedCounts
from privmix.mechanisms.processed_records import ProcessedRecords as ProcessedRecords
from privmix.mechanisms.processed_table import ProcessedTable as ProcessedTable
from privmix.mechanisms.published import Clamped as Clamped
from privmix.mechanisms.published import Rounded as Rounded
from privmix.mechanisms.published import Withheld as Withheld
from privmix.mechanisms.randomized_response import RandomizedResponse as RandomizedResponse
from privmix.mechanisms.smoothed_histogram import SmoothedHistogram as SmoothedHistogram
from privmix.mechanisms.square_wave import SquareWave as SquareWave
from privmix.mechanisms.staircase import Staircase as Staircase
from privmix.mechanisms.subset_selection import SubsetSelection as SubsetSelection
from privmix.mechanisms.tables import Tables as Tables
from privmix.mechanisms.tables import Tree as Tree
from privmix.mechanisms.unary_encoding import UnaryEncoding as UnaryEncoding
from privmix.mechanisms.vector_gaussian import VectorGaussian as VectorGaussian
from privmix.mechanisms.vector_laplace import VectorLaplace as VectorLaplace
from privmix.mechanisms.visible_records import VisibleRecords as VisibleRecords


def __getattr__(name: str) -> type:
    if name == "RandomisedResponse":  # the other spelling
        return RandomizedResponse
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# One line above exports a part: `X as X` says so to type checkers, and this to everything else.
__all__ = sorted(name for name, value in globals().items() if callable(value) and name[0].isupper())
