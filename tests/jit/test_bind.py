"""Binding: what is shared, what is compiled anew, and what is refused."""

import math
import types
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from privmix.jit import CompilationError, bind, numbers_of, slot
from privmix.jit.bind import tolerant_math
from privmix.kernels import Kernel
from privmix.mechanisms import HaarWavelet, Laplace, LocalMechanism
from privmix.mechanisms.evidence import log_q_each
from privmix.numerics import normal
from privmix.parts import PerRecord

FACTOR = 2.0


def helper(x):
    return nested(x) + FACTOR


def nested(x):
    return x * x


@slot
def hook(x):
    """A slot of these tests."""


def generic(values, out):
    for i in range(len(out)):
        out[i] = hook(values[i])


def evaluated(run, values=(0.5, 3.0)):
    out = np.zeros(len(values))
    run(np.array(values), out)
    return out.tolist()


@dataclass(frozen=True)
class Shifted(LocalMechanism):
    """A mechanism of a user's own, with a plain helper and a module constant."""

    shift: float = 1.0
    power: int = 1

    def log_q(self, z, y):
        return helper(z - y) * self.shift**self.power


def dispatcher_of(mechanism):
    """Return the compiled function behind a mechanism's logpdf."""
    return bind(log_q_each, mechanism.hooks()).dispatcher


def test_helpers_are_compiled_along():
    assert evaluated(bind(generic, {hook: helper})) == [2.25, 11.0]
    assert Shifted(3.0).logpdf([2.0], 0.0).tolist() == [18.0]


def test_twin_is_equal():
    twin = bind(generic, {hook: helper}, compiled=False)
    assert isinstance(twin, types.FunctionType)
    assert evaluated(twin) == evaluated(bind(generic, {hook: helper}))


def random_numbers(values, out, rng):
    for i in range(len(out)):
        out[i] = hook(values[i]) + normal(rng)


def test_twin_is_equal_draw_for_draw():
    found = []
    for compiled in (True, False):
        out, rng = np.zeros(50), np.random.default_rng(1)
        bind(random_numbers, {hook: helper}, compiled=compiled)(np.linspace(0.0, 1.0, 50), out, rng)
        found.append(out)
    assert np.array_equal(*found)


def extremes(x):
    return math.exp(x) + math.log(x) + math.lgamma(x) + math.log1p(x) + math.sqrt(x)


@pytest.mark.parametrize("x", [0.0, -1.0, -2.0, -0.5, 1e4, 1e308, math.inf, math.nan, 2.0])
def test_twin_is_as_tolerant_as_compiled_code(x):
    twin, compiled = (evaluated(bind(generic, {hook: extremes}, compiled=c), (x,)) for c in (False, True))
    assert twin == pytest.approx(compiled, nan_ok=True)


def test_tolerant_math_is_math_elsewhere():
    assert tolerant_math.pi == math.pi
    assert tolerant_math.log(2.0) == math.log(2.0)
    assert tolerant_math.exp(1e4) == math.inf
    assert tolerant_math.log(0.0) == -math.inf
    assert tolerant_math.log1p(-1.0) == -math.inf
    assert tolerant_math.lgamma(0.0) == math.inf
    assert math.isnan(tolerant_math.log(-1.0))


def test_same_hooks_share_one_function():
    assert bind(generic, {hook: helper}) is bind(generic, {hook: helper})
    assert bind(generic, {hook: helper}) is not bind(generic, {hook: nested})


SOURCE = """
CONSTANT = {constant}
TABLE = ({table}, 1.0)

def of_constant(x):
    return x * CONSTANT

def of_table(x):
    return x * TABLE[0]

def of_default(x, by={default}):
    return x * by

def make(by):
    def of_closure(x):
        return x * by
    return of_closure

of_closure = make({closure})

def inner(x):
    return x * CONSTANT

def of_helper(x):
    return inner(x)
"""


def module(**values):
    """Return a module made from the source, always of the same name."""
    values = {"constant": 2.0, "table": 2.0, "default": 2.0, "closure": 2.0} | values
    made = types.ModuleType("made")
    exec(SOURCE.format(**values), made.__dict__)
    return made


@pytest.mark.parametrize(
    ("function", "value"),
    [
        ("of_constant", "constant"),
        ("of_helper", "constant"),
        ("of_table", "table"),
        ("of_default", "default"),
        ("of_closure", "closure"),
    ],
)
def test_parts_that_differ_in_a_constant_do_not_share_code(function, value, monkeypatch, tmp_path):
    # A module that is in no file cannot be imported by the next process, which would find its code in the cache.
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    one, other = (getattr(module(**{value: v}), function) for v in (2.0, 3.0))
    assert one.__code__.co_code == other.__code__.co_code
    for _ in range(2):
        assert evaluated(bind(generic, {hook: one})) == [1.0, 6.0]
        assert evaluated(bind(generic, {hook: other})) == [1.5, 9.0]


def test_arrays_that_print_alike_do_not_share_code():
    def scaled(table):
        def of_array(x):
            return x * table[0][3]

        return of_array

    # A global tuple of arrays prints with eight digits, and a long array without its middle.
    one, other = np.full(2000, 2.0), np.full(2000, 2.0)
    other[3] = 3.0
    assert evaluated(bind(generic, {hook: scaled((one, 1.0))})) == [1.0, 6.0]
    assert evaluated(bind(generic, {hook: scaled((other, 1.0))})) == [1.5, 9.0]


