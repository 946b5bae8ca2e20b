"""Counting where the data are: seconds and peak memory, each case in a process of its own.

`python -m benchmarks.counting duckdb polars parquet dask` runs the cases named, `--rows` of them. The first two make
their records inside the engine, the third writes ten Parquet files into a temporary folder and runs `privmix fit` on
them, the fourth kills one of two workers of a Dask cluster while they count.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import privmix
from privmix.mechanisms import Counted

MECHANISM = privmix.mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))
SCALE = MECHANISM.scale


def duckdb_frame(rows, threads=2):
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads={threads}")
    connection.execute("SELECT setseed(0.5)").fetchall()
    noise = f"{SCALE} * (ln(random() + 1e-300) - ln(random() + 1e-300))"
    centre = "CASE WHEN random() < 0.7 THEN -3.0 ELSE 4.0 END"
    return connection.sql(f"SELECT {centre} + sqrt(-2.0 * ln(1.0 - random())) * cos(2.0 * pi() * random()) + {noise} "
                          f"AS z FROM range({rows})")  # fmt: skip


def polars_frame(rows):
    import polars as pl

    few = pl.LazyFrame({"i": np.arange(rows // 100_000)})
    pair = few.join(pl.LazyFrame({"j": np.arange(100_000)}), how="cross")
    number = pl.col("i") * 100_000 + pl.col("j")

    def uniform(seed):
        return (number.hash(seed).cast(pl.Float64) + 0.5) / 2.0**64

    noise = SCALE * (uniform(1).log() - uniform(2).log())
    centre = pl.when(uniform(3) < 0.7).then(-3.0).otherwise(4.0)
    return pair.select(z=centre + (-2.0 * uniform(4).log()).sqrt() * (2.0 * np.pi * uniform(5)).cos() + noise)


def count_inside(frame, rows):
    began = time.perf_counter()
    release = privmix.count(frame, "z", MECHANISM)
    seconds = time.perf_counter() - began
    assert release.records == rows
    middle = np.average(release.mechanism.places, weights=release.counts)
    print(f"{rows:,} records in {len(release.counts)} bins: {seconds:.1f} s, mean {middle:.4f}")


def parquet(rows, files=10):
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        for k in range(files):
            rng = np.random.default_rng(k)
            y = np.where(rng.random(rows // files) < 0.7, -3.0, 4.0) + rng.standard_normal(rows // files)
            z = MECHANISM.perturb(rng, y)
            pq.write_table(pa.table({"z": z, "day": np.full(len(z), k, np.int8)}), Path(folder, f"{k}.parquet"))
        names = sorted(map(str, Path(folder).glob("*.parquet")))
        print(f"{sum(os.path.getsize(name) for name in names) / 2**20:.0f} MB in {files} files")
        told = ["--column", "z", "--mechanism", "laplace", "--epsilon", "10", "--bounds", "-10", "10"]
        line = [sys.executable, "-m", "privmix", "fit", *names, *told, "-o", f"{folder}/fit.nc", "--seed", "1"]
        began = time.perf_counter()
        subprocess.run([*line, "--draws", "500"], check=True)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
        print(f"from command to density: {time.perf_counter() - began:.1f} s, peak {peak:.0f} MB")


def partition(k, size=500_000):
    import pandas as pd

    time.sleep(0.2)
    return pd.DataFrame({"z": np.random.default_rng(k).laplace(0.0, 3.0, size)})


def dask(rows, size=500_000):
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    pieces = max(1, rows // size)
    expected = sum(Counted(MECHANISM).count(np.random.default_rng(k).laplace(0.0, 3.0, size)) for k in range(pieces))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        frame = dd.from_map(partition, range(pieces), meta={"z": float})
        victim = next(iter(client.run(os.getpid).values()))
        threading.Timer(2.0, os.kill, (victim, signal.SIGKILL)).start()
        began = time.perf_counter()
        counts = privmix.count(frame, "z", MECHANISM).counts
        seconds, workers = time.perf_counter() - began, set(client.run(os.getpid).values())
    assert seconds > 2.0
    assert victim not in workers
    print(
        f"{pieces} pieces, worker {victim} killed after 2 s: {seconds:.1f} s, equal: {np.array_equal(counts, expected)}"
    )


CASES = {
    "duckdb": lambda rows: count_inside(duckdb_frame(rows), rows),
    "polars": lambda rows: count_inside(polars_frame(rows), rows),
    "parquet": parquet,
    "dask": dask,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--rows", type=float, default=1e8)
    parser.add_argument("--here", action="store_true", help="run in this process")
    told = parser.parse_args()
    for case in told.cases:
        if told.here:
            CASES[case](int(told.rows))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
            print(f"{case}: peak {peak:.0f} MB, {resource.getrusage(resource.RUSAGE_SELF).ru_utime:.0f} CPU s")
        else:
            subprocess.run(
                [sys.executable, "-m", "benchmarks.counting", case, "--rows", str(told.rows), "--here"], check=True
            )


if __name__ == "__main__":
    main()
