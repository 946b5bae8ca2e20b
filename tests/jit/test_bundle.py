"""Named tuples of arrays as one pointer, and inner functions that are only linked."""

from typing import NamedTuple

import numpy as np
import pytest

from privmix.jit import bind
from privmix.jit.numbers import Bundle, packed


class Held(NamedTuple):
    line: np.ndarray
    table: np.ndarray
    block: np.ndarray
    whole: np.ndarray
    empty: np.ndarray


class Turned(NamedTuple):
    """The same fields in another order."""

    whole: np.ndarray
    empty: np.ndarray
    block: np.ndarray
    table: np.ndarray
    line: np.ndarray


class Mixed(NamedTuple):
    line: np.ndarray
    factor: float


def arrays():
    rng = np.random.default_rng(1)
    return {
        "line": rng.normal(size=4),
        "table": rng.normal(size=(3, 5)),
        "block": rng.normal(size=(2, 3, 4)),
        "whole": np.arange(6, dtype=np.int64),
        "empty": np.zeros((0, 7)),
    }


def touch(held, out):
    """Read each field at places that only the right strides reach, and write into one."""
    out[0] = held.line[3]
    out[1] = held.table[2, 4] + 10.0 * held.table[0, 1]
    out[2] = held.block[1, 2, 3] + 10.0 * held.block[0, 1, 2]
    out[3] = held.whole[5] + held.empty.shape[0] + 100 * held.empty.shape[1]
    row = held.table[1]
    for j in range(len(row)):
        row[j] = -row[j]


def expected(held):
    return [
        held["line"][3],
        held["table"][2, 4] + 10.0 * held["table"][0, 1],
        held["block"][1, 2, 3] + 10.0 * held["block"][0, 1, 2],
        5 + 700,
    ]


@pytest.mark.parametrize("kind", [Held, Turned])
def test_every_field_is_read_and_written_in_place(kind):
    held = arrays()
    before, wanted = held["table"].copy(), expected(held)
    out = np.zeros(4)
    bind(touch, {})(kind(**held), out)
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(held["table"][1], -before[1])
    np.testing.assert_array_equal(held["table"][[0, 2]], before[[0, 2]])


def test_order_names_and_kinds_of_fields_make_the_type():
    held = arrays()
    same = Bundle(Held(**held)).kind
    assert same == Bundle(Held(**{**held, "line": np.zeros(9)})).kind
    assert same != Bundle(Turned(**held)).kind
    assert same != Bundle(Held(**{**held, "line": np.zeros(4, np.float32)})).kind
    assert same != Bundle(Held(**{**held, "line": np.zeros((4, 1))})).kind


def test_arrays_with_gaps_are_not_bundled():
    held = arrays()
    wanted = expected(held)
    wide = np.zeros((3, 10))
    wide[:, ::2] = held["table"]
    given = Held(**{**held, "table": wide[:, ::2]})
    assert not isinstance(packed(given), Bundle)
    out = np.zeros(4)
    bind(touch, {})(given, out)
    np.testing.assert_array_equal(out, wanted)


def scaled(mixed, out):
    for j in range(len(out)):
        out[j] = mixed.factor * mixed.line[j]


def test_arrays_beside_numbers_are_a_record():
    out = np.zeros(3)
    bind(scaled, {})(Mixed(np.arange(3.0), 2.0), out)
    np.testing.assert_array_equal(out, [0.0, 2.0, 4.0])


def refuse(x):
    if x > 1.0:
        raise ValueError("too large")
    return x


def twice(x):
    return 2.0 * refuse(x)


def test_an_error_in_an_inner_function_is_raised():
    compiled = bind(twice, {})
    assert compiled(0.5) == 1.0
    with pytest.raises(ValueError, match="too large"):
        compiled(2.0)