def test_value_of_a_parameter_does_not_recompile():
    first = dispatcher_of(Shifted(1.0))
    Shifted(1.0).logpdf([1.0], 0.0)
    before = len(first.signatures)
    Shifted(7.5).logpdf([1.0], 0.0)
    Shifted(2).logpdf([1.0], 0.0)
    Shifted(np.float64(2.5)).logpdf([1.0], 0.0)
    Shifted(np.float32(2.5)).logpdf([1.0], 0.0)
    Shifted(2.0, power=np.int64(3)).logpdf([1.0], 0.0)
    assert dispatcher_of(Shifted(2)) is first
    assert len(first.signatures) == before == 1
    assert Shifted(2).logpdf([3.0], 0.0) == Shifted(2.0).logpdf([3.0], 0.0) == 22.0


def test_given_fields_do_not_recompile():
    calibrated, direct = Laplace(epsilon=2, bounds=(0, 1)), Laplace(scale=3.0)
    assert dispatcher_of(calibrated) is dispatcher_of(direct)
    calibrated.logpdf([1.0], 0.0)
    before = len(dispatcher_of(direct).signatures)
    direct.logpdf([1.0], 0.0)
    Laplace(rho=1.0, bounds=(-5.0, 5.0)).logpdf([1.0], 0.0)
    assert len(dispatcher_of(direct).signatures) == before
    HaarWavelet(levels=1, epsilon=1).logpdf(np.zeros(3), 0.0)
    before = len(dispatcher_of(HaarWavelet(epsilon=1)).signatures)
    HaarWavelet(levels=2, scale=3, bounds=(0, 2)).logpdf(np.zeros(7), 0.0)
    assert len(dispatcher_of(HaarWavelet(epsilon=1)).signatures) == before


@dataclass(frozen=True)
class TwoScales(LocalMechanism):
    """Two fields that may vary by record, either of them or both."""

    left: PerRecord = 1.0
    right: PerRecord = 1.0
    offset: float = 0.0

    def log_q(self, z, y):
        return self.offset + (self.left if z < y else self.right)


@pytest.mark.parametrize("varying", [(), ("left",), ("right",), ("left", "right")])
def test_hooks_see_the_value_of_their_record(varying):
    values = {name: np.array([1.0, 2.0, 3.0]) * (10.0 if name == "right" else 1.0) for name in varying}
    mechanism = TwoScales(offset=0.5, **values)
    left, right = (np.broadcast_to(getattr(mechanism, name), 3) for name in ("left", "right"))
    z = np.array([-1.0, 1.0, -1.0])
    assert mechanism.logpdf(z, 0.0) == pytest.approx(0.5 + np.where(z < 0.0, left, right))
    assert mechanism.per_record_fields() == ("left", "right")
    assert mechanism.varying_fields() == list(varying)


def test_record_of_other_values_has_the_same_type():
    one, other = numbers_of({"a": 1, "b": np.float32(2.0)}), numbers_of({"a": np.int32(3), "b": 4.5})
    assert type(one) is type(other)
    assert [type(v) for v in one] == [type(v) for v in other] == [int, float]


# What is refused.


@dataclass(frozen=True)
class CallsMethod(LocalMechanism):
    scale: float = 1.0

    def twice(self, x):
        return 2.0 * x

    def log_q(self, z, y):
        return self.twice(z - y)


@dataclass(frozen=True)
class CallsSuper(LocalMechanism):
    scale: float = 1.0

    def log_q(self, z, y):
        return super().log_q(z, y)


@dataclass(frozen=True)
class MakesArray(LocalMechanism):
    scale: float = 1.0

    def log_q(self, z, y):
        table = np.zeros(3)
        table[0] = z - y
        return table[0]


@dataclass(frozen=True)
class ReadsText(LocalMechanism):
    law: str = "laplace"

    def log_q(self, z, y):
        return 1.0 if self.law == "laplace" else 0.0


MESSAGE = (
    r"^the hooks of {} do not compile\. A hook may read numeric fields of self and call plain functions, .* it may not "
    r"call self\.method\(\) or super\(\), make new arrays, or read a field that holds text or None\. The compiler said:"
)


@pytest.mark.parametrize("kind", [CallsMethod, CallsSuper, MakesArray, ReadsText])
def test_hook_that_cannot_be_compiled_says_whose_and_why(kind):
    with pytest.raises(CompilationError, match=MESSAGE.format(kind.__name__)) as caught:
        kind().logpdf([1.0], 0.0)
    assert len(str(caught.value).splitlines()) < 20


def test_hook_that_is_missing_is_named():
    @dataclass(frozen=True)
    class Silent(LocalMechanism):
        scale: float = 1.0

    with pytest.raises((NotImplementedError, TypeError), match="log_q"):
        Silent().logpdf([1.0], 0.0)


def test_class_that_is_no_dataclass_is_told_so():
    class Plain(LocalMechanism):
        def log_q(self, z, y):
            return 0.0

    with pytest.raises(TypeError, match="Plain is not a dataclass; decorate it with @dataclass"):
        Plain().logpdf([1.0], 0.0)


def test_kernel_without_update_and_log_base_is_refused():
    @dataclass(frozen=True)
    class Bare(Kernel):
        parameters: ClassVar[tuple[str, ...]] = ("a",)

        def log_f(self, y, theta):
            return 0.0

        def sample(self, rng, theta):
            return 0.0

        def base(self, rng, theta):
            theta[0] = 0.0

    with pytest.raises(TypeError, match=r"^Bare has neither update.* nor log_base"):
        Bare().logpdf([1.0], (0.0,))


def test_unfilled_slot():
    with pytest.raises(NotImplementedError, match=r"^slot .*hook has no hook for this model$"):
        bind(generic, {})
    with pytest.raises(NotImplementedError, match=r"^slot hook was called without being bound to a model$"):
        hook(1.0)
