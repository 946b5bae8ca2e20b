"""Bad arguments, bad data and bad releases of histograms: the exact message."""

import re

import numpy as np
import pytest

from mechanisms.histograms import HISTOGRAMS, NOISY, RECORDS, SMOOTHED, data, name
from privmix.mechanisms import NoisyHistogram, SmoothedHistogram

UNIT = (0.0, 1.0)
COUNTED = "{}: records must be the number of confidential records, a whole number of at least 1 (it is public); got {}."
BINS = "{}: bins must be a whole number of at least 2, or the edges of the bins; got {}."
EDGES = "{}: edges of bins must be at least three finite increasing numbers; got {}."
NEIGHBOURS = (
    "NoisyHistogram: neighbours must be 'replace' (one record is replaced) or 'add-remove' (one record is added or "
    "removed); got {}."
)
ONE_OF = "NoisyHistogram takes exactly one of {} to set its noise; got {}."
CALIBRATED = "The noise was to be calibrated with {}, but needs {} > 0 and finite. Give a positive number."
SHARE = (
    "SmoothedHistogram: uniform must be a number above 0, where nothing is promised, and below 1, where nothing is "
    "released; got {}."
)
PAIR = (
    "NoisyHistogram with discrete gaussian noise has a guarantee in (ε, δ): give epsilon= and delta= together; got "
    "epsilon={} and delta={}. For a single budget use rho=."
)
SHARED = [
    ({"records": 2.5}, COUNTED.format("{}", "2.5")),
    ({"records": 0}, COUNTED.format("{}", "0")),
    ({"records": -3}, COUNTED.format("{}", "-3")),
    ({"records": True}, COUNTED.format("{}", "True")),
    ({"records": "many"}, COUNTED.format("{}", "'many'")),
    ({"records": np.nan}, COUNTED.format("{}", "nan")),
    ({"bins": 1}, BINS.format("{}", "1")),
    ({"bins": 2.5}, BINS.format("{}", "2.5")),
    ({"bins": True}, BINS.format("{}", "True")),
    ({"bins": "ten"}, BINS.format("{}", "'ten'")),
    ({"bins": [0.0, 1.0]}, EDGES.format("{}", "[0.0, 1.0]")),
    ({"bins": [0.0, 0.7, 0.5, 1.0]}, EDGES.format("{}", "[0.0, 0.7, 0.5, 1.0]")),
    ({"bins": [0.0, 0.5, 0.5, 1.0]}, EDGES.format("{}", "[0.0, 0.5, 0.5, 1.0]")),
    ({"bins": [0.0, 0.5, np.inf]}, EDGES.format("{}", "[0.0, 0.5, inf]")),
    ({"bins": ["a", "b", "c"]}, EDGES.format("{}", "['a', 'b', 'c']")),
    (
        {"bins": [0.0, 0.5, 2.0]},
        "{}: the edges of the bins run from 0 to 2, but bounds=(0.0, 1.0); leave bounds out, or make them agree.",
    ),
    (
        {"bounds": None},
        "{} needs bounds=(lower, upper), the range that a record can take: noise is scaled to it. They must be known "
        "without looking at the data.",
    ),
    ({"bounds": (1, 0)}, "bounds must be finite with lower < upper; got (1, 0)."),
    ({"epsilon": 0.0}, CALIBRATED.format("epsilon=0.0", "epsilon")),
    ({"epsilon": -1}, CALIBRATED.format("epsilon=-1", "epsilon")),
    ({"epsilon": np.nan}, CALIBRATED.format("epsilon=nan", "epsilon")),
    ({"epsilon": "x"}, CALIBRATED.format("epsilon='x'", "epsilon")),
]
SMOOTHED_ONLY = [
    ({"records": None}, COUNTED.format("{}", "None")),
    ({"epsilon": None}, "SmoothedHistogram takes exactly one of epsilon=, uniform= to set its noise; got none."),
    (
        {"neighbours": "add-remove"},
        "SmoothedHistogram draws from shares c_j/n of all records, so its law and its budget need a public n: "
        "neighbours of another size are not covered. Use neighbours='replace', or NoisyHistogram for "
        "neighbours='add-remove'.",
    ),
    (
        {"uniform": 0.5},
        "SmoothedHistogram takes one of epsilon= or uniform=; the given epsilon and uniform disagree.",
    ),
    *[({"epsilon": None, "uniform": u}, SHARE.format(repr(u))) for u in (0, 1, 1.5, -0.1, np.nan, "x", True, 1e-310)],
    ({"draws": 0}, "SmoothedHistogram: draws must be a whole number of at least 1; got 0."),
    ({"draws": 2.5}, "SmoothedHistogram: draws must be a whole number of at least 1; got 2.5."),
    ({"draws": True}, "SmoothedHistogram: draws must be a whole number of at least 1; got True."),
    (
        {"epsilon": 1500.0, "draws": 2},
        "The smoothed histogram was given epsilon=1500.0 for 2 draws, but needs epsilon/draws <= 700: beyond, the "
        "uniform share is below the smallest float and the release is a sample of the data's own histogram. Give a "
        "smaller epsilon, or release more draws.",
    ),
    (
        {"epsilon": 5e-324, "draws": 2},
        "The smoothed histogram was given epsilon=5e-324 for 2 draws, which leaves the data a share below the smallest "
        "float. Give a larger epsilon.",
    ),
]
NOISY_ONLY = [
    ({"epsilon": None}, ONE_OF.format("epsilon=, rho=, scale=", "none")),
    ({"rho": 1.0}, ONE_OF.format("epsilon=, rho=", "epsilon and rho")),
    ({"scale": 3.0}, "NoisyHistogram takes one of epsilon=, rho= or scale=; the given epsilon and scale disagree."),
    ({"epsilon": None, "scale": 0}, "the noise scale must be a positive number; got 0."),
    (
        {"epsilon": None, "scale": [1.0, 2.0]},
        "NoisyHistogram: scale has 2 numbers, but there are 4 bins. Give one a bin, or one.",
    ),
    (
        {"epsilon": None, "scale": [1.0, 2.0, 0.0, 1.0]},
        "the noise scale must be a positive number, or an array of one for each record; got [1.0, 2.0, 0.0, 1.0].",
    ),
    (
        {"scale": [1.0] * 4},
        "NoisyHistogram takes one of epsilon=, rho= or scale=; the given epsilon and scale disagree.",
    ),
    ({"noise": "gaussian"}, PAIR.replace("discrete gaussian", "gaussian").format("1.0", "None")),
    *[({"neighbours": wrong}, NEIGHBOURS.format(repr(wrong))) for wrong in ("swap", None, 1)],
    ({"epsilon": None, "rho": -1.0}, CALIBRATED.format("rho=-1.0", "rho")),
    (
        {"noise": "cauchy"},
        "NoisyHistogram: noise must be one of 'laplace', 'gaussian', 'discrete laplace', 'discrete gaussian'; got "
        "'cauchy'.",
    ),
    (
        {"noise": 3},
        "NoisyHistogram: noise must be one of 'laplace', 'gaussian', 'discrete laplace', 'discrete gaussian'; got 3.",
    ),
    (
        {"delta": 1e-6},
        "NoisyHistogram with laplace noise has a guarantee in ε alone; got delta=1e-06. Leave delta out, or use "
        "noise='discrete gaussian'.",
    ),
    ({"noise": "discrete gaussian"}, PAIR.format("1.0", "None")),
    ({"noise": "discrete gaussian", "epsilon": None, "delta": 0.1}, PAIR.format("None", "0.1")),
    (
        {"noise": "discrete gaussian", "delta": 1.0},
        "The noise was to be calibrated with delta=1.0, but needs 0 < delta < 1: at delta = 1 nothing is promised. "
        "Give a delta well below one over the number of records.",
    ),
    (
        {"noise": "discrete laplace", "epsilon": 1e-13},
        "NoisyHistogram: discrete noise of scale 2e+13 is beyond 1e+12, where floats no longer hold every whole number "
        "of it. Use noise='laplace', or a larger budget.",
    ),
    (
        {"noise": "discrete gaussian", "epsilon": 1e-7, "delta": 1e-7},
        None,
    ),
]
CASES = [
    *[(kind, change, text) for kind in (SmoothedHistogram, NoisyHistogram) for change, text in SHARED],
    *[(SmoothedHistogram, change, text) for change, text in SMOOTHED_ONLY],
    *[(NoisyHistogram, change, text) for change, text in NOISY_ONLY],
]


