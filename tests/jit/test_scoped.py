"""Children of one part, each bound to its own hooks."""

import numpy as np
import pytest

from privmix.jit import Scoped, bind, flat, numbers_of, slot


@slot
def shape(x):
    """Return what a child makes of a number."""


def helper(x):
    return x + 1.0


def double(x):
    return 2.0 * helper(x)


def square(x):
    return helper(x) * x


def minus(x):
    return x - 1.0


def total(children):
    lines = [f"return {' + '.join(f'f{j}(x)' for j in range(len(children)))}"]
    return flat("total", "x", lines, {f"f{j}": Scoped(shape, {shape: child}) for j, child in enumerate(children)})


@slot
def whole(x):
    """Return what all children make of a number."""


def call(x):
    return whole(x)


def bound(children, hooks=(), compiled=True):
    return bind(call, {whole: total(children), **dict(hooks)}, compiled=compiled)


@pytest.mark.parametrize("compiled", [True, False])
def test_each_child_has_its_own_hook_in_the_same_slot(compiled):
    assert bound([double, square], compiled=compiled)(3.0) == 8.0 + 12.0


def test_hooks_from_outside_do_not_reach_a_child():
    assert bound([double, square], {shape: minus}, compiled=False)(3.0) == 20.0


@pytest.mark.parametrize("compiled", [True, False])
def test_what_replaces_a_plain_function_does(compiled):
    assert bound([double, square], {helper: minus}, compiled=compiled)(3.0) == 4.0 + 6.0


def test_children_are_part_of_the_digest():
    assert bound([double, square]) is bound([double, square])
    assert bound([double, square]) is not bound([double, double])


def test_a_slot_without_a_hook_in_its_scope_is_named():
    with pytest.raises(NotImplementedError, match=r"test_scoped\.shape has no hook"):
        bind(flat("f", "x", ["return g(x)"], {"g": Scoped(shape, {})}), {shape: double})


def read(part):
    return part.c0.scale + part.c1.rows[1]


def test_numbers_hold_numbers():
    nested = numbers_of({"c0": numbers_of({"scale": 2}), "c1": numbers_of({"rows": np.array([1.0, 5.0])})})
    assert bind(read, {})(nested) == 7.0
