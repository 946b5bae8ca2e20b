"""The forms in which values enter compiled code: a part's parameters as numbers, a chain's state as a bundle.

Numbers are a named tuple whose class belongs to this module, whatever module the part was defined in. That is what lets
numba's disk cache find it again in another process, for parts defined in ``__main__`` too: the class is made from its
own name, ``Numbers__bounds__scale``, when a cached signature is loaded.

A bundle is a named tuple of arrays as one pointer. numba passes a named tuple of twenty arrays as some 150 numbers, at
every call. As a pointer to their addresses and shapes it is one argument: functions that take a state compile in half
the time. Addresses and shapes do not change while compiled code runs, which the loads say, so that loops keep them in
registers as before. The type of a bundle names its fields in their order. So a cached function is found again only by a
state with the same layout.
"""

from __future__ import annotations

import hashlib
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox
from numba.np.arrayobj import make_array, populate_array

_PREFIX = "Numbers__"
_classes: dict[str, type] = {}
_NUMBER = ir.IntType(64)


def numbers_type(fields: Sequence[str]) -> type:
    """Return the named-tuple class that holds these fields, the same object each time."""
    name = _PREFIX + "__".join(fields)
    if name not in _classes:
        made = namedtuple(name, fields)  # type: ignore[misc]
        made.__module__ = __name__
        _classes[name] = made
    return _classes[name]


def __getattr__(name: str) -> type:
    """Make the class of that name: how pickle finds it in a process that has not made it yet."""
    if name.startswith(_PREFIX):
        return numbers_type([part for part in name[len(_PREFIX) :].split("__") if part])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def numbers_of(values: dict[str, Any]) -> Any:
    """Return these values as numbers, each coerced so that another value of the same kind has the same type."""
    return numbers_type(list(values))(*[_coerce(value) for value in values.values()])


def is_numbers(value: Any) -> bool:
    """Return whether a value is numbers of a part."""
    return type(value).__module__ == __name__


def accessor(numbers: Any, per_record: Sequence[str]) -> Callable[[Any, int], Any]:
    """Return a plain function (numbers, i) -> numbers, in which every array of one value a record holds the i-th.

    Hooks are written for a scalar; this is what lets the same source serve a number and one number a record.
    """
    varying = [name for name in per_record if np.ndim(getattr(numbers, name))]
    cls = type(numbers)
    if not varying:
        return _same
    values = ", ".join(f"part.{name}[i]" if name in varying else f"part.{name}" for name in cls._fields)
    namespace: dict[str, Any] = {"Numbers": cls, "__name__": __name__}
    exec(f"def at_record(part, i):\n    return Numbers({values})\n", namespace)
    return namespace["at_record"]


def constant(value: Any) -> Callable[[], Any]:
    """Return a function without arguments that returns this value; another value compiles anew."""

    def valued():
        return value

    return valued


def lookup(values: tuple[Any, ...]) -> Callable[[int], Any]:
    """Return a function of an index into these values."""

    def looked_up(index):
        return values[index]

    return looked_up


def _same(part: Any, i: int) -> Any:
    return part


def _coerce(value: Any) -> Any:
    if isinstance(value, bool) or is_numbers(value):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, tuple):
        return tuple(_coerce(entry) for entry in value)
    return np.ascontiguousarray(value)


class Bundle:
    """Arrays by name, their addresses and shapes in one array of whole numbers."""

    def __init__(self, held: Any) -> None:
        self.held = held  # kept alive while compiled code uses their memory
        numbers = [number for array in held for number in (array.__array_interface__["data"][0], *array.shape)]
        self.layout = np.array(numbers, np.int64)
        self.address = self.layout.__array_interface__["data"][0]
        self.kind = BundleType(tuple((name, str(a.dtype), a.ndim) for name, a in held._asdict().items()))


class BundleType(types.Type):
    """The fields of a bundle: name, kind of number and dimensions of each array, in order."""

    def __init__(self, fields: tuple[tuple[str, str, int], ...]) -> None:
        self.fields = fields
        super().__init__(name=f"Bundle_{hashlib.sha256(repr(fields).encode()).hexdigest()[:16]}")

    def array_type(self, name: str) -> Any:
        """Return the type of a field, or None where there is none of that name."""
        found = [(dtype, dimensions) for field, dtype, dimensions in self.fields if field == name]
        return types.Array(numba.from_dtype(np.dtype(found[0][0])), found[0][1], "C") if found else None

    def place(self, name: str) -> int:
        """Return where the address of a field stands; its shape follows."""
        names = [field for field, _, _ in self.fields]
        return sum(1 + dimensions for _, _, dimensions in self.fields[: names.index(name)])


def packed(value: Any) -> Any:
    """Return a named tuple as compiled code takes it: arrays as a bundle, others as numbers; the rest as is."""
    if not hasattr(value, "_fields") or is_numbers(value):
        return value
    if all(_is_plain(entry) for entry in value):
        return Bundle(value)
    return numbers_type(value._fields)(*value)


def _is_plain(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.flags.c_contiguous and value.dtype.kind in "biuf"


@typeof_impl.register(Bundle)
def _typeof(value: Bundle, context: Any) -> BundleType:
    return value.kind


register_model(BundleType)(models.OpaqueModel)


@unbox(BundleType)
def _unbox(kind: BundleType, value: Any, context: Any) -> NativeValue:
    address = context.pyapi.object_getattr_string(value, "address")
    pointer = context.pyapi.long_as_voidptr(address)
    context.pyapi.decref(address)
    return NativeValue(pointer)


@infer_getattr
class _Fields(AttributeTemplate):
    key = BundleType

    def generic_resolve(self, bundle: BundleType, name: str) -> Any:  # type: ignore[override]
        return bundle.array_type(name)


@lower_getattr_generic(BundleType)
def _read_field(context: Any, builder: Any, kind: BundleType, pointer: Any, name: str) -> Any:
    array_type, place = kind.array_type(name), kind.place(name)
    array = make_array(array_type)(context, builder)
    slots = builder.bitcast(pointer, _NUMBER.as_pointer())
    data = _load(builder, builder.bitcast(builder.gep(slots, [_NUMBER(place)]), array.data.type.as_pointer()))
    shape = [_load(builder, builder.gep(slots, [_NUMBER(place + 1 + d)])) for d in range(array_type.ndim)]
    size = _NUMBER(context.get_abi_sizeof(context.get_data_type(array_type.dtype)))
    strides = [size]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return impl_ret_borrowed(context, builder, array_type, array._getvalue())


def _load(builder: Any, place: Any) -> Any:
    value = builder.load(place)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value
