"""What an estimate of the clusters costs: 500 records, 4 chains of 1,000 draws, three levels of noise.

Run by ``python -m benchmarks.clusters``; compilation is not counted.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.__main__ import section_4_1


def main() -> None:
    print("CPU-seconds of an estimate for 500 records in 4,000 draws (goal at most 30)")
    for epsilon in (2.0, 10.0, 50.0):
        model, z = section_4_1(500, epsilon)
        posterior = model.sample(z, draws=1000, warmup=500, chains=4, seed=1, thin=3)
        for loss in ("vi", "binder"):
            posterior.clustering(loss, runs=0, visited=1)  # compiles
            start = time.process_time()
            found = posterior.clustering(loss)
            spent = time.process_time() - start
            seen = f"{float(np.mean(posterior.n_clusters)):.1f} in a draw"
            print(f"  ε = {epsilon:>4g}, {loss:6}: {spent:5.1f} s, {found.n_clusters} clusters ({seen})")


if __name__ == "__main__":
    main()
