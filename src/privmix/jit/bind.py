"""Bind a generic function to the hooks of concrete parts, and compile the result once for all processes.

A generic function (a sampler's sweep, say) is plain Python that calls slots: stubs that stand for hooks. `bind` makes a
new function object with the same code, in whose globals every stub is replaced by the hook, and every plain helper by
a version of itself bound in the same way. The qualified name of the outermost function carries a digest of all code
and constants below it, so numba's disk cache tells combinations apart, serves them in a second process, also for
classes of ``__main__``, and recompiles after an edit anywhere.

Measured alternatives that fail: dispatchers as arguments, closures and jitclass miss the cache in a second process;
``overload`` on named tuples serves the old code after an edit.
"""

from __future__ import annotations

import dis
import hashlib
import math
import types
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from privmix.jit.inner import InnerPipeline, OuterPipeline
from privmix.jit.numbers import packed

# Compiled code counts no references: the arrays belong to the Python caller. Measured on Neal 5: counting them takes
# 190 ns a record-update instead of 49, and hooks lose nothing but making new arrays.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
OUTER: dict[str, Any] = {**OPTIONS, "cache": True, "pipeline_class": OuterPipeline}
# Inner functions are called from compiled code alone: they need no wrapper for Python.
INNER: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True, "pipeline_class": InnerPipeline}

_compiled: dict[str, Any] = {}


class CompilationError(TypeError):
    """A hook could not be compiled; the message says whose, and what the compiler met."""


def slot(stub: Callable) -> Callable:
    """Mark a function as a slot: a name that generic code calls and that `bind` replaces by a hook."""

    def unfilled(*args: Any) -> Any:
        raise NotImplementedError(f"slot {stub.__name__} was called without being bound to a model")

    unfilled.__name__ = stub.__name__
    unfilled.__qualname__ = stub.__qualname__
    unfilled.__doc__ = stub.__doc__
    unfilled.__dict__["__privmix_slot__"] = f"{stub.__module__}.{stub.__name__}"
    return unfilled


def inline(function: Callable) -> Callable:
    """Mark a function that is to be inlined wherever it is called: for what several steps evaluate for each record.

    The compiler inlines what has one caller, and short functions, by itself; more than that makes it slow.
    """
    function.__dict__["__privmix_inline__"] = True
    return function


class Scoped:
    """A function with hooks of its own: one child's, in a part that is made of several.

    Slots are global within a binding, so the hooks of two children would collide. Where a `Scoped` stands for a
    function, that function is resolved, and digested, in a binding of its own: with these hooks in place of all slots
    from outside, and with the replacements of plain functions from there.

    Parameters
    ----------
    function
        A plain function, or a slot that `hooks` fills.
    hooks
        Slot to the plain function that takes its place.
    """

    def __init__(self, function: Callable, hooks: Mapping[Callable, Callable]) -> None:
        self.function = function
        self.hooks = dict(hooks)


def bind(function: Callable, hooks: Mapping[Callable, Callable], *, compiled: bool = True, owner: str = "") -> Callable:
    """Return `function` with slots and helpers replaced, compiled and cached on disk.

    Parameters
    ----------
    function
        A plain function that calls slots, directly or through plain helpers.
    hooks
        Slot (or any plain function) to the plain function that takes its place.
    compiled
        ``False`` gives the slow twin: the same source, run by Python, equal draw for draw.
    owner
        What to name in an error when the code does not compile.
    """
    binding = Binding(hooks, compiled)
    if not compiled:
        return binding.resolve(function)
    digest = binding.digest(function) + _way_of_compiling()
    key = "top:" + hashlib.sha256(digest.encode()).hexdigest()[:24]
    if key not in _compiled:
        plain = binding.rebuild(function, suffix=key[4:])
        _compiled[key] = _explain(numba.njit(**OUTER)(plain), owner)
    return _compiled[key]


