"""Fits to report on, small and quick."""

import numpy as np
import pytest

import privmix
from privmix import mechanisms

BOUNDS = (-10.0, 10.0)
RUN = {"draws": 120, "warmup": 60, "thin": 1, "chains": 2, "seed": 1}


def released(mechanism, n=40):
    y = np.random.default_rng(1).choice([-4.0, 4.0], n)
    return mechanism.privatize(y, seed=2)


@pytest.fixture(scope="session")
def posterior():
    mechanism = mechanisms.Laplace(epsilon=10.0, bounds=BOUNDS)
    return privmix.fit(released(mechanism), mechanism, **RUN)


@pytest.fixture(scope="session")
def counts():
    mechanism = mechanisms.NoisyHistogram(40, bins=8, epsilon=1.0, bounds=BOUNDS)
    return privmix.fit(released(mechanism), mechanism, **RUN)


@pytest.fixture(scope="session")
def page(posterior):
    from privmix.report import render

    return render(posterior, level=0.9, informativeness=False, title="A <b>survey</b> & more")
