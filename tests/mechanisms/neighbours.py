"""Pairs of small neighbouring data sets, by brute force."""

from itertools import product

import numpy as np

#: records, bins and bounds of a data set that meets every case that the proofs of histograms distinguish
N, M, UNIT = 4, 3, (0.0, 1.0)


def neighbours():
    """Return the counts of all pairs of data sets of N records in M bins that differ in one record."""
    pairs = set()
    for data in product(range(M), repeat=N):
        for i, new in product(range(N), range(M)):
            moved = (*data[:i], new, *data[i + 1 :])
            pairs.add(tuple(tuple(np.bincount(d, minlength=M).tolist()) for d in (data, moved)))
    return {(c, d) for c, d in pairs if c != d}
