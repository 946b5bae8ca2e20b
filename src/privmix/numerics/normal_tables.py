"""Tails of the normal distribution by tables of polynomials: a third of the time of an exponential and a fraction.

For closed forms that are evaluated for every record. Which of a tail's usual forms is right depends on the record, so
that a processor cannot foresee it; here all records take one path.
"""

from __future__ import annotations

import math

import numpy as np

from privmix.jit import inline
from privmix.numerics.normal_tails import ROOT_HALF, ROOT_TWO_PI, erfcx_positive

# The tables reach so far either way: beyond it Φ(u) is 1 to 1e-17.
REACH = 8.5
# Polynomials on a unit interval, and their degree: with these the error is that of rounding.
PIECES, DEGREE = 16, 7
# Terms of the Taylor series that they are made from: the rest is below 1e-19 of the first.
TERMS = 18


def shortened(series: np.ndarray) -> np.ndarray:
    """Return a polynomial for each piece, highest power first, in the distance from its middle.

    Given is a Taylor series for each, of which the last Chebyshev terms on the piece are left out.
    """
    chebyshev = np.polynomial.chebyshev
    scale = (0.5 / PIECES) ** np.arange(TERMS + 1.0)
    kept = [chebyshev.cheb2poly(chebyshev.poly2cheb(row)[: DEGREE + 1]) for row in np.diag(scale)]
    matrix = np.array([np.pad(row, (0, DEGREE + 1 - len(row))) for row in kept]) / scale[: DEGREE + 1]
    return np.ascontiguousarray((series.T @ matrix)[:, ::-1])


def tail_polynomials() -> np.ndarray:
    """Return polynomials of Φ(−u), u from 0 on: its derivatives are φ times Hermite's polynomials."""
    u = (np.arange(REACH * PIECES) + 0.5) / PIECES
    series = [np.array([0.5 * math.erfc(x * ROOT_HALF) for x in u]), -np.exp(-0.5 * u * u) / ROOT_TWO_PI]
    for k in range(1, TERMS):
        series.append(-(u * series[k] + (series[k - 1] * (k - 1.0) / k if k > 1 else 0.0)) / (k + 1.0))
    return shortened(np.array(series))


def log_polynomials() -> np.ndarray:
    """Return polynomials of log Φ(u), with u²/2 added below 0 so that the sum stays small.

    The derivative r = φ/Φ has r' = −r(u + r), which is a recurrence for the Taylor coefficients at any point.
    """
    u = (np.arange(-REACH * PIECES, REACH * PIECES) + 0.5) / PIECES
    below, fall = u < 0.0, np.exp(-0.5 * u * u)
    tail = np.array([0.5 * erfcx_positive(abs(x) * ROOT_HALF) for x in u])  # e^{u²/2} Φ(−|u|)
    slope = [np.where(below, 1.0 / tail, fall / (1.0 - fall * tail)) / ROOT_TWO_PI]
    for k in range(TERMS - 1):
        squared = sum(slope[j] * slope[k - j] for j in range(k + 1))
        slope.append(-(u * slope[k] + (slope[k - 1] if k else 0.0) + squared) / (k + 1.0))
    series = [np.where(below, np.log(tail), np.log1p(-fall * tail)), *(r / (k + 1.0) for k, r in enumerate(slope))]
    series[1] = series[1] + np.where(below, u, 0.0)
    series[2] = series[2] + np.where(below, 0.5, 0.0)
    return shortened(np.array(series))


TAIL_TABLE, LOG_TABLE = tail_polynomials(), log_polynomials()


@inline
def evaluate(table, place):
    """Return the polynomial of a piece at a place, counted in pieces; by pairs, which wait less for one another."""
    piece = int(place)
    t, row = (place - piece - 0.5) / PIECES, table[piece]
    square = t * t
    high = (row[0] * t + row[1]) * square + (row[2] * t + row[3])
    low = (row[4] * t + row[5]) * square + (row[6] * t + row[7])
    return high * (square * square) + low


@inline
def tail_from_table(u):
    """Return Φ(−u) for 0 ≤ u < REACH, to 1e-16."""
    return evaluate(TAIL_TABLE, u * PIECES)


@inline
def log_scaled_cdf(u):
    """Return log Φ(u), and u²/2 more where u is below 0, for |u| < REACH, to 1e-15."""
    return evaluate(LOG_TABLE, (u + REACH) * PIECES)
