"""The stiff combinations of the bins' probabilities, tabulated over atoms: cubic splines that define a coordinate.

Of p the counts know a few combinations to within 1/√n and the others not at all. With J the slopes of p in all sticks
and atoms, in units √(p/n), the stiff ones are the leading eigenvectors of the mean of J'J over places that the chain
has visited. `direction` holds them, weighted: t(θ) = direction' F(θ), tabulated over (location, log size). Whatever the
table says, trajectories are exact: it only says along what they are held.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from privmix.kernels.slots import prepare
from privmix.samplers.binned.mixture import fill_row
from privmix.samplers.lifted.coordinates import SIZE_UNIT, write_atom

# What the table covers, in units of a place: locations to six times the bounds' width on either side of their middle,
# standard deviations from 1/1000 of it to a hundred times as much, since components that are cut at the bounds are
# nearly uniform only if they are far wider: a million records tell a tilt of one in a thousand. Beyond the table the
# nearest value stands, and steps become short.
FARTHEST_LOCATION = 120.0
LEAST_SIZE, LARGEST_SIZE = 2.0 * math.log(0.02) / SIZE_UNIT, 2.0 * math.log(2000.0) / SIZE_UNIT
# Points are equally spaced in asinh(location/BEND): close where the bounds are, further and further apart beyond.
BEND = 8.0
FARTHEST = math.asinh(FARTHEST_LOCATION / BEND)
# Coefficients beyond each side of the grid, which cubic splines reach.
MARGIN = 2
# A combination whose eigenvalue is below this is not stiff: the prior knows as much of it as the counts do.
LEAST_STIFFNESS = 0.1
# How far a step may turn a coordinate that is drawn to where the counts put it, in radians: one with a larger
# eigenvalue is held there instead. With .8 steps were five times as short in the hardest case: what turns far shortens
# them, and with short steps little is held.
LARGEST_TURN = 0.25
# Records expected in a bin, below which its probability is not known any better.
LEAST_RECORDS = 1e-3


def tabulate(parts, data, state):
    """Write t(θ) at every point of the grid; where there is room, the probabilities of bins alone (compiled)."""
    locations, sizes = state.table_of.shape[0] - 2 * MARGIN, state.table_of.shape[1] - 2 * MARGIN
    theta = state.scratch[0]
    for i in range(locations):
        location = BEND * math.sinh(FARTHEST * (2.0 * i / (locations - 1) - 1.0))
        for j in range(sizes):
            write_atom(state, location, LEAST_SIZE + (LARGEST_SIZE - LEAST_SIZE) * j / (sizes - 1), theta)
            prepare(parts.kernel, theta)
            fill_row(parts, data, state, theta, state.fresh)
            if len(state.rows) == 0:
                combine(state, state.fresh, state.table_of[MARGIN + i, MARGIN + j])
            else:
                for b in range(len(state.fresh)):
                    state.rows[i * sizes + j, b] = state.fresh[b]


def combine(state, row, out):
    """Write the stiff combinations of a row of probabilities."""
    for q in range(len(out)):
        out[q] = 0.0
    for b in range(len(row)):
        for q in range(len(out)):
            out[q] += row[b] * state.direction[b, q]


def combined(rows: np.ndarray, direction: np.ndarray, table: np.ndarray) -> None:
    """Write t(θ) at every point of the grid, from the probabilities of bins there."""
    sizes = table.shape[1] - 2 * MARGIN
    for i in range(len(rows) // sizes):
        table[MARGIN + i, MARGIN:-MARGIN] = rows[i * sizes : (i + 1) * sizes] @ direction


def filtered(table: np.ndarray) -> np.ndarray:
    """Return the coefficients of the spline through the values of a grid, with those beyond its sides."""
    from scipy import ndimage  # here: nothing else of the library needs it

    inside = table[MARGIN:-MARGIN, MARGIN:-MARGIN]
    for axis in (0, 1):
        inside = ndimage.spline_filter1d(inside, 3, axis, mode="mirror")
    return np.ascontiguousarray(np.pad(inside, ((MARGIN, MARGIN), (MARGIN, MARGIN), (0, 0)), mode="reflect"))


def find_directions(state: Any, most: int, step: float) -> tuple[dict[str, np.ndarray], int]:
    """Return the stiff directions and the middle of the stiff coordinates; and how many of them steps cannot follow."""
    n = float(state.counts.sum())
    seen = float(state.moment_count[0])
    middle = np.maximum(state.mean_chance / seen, LEAST_RECORDS / n)
    weight = np.sqrt(n / middle)
    moment = np.nan_to_num(weight[:, None] * (state.moment / seen) * weight, posinf=0.0, neginf=0.0)
    values, vectors = np.linalg.eigh(moment)
    stiff = min(max(int(np.count_nonzero(values > LEAST_STIFFNESS)), 1), most)
    direction = np.ascontiguousarray(vectors[:, ::-1][:, :stiff] * weight[:, None])
    held = min(max(int(np.count_nonzero(values > (LARGEST_TURN / step) ** 2)), 1), stiff)
    return {"direction": direction, "centre": middle @ direction}, held


def spline_weights(place, first, last, points, basis):
    """Write values, slopes and curvatures of the four cubic B-splines that reach a place; return the first of them.

    Beyond the grid the value is that at its end, and slope and curvature are 0.
    """
    per = (points - 1) / (last - first)
    u = (place - first) * per
    inside = 0.0 < u < points - 1.0
    u = min(max(u, 0.0), points - 1.0)
    i = min(int(u), points - 2)
    t = u - i
    s = 1.0 - t
    basis[0, 0], basis[0, 3] = s * s * s / 6.0, t * t * t / 6.0
    basis[0, 1], basis[0, 2] = (
        (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0,
        (4.0 - 6.0 * s * s + 3.0 * s * s * s) / 6.0,
    )
    one, two = (per, per * per) if inside else (0.0, 0.0)
    basis[1, 0], basis[1, 3] = -0.5 * s * s * one, 0.5 * t * t * one
    basis[1, 1], basis[1, 2] = (1.5 * t * t - 2.0 * t) * one, (2.0 * s - 1.5 * s * s) * one
    basis[2, 0], basis[2, 3] = s * two, t * two
    basis[2, 1], basis[2, 2] = (3.0 * t - 2.0) * two, (3.0 * s - 2.0) * two
    return i + MARGIN - 1


def unbend(location, basis):
    """Turn slopes and curvatures in asinh(location/BEND) into those in the location."""
    slope = 1.0 / math.sqrt(location * location + BEND * BEND)
    curvature = -location * slope * slope * slope
    for a in range(4):
        basis[2, a] = slope * slope * basis[2, a] + curvature * basis[1, a]
        basis[1, a] *= slope


def look_up(state, location, size, out, bent):
    """Write t, its two slopes in location and size, and, of so many of its first entries, three second derivatives."""
    table = state.table_of
    locations, sizes = table.shape[0] - 2 * MARGIN, table.shape[1] - 2 * MARGIN
    first = spline_weights(math.asinh(location / BEND), -FARTHEST, FARTHEST, locations, state.basis[0])
    unbend(location, state.basis[0])
    second = spline_weights(size, LEAST_SIZE, LARGEST_SIZE, sizes, state.basis[1])
    for k in range(out.shape[0]):
        for q in range(out.shape[1]):
            out[k, q] = 0.0
    for a in range(4):
        add_terms(table[first + a], second, state.basis[0, :, a], state.basis[1], out, bent)


def add_terms(row, start, weight, basis, out, bent):
    """Add what four coefficients next to one another in size give, with weights of one location.

    One loop for all of it, since most of short loops is their beginning.
    """
    one, two, three, four = row[start], row[start + 1], row[start + 2], row[start + 3]
    a, b, c, d = basis[0, 0], basis[0, 1], basis[0, 2], basis[0, 3]
    e, f, g, h = basis[1, 0], basis[1, 1], basis[1, 2], basis[1, 3]
    i, j, k, m = basis[2, 0], basis[2, 1], basis[2, 2], basis[2, 3]
    plain, slope, bend = weight[0], weight[1], weight[2]
    for q in range(bent):
        w, x, y, z = one[q], two[q], three[q], four[q]
        value = (a * w + b * x) + (c * y + d * z)
        in_size = (e * w + f * x) + (g * y + h * z)
        out[0, q] += plain * value
        out[1, q] += slope * value
        out[2, q] += plain * in_size
        out[3, q] += bend * value
        out[4, q] += slope * in_size
        out[5, q] += plain * ((i * w + j * x) + (k * y + m * z))
    for q in range(bent, out.shape[1]):
        w, x, y, z = one[q], two[q], three[q], four[q]
        value = (a * w + b * x) + (c * y + d * z)
        out[0, q] += plain * value
        out[1, q] += slope * value
        out[2, q] += plain * ((e * w + f * x) + (g * y + h * z))


def add_look_up(state, location, size, weight, out):
    """Add t at an atom, times a weight."""
    table, basis = state.table_of, state.basis[1, 0]
    locations, sizes = table.shape[0] - 2 * MARGIN, table.shape[1] - 2 * MARGIN
    first = spline_weights(math.asinh(location / BEND), -FARTHEST, FARTHEST, locations, state.basis[0])
    second = spline_weights(size, LEAST_SIZE, LARGEST_SIZE, sizes, state.basis[1])
    for a in range(4):
        row, plain = table[first + a], weight * state.basis[0, 0, a]
        one, two, three, four = row[second], row[second + 1], row[second + 2], row[second + 3]
        b, c, d, e = plain * basis[0], plain * basis[1], plain * basis[2], plain * basis[3]
        for q in range(len(out)):
            out[q] += (b * one[q] + c * two[q]) + (d * three[q] + e * four[q])
