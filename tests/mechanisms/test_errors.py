"""Bad arguments and bad data: what was given, what is needed, what to do instead."""

import re

import numpy as np
import pytest

from mechanisms.examples import ALL, short
from privmix.mechanisms import Gaussian, HaarWavelet, Identity, Laplace

UNIT = (0.0, 1.0)
CALIBRATED = "The noise was to be calibrated with {}, but needs {} > 0 and finite. Give a positive number."
NEEDS_BOUNDS = (
    "{} needs bounds=(lower, upper), the range that a record can take: noise is scaled to it. They must be known "
    "without looking at the data."
)
PAIR = (
    "Gaussian noise has a guarantee in (ε, δ): give epsilon= and delta= together; got {}. For a single budget use rho=."
)
SCALE = "the noise scale must be a positive number, or an array of one for each record; got {}."

CASES = [
    (Laplace, {"epsilon": 0.0, "bounds": UNIT}, CALIBRATED.format("epsilon=0.0", "epsilon")),
    (Laplace, {"epsilon": -1, "bounds": UNIT}, CALIBRATED.format("epsilon=-1", "epsilon")),
    (Laplace, {"epsilon": np.nan, "bounds": UNIT}, CALIBRATED.format("epsilon=nan", "epsilon")),
    (Laplace, {"epsilon": "x", "bounds": UNIT}, CALIBRATED.format("epsilon='x'", "epsilon")),
    (Laplace, {"rho": 0, "bounds": UNIT}, CALIBRATED.format("rho=0", "rho")),
    (Gaussian, {"rho": -2.0, "bounds": UNIT}, CALIBRATED.format("rho=-2.0", "rho")),
    (Gaussian, {"epsilon": 0, "delta": 0.1, "bounds": UNIT}, CALIBRATED.format("epsilon=0", "epsilon")),
    (Gaussian, {"epsilon": 1, "delta": 0, "bounds": UNIT}, CALIBRATED.format("delta=0", "delta")),
    (
        Gaussian,
        {"epsilon": 1, "delta": 1.0, "bounds": UNIT},
        "The noise was to be calibrated with delta=1.0, but needs 0 < delta < 1: at delta = 1 nothing is promised. "
        "Give a delta well below one over the number of records.",
    ),
    (Gaussian, {"epsilon": 1, "bounds": UNIT}, PAIR.format("epsilon=1 and delta=None")),
    (Gaussian, {"delta": 0.1, "bounds": UNIT}, PAIR.format("epsilon=None and delta=0.1")),
    (Gaussian, {"delta": 0.1, "rho": 1.0, "bounds": UNIT}, PAIR.format("epsilon=None and delta=0.1")),
    (HaarWavelet, {"epsilon": 0}, CALIBRATED.format("epsilon=0", "epsilon")),
    (Laplace, {"epsilon": 1, "bounds": (1, 0)}, "bounds must be finite with lower < upper; got (1, 0)."),
    (Laplace, {"epsilon": 1, "bounds": (1, 1)}, "bounds must be finite with lower < upper; got (1, 1)."),
    (Laplace, {"scale": 1, "bounds": (0, np.inf)}, "bounds must be finite with lower < upper; got (0, inf)."),
    (Laplace, {"scale": 1, "bounds": (np.nan, 1)}, "bounds must be finite with lower < upper; got (nan, 1)."),
    (Laplace, {"scale": 1, "bounds": 3}, "bounds must be a pair (lower, upper); got 3."),
    (Laplace, {"scale": 1, "bounds": "ab"}, "bounds must be a pair (lower, upper); got 'ab'."),
    (Laplace, {"scale": 1, "bounds": (1, 2, 3)}, "bounds must be a pair (lower, upper); got (1, 2, 3)."),
    (HaarWavelet, {"epsilon": 1, "bounds": (2, 1)}, "bounds must be finite with lower < upper; got (2, 1)."),
    (Identity, {"bounds": (2, 1)}, "bounds must be finite with lower < upper; got (2, 1)."),
    (Laplace, {"epsilon": 1}, NEEDS_BOUNDS.format("Laplace(epsilon=…)")),
    (Laplace, {"rho": 1}, NEEDS_BOUNDS.format("Laplace(rho=…)")),
    (Gaussian, {"epsilon": 1, "delta": 0.1}, NEEDS_BOUNDS.format("Gaussian(epsilon=…)")),
    (HaarWavelet, {"epsilon": 1, "bounds": None}, NEEDS_BOUNDS.format("HaarWavelet")),
    (
        Laplace,
        {"epsilon": 1, "scale": 3.0, "bounds": UNIT},
        "Laplace takes one of epsilon=, rho= or scale=; the given epsilon and scale disagree.",
    ),
    (
        Laplace,
        {"epsilon": 1, "scale": 3e-9, "bounds": (0.0, 1e-9)},
        "Laplace takes one of epsilon=, rho= or scale=; the given epsilon and scale disagree.",
    ),
    (
        Gaussian,
        {"rho": 1, "scale": 3.0, "bounds": UNIT},
        "Gaussian takes one of epsilon=, rho= or scale=; the given rho and scale disagree.",
    ),
    (
        HaarWavelet,
        {"epsilon": 1, "scale": 3.0},
        "HaarWavelet takes one of epsilon= or scale=; the given epsilon and scale disagree.",
    ),
    (
        Laplace,
        {"epsilon": 1, "rho": 1, "bounds": UNIT},
        "Laplace takes exactly one of epsilon=, rho= to set its noise; got epsilon and rho.",
    ),
    (Laplace, {}, "Laplace takes exactly one of epsilon=, rho=, scale= to set its noise; got none."),
    (Gaussian, {}, "Gaussian takes exactly one of epsilon=, rho=, scale= to set its noise; got none."),
    (HaarWavelet, {}, "HaarWavelet takes exactly one of epsilon=, scale= to set its noise; got none."),
    (Laplace, {"scale": np.nan}, SCALE.format("nan")),
    (Laplace, {"scale": 0}, SCALE.format("0")),
    (Laplace, {"scale": np.inf}, SCALE.format("inf")),
    (Laplace, {"scale": "big"}, SCALE.format("'big'")),
    (Laplace, {"scale": []}, SCALE.format("[]")),
    (Laplace, {"scale": [[1.0, 2.0]]}, SCALE.format("[[1.0, 2.0]]")),
    (Gaussian, {"scale": [1.0, -1.0]}, SCALE.format("[1.0, -1.0]")),
    (HaarWavelet, {"scale": np.nan}, "the noise scale must be a positive number; got nan."),
    (HaarWavelet, {"scale": [1.0, 2.0]}, "the noise scale must be a positive number; got [1.0, 2.0]."),
    (HaarWavelet, {"epsilon": 1, "scale": "x"}, "the noise scale must be a positive number; got 'x'."),
    (HaarWavelet, {"levels": 2.5, "epsilon": 1}, "HaarWavelet: levels must be a whole number from 0 to 12; got 2.5."),
    (HaarWavelet, {"levels": True, "epsilon": 1}, "HaarWavelet: levels must be a whole number from 0 to 12; got True."),
    (HaarWavelet, {"levels": -1, "epsilon": 1}, "HaarWavelet: levels must be a whole number from 0 to 12; got -1."),
    (HaarWavelet, {"levels": 13, "epsilon": 1}, "HaarWavelet: levels must be a whole number from 0 to 12; got 13."),
    (
        HaarWavelet,
        {"epsilon": 1, "calibration": "loose"},
        "HaarWavelet: calibration must be 'tight' or 'butucea'; got 'loose'.",
    ),
]