@pytest.mark.parametrize(("kind", "change", "message"), CASES, ids=lambda v: repr(v) if isinstance(v, dict) else None)
def test_bad_arguments(kind, change, message):
    arguments = {"records": 10, "bins": 4, "epsilon": 1.0, "bounds": UNIT, **change}
    if message is None:
        message = "The exact privacy profile of discrete Gaussian noise is summed over whole numbers, for scales up to "
        pattern = f"^{re.escape(message)}1e\\+06; the scale here is .*Calibrate with rho="
    else:
        pattern = f"^{re.escape(message.replace('{}', kind.__name__))}$"
    with pytest.raises(ValueError, match=pattern):
        kind(**arguments)


@pytest.mark.parametrize("factor", [0, 1.5, "2"])
def test_growth_factor_is_a_whole_number(factor):
    message = f"SmoothedHistogram: factor must be a whole number of at least 1; got {factor!r}."
    with pytest.raises(ValueError, match=re.escape(message)):
        SmoothedHistogram.growing(250, 1.0, factor)


def test_whole_numbers_of_numpy_and_whole_floats_are_whole_numbers():
    plain = NoisyHistogram(10, 4, epsilon=1.0, bounds=UNIT)
    assert NoisyHistogram(np.int64(10), np.int32(4), epsilon=np.float64(1), bounds=np.array(UNIT)) == plain
    assert NoisyHistogram(10.0, 4, epsilon=1, bounds=[0, 1]) == plain
    assert NoisyHistogram(10, (0, 0.25, 0.5, 1), epsilon=1) == NoisyHistogram(10, [0, 0.25, 0.5, 1], epsilon=1)


