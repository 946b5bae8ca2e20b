"""Records withheld without a trace: what is released, and what is refused."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

from privmix import Release
from privmix.mechanisms import (
    Clamped,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    NoisyHistogram,
    ProcessedRecords,
    Rounded,
    Withheld,
)
from privmix.parts import part_from_dict, part_to_dict
from privmix.privacy import audit

BOUNDS = (-3.0, 5.0)
LAPLACE = Laplace(epsilon=2.0, bounds=BOUNDS)
EXAMPLES = [
    Withheld(LAPLACE, below=1.0, known=False),
    Withheld(Rounded(LAPLACE, to=1.0), at_or_above=3.0, known=False, expected=(2.0, 0.1)),
    Rounded(Withheld(Laplace(epsilon=3.0, bounds=BOUNDS), above=2.0, known=False), to=0.5),
]


def test_release_holds_what_was_published():
    mechanism, y = EXAMPLES[0], np.linspace(*BOUNDS, 200)
    z, every = mechanism.privatize(y, seed=1), Withheld(LAPLACE, below=1.0).privatize(y, seed=1)
    assert np.array_equal(z, every[~np.isnan(every)])
    assert 0 < len(z) < 200
    # Labels would tell who is missing.
    assert isinstance(mechanism.privatize(pd.Series(y), seed=1), np.ndarray)
    assert mechanism.guarantee == LAPLACE.guarantee
    assert mechanism.expected == (0.5, 1e-9)
    assert "not said how many" in mechanism.in_words


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=lambda m: m.in_words)
def test_copies_are_equal_and_keep_the_guarantee(mechanism):
    for other in (
        pickle.loads(pickle.dumps(mechanism)),
        part_from_dict(json.loads(json.dumps(part_to_dict(mechanism)))),
    ):
        assert other == mechanism
        assert hash(other) == hash(mechanism)
        assert np.array_equal(other.privatize([0.0, 1.0], seed=2), mechanism.privatize([0.0, 1.0], seed=2))
    known = ProcessedRecords(mechanism.mechanism, mechanism.steps)
    y = np.linspace(*BOUNDS, 50)
    z = mechanism.privatize(y, seed=1)
    assert np.array_equal(mechanism.logpdf(z, 1.0), known.logpdf(z, 1.0))
    found = audit(mechanism, size=64)
    assert found.holds
    assert found.tight


@pytest.mark.parametrize(
    ("mechanism", "finite"),
    [
        (Withheld(Gaussian(scale=1.0, bounds=(0, 1)), below=-90.0, known=False), [-90.0, 0.25, 0.5, 0.75]),
        (Withheld(Gaussian(scale=1.0, bounds=(0, 1)), below=0.3, known=False), [0.3, 0.5, 0.75]),
        (Withheld(Gaussian(scale=1.0, bounds=(0, 1)), above=0.3, known=False), [0.25, np.nextafter(0.3, 1)]),
        (Withheld(DiscreteLaplace(epsilon=1.0, bounds=(0, 9)), below=0.0, known=False), [-0.5, 0.5, 1.5]),
    ],
    ids=["far", "below", "above", "lattice"],
)
def test_what_was_withheld_is_a_bin_of_its_own(mechanism, finite):
    assert mechanism.align_edges(np.linspace(0, 1, 5))[1:-1] == pytest.approx(finite, abs=0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Withheld(NoisyHistogram(9, 4, epsilon=1.0, bounds=(0, 1)), below=2, known=False),
            "the bins are known",
        ),
        (lambda: Withheld(LAPLACE, below=0.0, expected=(1.0, 1.0)), "give known=False too"),
        (lambda: Withheld(LAPLACE, below=0.0, known=False, expected=(0.0, 1.0)), "expected must be a pair"),
        (lambda: Withheld(Laplace(scale=np.ones(3)), below=0.0, known=False), "differs between records"),
        (lambda: Withheld(Clamped(LAPLACE, lower=0.0), below=0.0, known=False), "none of the noisy values"),
        (lambda: Withheld(Clamped(LAPLACE, upper=5.0), below=9.0, known=False), "all of the noisy values"),
        (lambda: Withheld(EXAMPLES[0], above=2.0), "values are withheld already"),
        (lambda: Withheld(3, below=2.0, known=False), "Withheld takes a mechanism"),
        (lambda: Release([2.0, np.nan], EXAMPLES[0]), "row 1 of the release has no value, but Withheld"),
        (lambda: Release([2.0, 0.5], EXAMPLES[0]), "row 1 of the release is 0.5, which cannot be after this"),
        (lambda: Release([], EXAMPLES[0]), "at least one record is needed"),
    ],
)
def test_contradictions_are_refused(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