@pytest.mark.parametrize(("kind", "arguments", "message"), CASES, ids=lambda v: v if isinstance(v, dict) else None)
def test_bad_arguments(kind, arguments, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        kind(**arguments)


def test_budgets_of_a_mechanism_without_per_record_noise_are_one_number():
    with pytest.raises((TypeError, ValueError), match=r"epsilon.*\[1\.0, 2\.0\]"):
        HaarWavelet(epsilon=[1.0, 2.0])


def test_whole_numbers_of_numpy_are_whole_numbers():
    assert HaarWavelet(levels=np.int64(2), epsilon=1.0) == HaarWavelet(levels=2, epsilon=1.0)


DATA = [
    ([0.1, np.nan, np.inf], ValueError, "{} 2 values that are NaN or infinite; remove or replace them first."),
    ([-np.inf], ValueError, "{} 1 values that are NaN or infinite; remove or replace them first."),
    ([], ValueError, "{} empty; at least one record is needed."),
    (["a"], TypeError, "{} be numbers; got ['a']."),
    ([[0.1], [0.2, 0.3]], TypeError, "{} be numbers; got [[0.1], [0.2, 0.3]]."),
    (0.5, ValueError, "{} be an array with one entry a record; got the single value 0.5."),
    (None, ValueError, "{} be an array with one entry a record; got the single value None."),
]


@pytest.mark.parametrize("mechanism", ALL, ids=short)
@pytest.mark.parametrize(("values", "error", "message"), DATA, ids=repr)
def test_bad_data(mechanism, values, error, message):
    verb = re.escape(message).replace(r"\{\}", r"(has|have|is|are|must)")
    with pytest.raises(error, match=rf"^the data y {verb}$"):
        mechanism.privatize(values)
    if getattr(mechanism, "withholds", False):  # a missing value says something there
        verb = re.sub(r"\d\\ values\\ that\\ are\\ NaN\\ or", r"1\\ values\\ that\\ are", verb)
    with pytest.raises(error, match=rf"^the release z {verb}$"):
        mechanism.check_release(values)


@pytest.mark.parametrize("mechanism", ALL, ids=short)
def test_wrong_shapes(mechanism):
    taker, inner = type(mechanism).__name__, getattr(mechanism, "mechanism", mechanism)
    while hasattr(inner, "mechanism") and not hasattr(mechanism, "steps"):
        inner = inner.mechanism
    name = type(inner).__name__
    with pytest.raises(ValueError, match=rf"^{taker} takes one number a record; the data y have shape \(2, 2\)\.$"):
        mechanism.privatize(np.zeros((2, 2)))
    shapes = (
        [(2, 2), (3, 1, 1)]
        if mechanism.row_length is None
        else [(4,), (4, mechanism.row_length + 1), (2, 3, mechanism.row_length)]
    )
    wanted = "one number a record" if mechanism.row_length is None else f"rows of {mechanism.row_length} numbers"
    for shape in shapes:
        message = (
            f"{name} releases {wanted}; the release z has shape {shape}. "
            "Check that the mechanism is the one that made the release."
        )
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            mechanism.check_release(np.zeros(shape))


@pytest.mark.parametrize("mechanism", [m for m in ALL if m.row_length is not None], ids=short)
@pytest.mark.parametrize("extra", [-1, 1, 2])
def test_logpdf_refuses_rows_of_the_wrong_width(mechanism, extra):
    """A row that is too long must not be read as if the surplus were not there."""
    with pytest.raises(ValueError, match=f"rows of {mechanism.row_length} numbers"):
        mechanism.logpdf(np.zeros((4, mechanism.row_length + extra)), 0.5)
    with pytest.raises(ValueError, match=f"rows of {mechanism.row_length} numbers"):
        mechanism.logpdf(0.0, 0.5)


@pytest.mark.parametrize("mechanism", ALL, ids=short)
def test_logpdf_of_strings_and_of_nothing(mechanism):
    with pytest.raises((TypeError, ValueError), match=r"number|string"):
        mechanism.logpdf(["a"], 0.5)
    none = np.zeros((0,) if mechanism.row_length is None else (0, mechanism.row_length))
    assert mechanism.logpdf(none, 0.5).shape == (0,)


NOISY_NUMBERS = [m for m in ALL if m.row_length is None and not m.reveals and not hasattr(m, "steps")]


@pytest.mark.parametrize("mechanism", NOISY_NUMBERS, ids=short)
def test_logpdf_of_nan_is_nan_and_of_infinity_is_minus_infinity(mechanism):
    assert np.isnan(mechanism.logpdf([np.nan], 0.0)).all()
    assert (mechanism.logpdf([np.inf, -np.inf], 0.0) == -np.inf).all()
