"""Example instances of everything that `privmix.mechanisms` exports."""

import numpy as np

from privmix import mechanisms
from privmix.mechanisms import Gaussian, HaarWavelet, Identity, Laplace, RandomizedResponse, SquareWave

BASES = {"GlobalMechanism", "Histogram", "LocalMechanism", "Mechanism"}
BOUNDS = (-3.0, 5.0)

EXAMPLES = {
    "Gaussian": [
        Gaussian(epsilon=2.0, delta=0.01, bounds=BOUNDS),
        Gaussian(rho=0.5, bounds=BOUNDS),
        Gaussian(scale=1.5),
        Gaussian(scale=1.5, bounds=BOUNDS),
    ],
    "HaarWavelet": [
        HaarWavelet(epsilon=1.0),
        HaarWavelet(levels=0, epsilon=4.0, bounds=BOUNDS),
        HaarWavelet(levels=2, scale=0.7, bounds=BOUNDS),
        HaarWavelet(levels=1, epsilon=2.0, calibration="butucea"),
    ],
    "Identity": [Identity(), Identity(bounds=BOUNDS)],
    "Laplace": [
        Laplace(epsilon=2.0, bounds=BOUNDS),
        Laplace(rho=0.5, bounds=BOUNDS),
        Laplace(scale=1.5),
        Laplace(scale=1.5, bounds=BOUNDS),
    ],
    "RandomizedResponse": [
        RandomizedResponse(cells=5, epsilon=2.0, bounds=BOUNDS),
        RandomizedResponse(cells=2, truth=0.6, bounds=BOUNDS),
    ],
    "SquareWave": [
        SquareWave(epsilon=2.0, bounds=BOUNDS),
        SquareWave(epsilon=2.0, bounds=BOUNDS, half_width=0.1),
    ],
}
#: outputs that are discrete, or a density with jumps: quadrature on panels cannot integrate them (test_cells.py does)
JUMPS = (RandomizedResponse, SquareWave)
#: mechanisms with a parameter for each of these many records
RECORDS = 4
PER_RECORD = [
    Laplace(scale=np.array([0.5, 1.0, 2.0, 8.0])),
    Laplace(epsilon=np.array([0.5, 1.0, 2.0, 8.0]), bounds=BOUNDS),
    Laplace(rho=np.array([0.5, 1.0, 2.0, 8.0]), bounds=BOUNDS),
    Gaussian(scale=np.array([0.5, 1.0, 2.0, 8.0])),
    Gaussian(rho=np.array([0.5, 1.0, 2.0, 8.0]), bounds=BOUNDS),
    Gaussian(epsilon=np.array([0.5, 1.0, 2.0, 8.0]), delta=0.01, bounds=BOUNDS),
]

ALL = [mechanism for name in mechanisms.__all__ for mechanism in EXAMPLES.get(name, [])]
SCALAR_NOISE = [m for m in ALL if m.row_length is None and not m.reveals and not isinstance(m, JUMPS)]


def inputs(mechanism, n=5):
    """Return records inside the bounds, both ends among them."""
    return np.linspace(*(mechanism.bounds or BOUNDS), n)


def short(mechanism):
    """Return a name for test ids: the class and what was given."""
    names = ("levels", "epsilon", "delta", "rho", "bounds", "calibration")
    given = [name for name in names if getattr(mechanism, name, None) is not None]
    return "-".join([type(mechanism).__name__, *given])
