"""Chains on other executors than threads: a Dask cluster that loses a worker, and loky's processes."""

import signal
import threading
import time

import numpy as np
import pytest

from privmix import PrivateMixture, mechanisms, samplers
from processes import dask_cluster

MECHANISM = mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))
MODEL = PrivateMixture(MECHANISM)
Z = MECHANISM.privatize(np.linspace(-9.0, 9.0, 40), seed=1)
# Some seconds a chain, so that a worker is lost in the middle of one.
SETTINGS = {"sampler": samplers.Neal5(), "draws": 50, "warmup": 400_000, "thin": 1, "chains": 3, "seed": 7}


def assert_same_draws(one, other):
    for group in ("posterior", "sample_stats"):
        assert one.datatree[group].to_dataset().equals(other.datatree[group].to_dataset())


def kill_when_busy(client, worker):
    """Kill a worker half a second after each of them was given a chain."""
    while not all(client.processing().values()):
        time.sleep(0.05)
    time.sleep(0.5)
    worker.send_signal(signal.SIGKILL)


@pytest.mark.long
def test_chains_on_a_cluster_that_loses_a_worker_are_those_of_threads(tmp_path):
    distributed = pytest.importorskip("distributed")
    with dask_cluster(tmp_path) as (address, workers), distributed.Client(address) as client:
        client.wait_for_workers(2)
        killer = threading.Thread(target=kill_when_busy, args=(client, workers[0]), daemon=True)
        killer.start()
        found = MODEL.sample(Z, executor=client.get_executor(), **SETTINGS)
        killer.join(timeout=1.0)
        assert not killer.is_alive(), "the chains ended before a worker was killed"
        assert len(client.scheduler_info()["workers"]) == 1
    assert_same_draws(found, MODEL.sample(Z, **SETTINGS))


def test_chains_in_processes_of_loky_are_those_of_threads():
    loky = pytest.importorskip("joblib.externals.loky")
    settings = {**SETTINGS, "warmup": 20}
    with loky.ProcessPoolExecutor(2) as pool:
        found = MODEL.sample(Z, executor=pool, **settings)
    assert_same_draws(found, MODEL.sample(Z, **settings))