class Binding:
    """One set of hooks, applied to a tree of plain functions."""

    def __init__(self, hooks: Mapping[Callable, Callable], compiled: bool) -> None:
        self.hooks = dict(hooks)
        self.compiled = compiled
        self._digests: dict[Any, str] = {}
        self._twins: dict[Any, Callable] = {}
        self._open: list[Any] = []
        self._scopes: dict[Scoped, Binding] = {}

    def resolve(self, function: Any) -> Any:
        """Return the compiled (or, for a twin, plain) function that stands for this one."""
        function = self._replace(function)
        if function in self._open:
            raise CompilationError(f"{function.__qualname__} calls itself, directly or by others; use a loop instead.")
        self._open.append(function)
        try:
            return self._resolve(function)
        finally:
            self._open.pop()

    def _resolve(self, function: Any) -> Any:
        if not self.compiled:
            if function not in self._twins:
                self._twins[function] = self.rebuild(_plain(function), suffix="twin")
            return self._twins[function]
        if isinstance(function, Dispatcher):
            return function
        digest = self.digest(function)
        if digest not in _compiled:
            plain = self.rebuild(function, suffix=digest[:16])
            _compiled[digest] = numba.njit(forceinline=_is_inline(function), **INNER)(plain)
        return _compiled[digest]

    def rebuild(self, function: types.FunctionType | Any, suffix: str) -> Callable:
        """Return a new function object with the same code and replaced globals, closures and defaults."""
        namespace = {"__builtins__": __builtins__, "__name__": function.__module__}
        for name, value in _globals_of(function).items():
            namespace[name] = self._substitute(value)
        closure = tuple(types.CellType(self._substitute(cell.cell_contents)) for cell in function.__closure__ or ())
        made = types.FunctionType(
            function.__code__, namespace, function.__name__, function.__defaults__, closure or None
        )
        made.__kwdefaults__ = function.__kwdefaults__
        made.__module__ = function.__module__
        made.__qualname__ = f"{function.__qualname__.replace('<locals>.', '')}__{suffix}"
        return made

    def digest(self, function: Any) -> str:
        """Return a digest of a function's code and of all that it reaches."""
        function = _plain(self._replace(function))
        if function in self._digests:
            return self._digests[function]
        self._digests[function] = "recursive"
        parts = [str(function.__module__), function.__name__, _code_digest(function.__code__)]
        parts.append(str(_is_inline(function)))
        parts += [self._value_digest(function.__defaults__), repr(function.__kwdefaults__)]
        for name, value in sorted(_globals_of(function).items()):
            parts.append(f"{name}={self._value_digest(value, function)}")
        parts += [self._value_digest(cell.cell_contents) for cell in function.__closure__ or ()]
        self._digests[function] = hashlib.sha256("|".join(parts).encode()).hexdigest()
        return self._digests[function]

    def _replace(self, function: Any) -> Any:
        seen = set()
        while function in self.hooks and function not in seen:
            seen.add(function)
            function = self.hooks[function]
        if _is_slot(function):
            raise NotImplementedError(f"slot {function.__dict__['__privmix_slot__']} has no hook for this model")
        return function

    def _substitute(self, value: Any) -> Any:
        if isinstance(value, types.FunctionType | Dispatcher):
            return self.resolve(value)
        if isinstance(value, Scoped):
            return self._scope(value).resolve(value.function)
        if value is math and not self.compiled:
            return tolerant_math
        return value

    def _value_digest(self, value: Any, reader: Any = None) -> str:
        if isinstance(value, types.FunctionType | Dispatcher):
            return self.digest(value)
        if isinstance(value, Scoped):
            return self._scope(value).digest(value.function)
        if isinstance(value, types.ModuleType):
            return value.__name__ + self._attributes_digest(value, reader)
        if isinstance(value, np.ndarray):
            return hashlib.sha256(value.tobytes()).hexdigest() + str(value.dtype) + str(value.shape)
        if isinstance(value, tuple | list):
            return f"{type(value).__name__}({','.join(self._value_digest(entry, reader) for entry in value)})"
        if isinstance(value, type):
            return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
        return repr(value)

    def _scope(self, scoped: Scoped) -> Binding:
        """Return the binding of a child: its own hooks, and what replaces plain functions here."""
        if scoped not in self._scopes:
            plain = {key: value for key, value in self.hooks.items() if not _is_slot(key)}
            self._scopes[scoped] = Binding({**plain, **scoped.hooks}, self.compiled)
        return self._scopes[scoped]

    def _attributes_digest(self, module: types.ModuleType, reader: Any) -> str:
        """Digest the attributes of a module that a function may read: numba freezes them into the code."""
        if reader is None or module.__name__.split(".")[0] in ("math", "numpy"):
            return ""
        held = vars(module)
        names = sorted(name for name in _every_name_in(reader.__code__) if name in held)
        return "".join(f";{name}={self._value_digest(held[name], reader)}" for name in names)


def _is_slot(function: Any) -> bool:
    return "__privmix_slot__" in getattr(function, "__dict__", {})


def _is_inline(function: Any) -> bool:
    return "__privmix_inline__" in function.__dict__


def _plain(function: Any) -> Any:
    return function.py_func if isinstance(function, Dispatcher) else function


def _globals_of(function: Any) -> dict[str, Any]:
    names = _names_in(function.__code__)
    return {name: function.__globals__[name] for name in names if name in function.__globals__}


@lru_cache(maxsize=4096)
def _names_in(code: types.CodeType) -> frozenset[str]:
    """Return the globals that code reads. Not co_names: those include attributes, such as `log_g` in `state.log_g`."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_in(constant)
    return frozenset(names)


def _every_name_in(code: types.CodeType) -> set[str]:
    """Return the globals and attributes that code names."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _every_name_in(constant)
    return names


def _code_digest(code: types.CodeType) -> str:
    constants = [_code_digest(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    text = "|".join([*constants, *code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars])
    return hashlib.sha256(code.co_code + text.encode()).hexdigest()


@lru_cache(maxsize=1)
def _way_of_compiling() -> str:
    """Return a digest of this room: what it makes of a function is not part of any function's code."""
    return hashlib.sha256(
        b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    ).hexdigest()


def _explain(dispatcher: Any, owner: str) -> Any:
    """Wrap a dispatcher so that a compiler's message names the parts that it came from."""

    def call(*args: Any) -> Any:
        try:
            return dispatcher(*[packed(value) for value in args])
        except (NumbaError, UnsupportedBytecodeError) as error:  # the second: super() from Python 3.12 on
            lines = [line for line in str(error).splitlines() if line.strip()]
            text = "\n  ".join(lines[:12])
            raise CompilationError(
                f"the hooks of {owner or dispatcher.__name__} do not compile. A hook may read numeric fields of self "
                "and call plain functions, math and numpy's functions of numbers; it may not call self.method() or "
                f"super(), make new arrays, or read a field that holds text or None. The compiler said:\n  {text}"
            ) from error

    call.dispatcher = dispatcher  # type: ignore[attr-defined]
    return call


def _tolerant(function: Callable) -> Callable:
    """Return a function of `math` that gives inf or nan, as compiled code does, where Python raises."""

    def call(*args: float) -> float:
        try:
            return function(*args)
        except OverflowError:
            return math.inf
        except ValueError:
            if function is math.log and args[0] == 0.0:
                return -math.inf
            if function is math.log1p and args[0] == -1.0:
                return -math.inf
            return math.inf if function is math.lgamma else math.nan

    return call


tolerant_math = types.SimpleNamespace(
    **{
        name: _tolerant(value) if callable(value) else value
        for name, value in vars(math).items()
        if not name.startswith("_")
    }
)
