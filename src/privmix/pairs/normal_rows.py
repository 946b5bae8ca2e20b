"""Normal components of several columns under normal noise: g = N(μ, Σ + C) of the entries that are there.

Entries that are missing are integrated out by the submatrix of the others. The factor of Σ + C stays with the atom,
under the name of the entries that it is of, so that it is made once an atom where all records have one noise.
"""

from __future__ import annotations

import math

from privmix.jit import slot
from privmix.kernels.normal_rows import draw_row, height_place, kept_place, pair_place, scratch_place
from privmix.numerics.triangles import at, factor, log_diagonal, solve_transposed


@slot
def noise_entry(mechanism, theta, i, j):
    """Return an entry of the covariance of the noise, j ≤ i."""


@slot
def draw_noise(mechanism, rng, theta, noise, i):
    """Draw entry i of the noise given those before it."""


@slot
def is_lasting(mechanism):
    """Return whether the noise is the same for the next record, so that its factor may be kept."""


def log_g(mechanism, kernel, z, theta):
    """Return log N(z_o | μ_o, Σ_oo + C_oo) over the entries o that are there; 0 where there are none."""
    d = len(kernel.mean)
    keep_factor(mechanism, z, theta, d)
    root, whitened = theta[pair_place(d) : height_place(d)], theta[scratch_place(d, 0) : scratch_place(d, 1)]
    total, row = 0.0, 0
    for i in range(d):
        if z[i] == z[i]:
            whiten_entry(root, whitened, row, z[i] - theta[i])
            total += whitened[row] * whitened[row]
            row += 1
    return theta[height_place(d) + 1] - 0.5 * total


def sample(mechanism, kernel, rng, z, theta, out):
    """Draw Y given z: a draw (y, e) of records and noise, moved by Σ_·o (Σ_oo + C_oo)⁻¹ (z − y − e)_o."""
    d = len(kernel.mean)
    keep_factor(mechanism, z, theta, d)
    root, whitened = theta[pair_place(d) : height_place(d)], theta[scratch_place(d, 0) : scratch_place(d, 1)]
    noise = theta[scratch_place(d, 1) : scratch_place(d, 2)]
    draw_row(rng, theta, out, d)
    row = 0
    for i in range(d):
        noise[i] = draw_noise(mechanism, rng, theta, noise, i)
        if z[i] == z[i]:
            whiten_entry(root, whitened, row, z[i] - out[i] - noise[i])
            row += 1
    solve_transposed(root, whitened, row)
    for i in range(d):
        row = 0
        for j in range(d):
            if z[j] == z[j]:
                out[i] += theta[d + at(max(i, j), min(i, j))] * whitened[row]
                row += 1


def whiten_entry(root, whitened, row, value):
    """Write the next entry of the solution of root·u = values."""
    for c in range(row):
        value -= root[at(row, c)] * whitened[c]
    whitened[row] = value / root[at(row, row)]


def keep_factor(mechanism, z, theta, d):
    """Make the Cholesky factor of Σ_oo + C_oo and its log height, unless the atom has those of the same entries."""
    name, power = 1.0, 2.0
    for i in range(d):
        name += power if z[i] == z[i] else 0.0
        power *= 2.0
    if theta[kept_place(d)] == name and is_lasting(mechanism):
        return
    root, row = theta[pair_place(d) : height_place(d)], 0
    for i in range(d):
        if z[i] == z[i]:
            column = 0
            for j in range(i + 1):
                if z[j] == z[j]:
                    root[at(row, column)] = theta[d + at(i, j)] + noise_entry(mechanism, theta, i, j)
                    column += 1
            row += 1
    factor(root, row)
    theta[height_place(d) + 1] = -log_diagonal(root, row) - 0.5 * row * math.log(2.0 * math.pi)
    theta[kept_place(d)] = name