def test_edges_are_a_copy():
    edges = np.array([0.0, 0.5, 1.0])
    mechanism = NoisyHistogram(10, edges, epsilon=1.0)
    edges[1] = 0.9
    assert mechanism.edges.tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        mechanism.bins[1] = 0.7


DATA = [
    (["a"] * RECORDS, TypeError, "must be numbers"),
    ([0.1, np.nan, *[0.0] * 10], ValueError, "1 values that are NaN or infinite"),
    ([], ValueError, "is empty"),
    (0.5, ValueError, "the single value 0.5"),
    (np.zeros((RECORDS, 2)), ValueError, r"shape \(12, 2\)"),
]


@pytest.mark.parametrize("mechanism", HISTOGRAMS, ids=name)
@pytest.mark.parametrize(("values", "error", "message"), DATA, ids=["text", "nan", "empty", "scalar", "rows"])
def test_bad_data_and_releases(mechanism, values, error, message):
    with pytest.raises(error, match=f"the data y.*{message}"):
        mechanism.privatize(values)
    with pytest.raises(error, match=f"the release z.*{message}"):
        mechanism.check_release(values)


@pytest.mark.parametrize("mechanism", HISTOGRAMS, ids=name)
@pytest.mark.parametrize("n", [1, RECORDS - 1, RECORDS + 1])
def test_data_of_another_size_are_refused(mechanism, n):
    message = (
        f"{type(mechanism).__name__} was made for 12 records, but there are {n}. The number of records is public and "
        "enters the release: set records= to it."
    )
    for use in (mechanism.privatize, lambda y: mechanism.logpdf(mechanism.privatize(data(1), seed=1), y)):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            use(data(1, n))


@pytest.mark.parametrize("mechanism", SMOOTHED, ids=name)
def test_smoothed_release_has_its_number_of_draws_inside_the_bounds(mechanism):
    k = mechanism.draws
    message = (
        f"SmoothedHistogram releases {k} draws; the release z has {k + 1}. "
        "Check that the mechanism is the one that made the release."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        mechanism.check_release(np.zeros(k + 1))
    message = (
        "SmoothedHistogram releases numbers from -3 to 5; the release z has 1 other values, the first 5.5. "
        "Check that the mechanism is the one that made the release."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        mechanism.check_release([5.5, *[0.0] * (k - 1)])
    assert mechanism.check_release([5.0, -3.0, *[0.0] * (k - 2)]).shape == (k,)


@pytest.mark.parametrize("mechanism", NOISY, ids=name)
def test_noisy_release_has_a_count_for_each_bin(mechanism):
    m = mechanism.bin_count
    message = (
        f"NoisyHistogram releases {m} counts, one a bin; the release z has {m - 1}. "
        "Check that the mechanism is the one that made the release."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        mechanism.check_release(np.zeros(m - 1))
    fractional = [-1.0, 2.5, *[0.0] * (m - 2)]
    if not mechanism.discrete:
        assert mechanism.check_release(fractional).tolist() == fractional
        return
    message = (
        f"NoisyHistogram with {mechanism.noise} noise releases whole numbers; the release z has 1 others, the first "
        "2.5. Use noise='laplace' or 'gaussian' if the noise was continuous."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        mechanism.check_release(fractional)
    assert mechanism.check_release([-1, *[0] * (m - 1)])[0] == -1.0
