"""Steps of post-processing: the interval behind a published value holds just what leads to it."""

import numpy as np
import pytest

from privmix.mechanisms.post_processing import (
    ROUNDINGS,
    Clamp,
    Intervals,
    Round,
    Withhold,
    apply_all,
    check_steps,
    undo_all,
    words_of,
)

LISTS = [
    (Clamp(lower=0.0),),
    (Clamp(upper=3.0),),
    (Clamp(-2.0, 7.0),),
    *[(Round(3.0, how),) for how in ROUNDINGS],
    (Round(0.5),),
    *[(Withhold(4.0, below, with_limit),) for below in (True, False) for with_limit in (True, False)],
    (Clamp(lower=0.0), Round(5.0)),
    (Round(4.0, "half even"), Clamp(lower=0.0)),
    (Clamp(lower=0.0), Round(2.0), Withhold(6.0)),
    (Withhold(5.0), Round(2.0)),
    (Round(2.0), Withhold(6.0, with_limit=True)),
    (Round(1.0), Round(3.0), Withhold(3.0, below=False)),
]
NOISY = np.arange(-60, 61) / 4.0


def inside(found, values):
    from_low = (values > found.low) | ((values == found.low) & found.has_low)
    return from_low & ((values < found.high) | ((values == found.high) & found.has_high))


@pytest.mark.parametrize("steps", LISTS, ids=words_of)
def test_the_interval_holds_exactly_what_leads_to_the_published_value(steps):
    published = apply_all(steps, NOISY)
    found = undo_all(steps, published)
    for i, z in enumerate(published):
        same = np.isnan(published) if np.isnan(z) else published == z
        one = type(found)(*(entry[i] for entry in found))
        np.testing.assert_array_equal(inside(one, NOISY), same)


@pytest.mark.parametrize("steps", LISTS, ids=words_of)
def test_numbers_of_multiples_are_those_of_the_whole_values_inside(steps):
    published = apply_all(steps, np.arange(-15.0, 16.0))
    found = undo_all(steps, published)
    first, last = found.multiples(1.0)
    for i in range(len(published)):
        one = type(found)(*(entry[i] for entry in found))
        whole = np.arange(-40.0, 41.0)[inside(one, np.arange(-40.0, 41.0))]
        assert max(first[i], -40.0) == whole[0]
        assert min(last[i], 40.0) == whole[-1]


@pytest.mark.parametrize(
    ("steps", "z"),
    [
        ((Clamp(lower=0.0),), -1.0),
        ((Clamp(upper=3.0),), 3.5),
        ((Round(5.0),), 7.0),
        ((Withhold(90.0),), 89.0),
        ((Withhold(90.0, with_limit=True),), 90.0),
        ((Withhold(90.0, below=False),), 91.0),
        ((Clamp(lower=0.0), Round(5.0)), -5.0),
        ((Round(2.0), Withhold(6.0)), 4.0),
        ((Withhold(5.0), Round(2.0)), 4.0),
        ((Round(5.0), Clamp(lower=2.0)), 4.0),
    ],
)
def test_a_value_that_cannot_be_is_named_with_its_place(steps, z):
    good = 100.0 if not any(step.apply(np.array(100.0)) != 100.0 for step in steps) else 0.0
    with pytest.raises(ValueError, match=rf"bin 1 of the release is {z:g}, which cannot be after this"):
        undo_all(steps, np.array([good, z]), "bin")


def test_a_missing_value_needs_a_reason():
    with pytest.raises(ValueError, match="row 2 of the release has no value, but nothing was withheld"):
        undo_all((Clamp(lower=0.0), Round(2.0)), np.array([0.0, 2.0, np.nan]))


def test_decimal_multiples_are_multiples():
    published = 0.1 * np.arange(1, 40)
    assert not undo_all((Round(0.1), Withhold(0.1, with_limit=False)), published).is_empty.any()
    found = undo_all((Round(0.1), Withhold(0.3, with_limit=True)), np.array([np.nan]))
    assert found.high[0] == pytest.approx(0.35)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Clamp(), "give lower=, upper= or both"),
        (lambda: Clamp(3.0, 2.0), "lower below upper"),
        (lambda: Round(0.0), "to must be positive"),
        (lambda: Round(1.0, "sideways"), "how must be one of"),
        (lambda: Withhold(float("nan")), "limit"),
        (lambda: check_steps((Withhold(1.0), Withhold(5.0, below=False))), "two reasons"),
    ],
)
def test_steps_that_make_no_sense_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_cents_of_large_numbers_are_multiples():
    z = Round(0.01).apply(np.random.default_rng(1).uniform(-1e6, 1e6, 2000))
    assert not undo_all((Round(0.01),), z).is_empty.any()


@pytest.mark.parametrize("limit", ["0", np.nan, True, None])
def test_a_limit_is_a_number(limit):
    with pytest.raises(ValueError, match="lower must be a finite number; got"):
        Clamp(lower=limit)


def test_large_decimals_are_multiples_as_far_as_floats_tell():
    def first_and_last(value):
        point, yes = np.array([value]), np.array([True])
        first, last = Intervals(point, point, yes, yes).multiples(0.01)
        return first[0], last[0]

    assert first_and_last(1234567890.12) == (123456789012.0, 123456789012.0)
    first, last = first_and_last(1234567890.123)
    assert first > last
