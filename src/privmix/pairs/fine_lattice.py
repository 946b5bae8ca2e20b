"""Discrete noise on a lattice of very many points, taken for noise on the line: g of the pair that is known there.

A probability on the lattice is the density on the line times the step, but for where in its cell a record is: see
`DiscreteLaplace` and `DiscreteGaussian` for the largest error.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from privmix.jit import slot
from privmix.kernels import Kernel
from privmix.mechanisms.lattice_noise import LatticeNoise
from privmix.pairs.base import Convolution


@slot
def line_log_g(mechanism, kernel, z, theta):
    """Return log g of noise on the line."""


def log_g(mechanism, kernel, z, theta):
    """Return the log probability of a released multiple of the step."""
    return line_log_g(mechanism, kernel, z, theta) + math.log(mechanism.step)


def fine_lattice_convolution(mechanism: Any, kernel: Kernel, known: Any) -> Convolution | None:
    """Return the convolution of noise on a fine lattice; None where the lattice is not fine or nothing is known.

    Parameters
    ----------
    mechanism, kernel
        The parts.
    known
        A function that returns the convolution of another mechanism with the kernel, or None.
    """
    if not isinstance(mechanism, LatticeNoise) or not mechanism.is_fine:
        return None
    line = known(mechanism.on_the_line(), kernel)
    if line is None:
        return None
    return replace(line, name=f"{line.name}, fine lattice", log_g=log_g, extra={**line.extra, line_log_g: line.log_g})
