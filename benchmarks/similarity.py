"""What the similarity matrix costs against a loop in NumPy, and the memory at its peak: n = 5,000, 2,000 draws.

Run by ``python -m benchmarks.similarity``. The loop is timed on a part of the draws: each costs it
the same.
"""

from __future__ import annotations

import resource
import time

import numpy as np

from privmix.clusters.partitions import canonical
from privmix.clusters.similarity import similarity_matrix

RECORDS, DRAWS, CLUSTERS, TIMED, ROUNDS = 5_000, 2_000, 12, 20, 3


def by_loop(labels: np.ndarray) -> np.ndarray:
    total = np.zeros((labels.shape[1], labels.shape[1]), np.int32)
    for row in labels:
        total += row[:, None] == row[None, :]
    return total


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, CLUSTERS, (DRAWS, RECORDS), dtype=np.int32)
    assert (similarity_matrix(canonical(labels[:7, :300])) * 7 == by_loop(labels[:7, :300])).all()
    similarity_matrix(canonical(labels[:2, :2500]))  # compiles single precision too
    before = peak_megabytes()
    ratios, ours = [], []
    for _ in range(ROUNDS):
        start = time.process_time()
        similarity_matrix(canonical(labels))
        ours.append(time.process_time() - start)
    after = peak_megabytes()
    for spent in ours:
        start = time.process_time()
        by_loop(labels[:TIMED])
        ratios.append((time.process_time() - start) * DRAWS / TIMED / spent)
    print(f"similarity of {RECORDS:,} records in {DRAWS:,} draws: {np.median(ours):.2f} CPU-seconds")
    print(f"  NumPy's loop over ours: {np.median(ratios):.0f}  (goal at least 10)")
    matrix = RECORDS**2 * 4 / 2**20
    print(f"  peak memory: {after:.0f} MB, {after - before:.0f} MB above the start; the matrix is {matrix:.0f} MB")


if __name__ == "__main__":
    main()
