"""What every kernel shares: which hooks it gives, and how they fill its slots.

θ is a row of an array: the kernel's parameters, then constants that ``prepare`` derives from them. Hooks get views of
rows and work in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from privmix.jit import bind, constant, lookup, slot
from privmix.kernels.derived import FROM_CDF, FROM_MASS
from privmix.kernels.random_walk import random_walk, shift_alone
from privmix.kernels.slots import (
    cdf,
    central_moments,
    coordinate,
    copy_y,
    draw_atom,
    draw_hyper,
    draw_y,
    log_base,
    log_f,
    log_moved,
    log_scale,
    mass,
    parameter_count,
    prepare,
    row_moments,
    sample_between,
    shift,
    update_atom,
    update_hyper,
)
from privmix.parts import Part

_OPTIONAL = (cdf, mass, sample_between, central_moments, row_moments)


class Kernel(Part):
    """A component density f(y|θ) with its base measure G₀.

    A subclass is a frozen dataclass that has a class attribute and hooks:

    - ``parameters``: names of the leading columns of θ, as a class attribute
    - ``log_f(self, y, theta)``: log density; y is a number, or a row where ``dimension`` > 1
    - ``sample(self, rng, theta)``: a draw of y (where ``dimension`` > 1: ``sample(self, rng, theta, out)``)
    - ``base(self, rng, theta)``: writes θ ~ G₀ into the row
    - ``update(self, rng, theta, ys, tune)``: a Markov step on θ given the ys of its cluster, prior included; or
      ``log_base(self, theta)``, the log density of G₀, and the step is an adaptive random walk
    - ``prepare(self, theta)``: optional; fills ``constants`` trailing columns from the parameters
    - ``cdf(self, y, theta)``: optional; the distribution function
    - ``mass(self, lower, upper, theta)``: optional; the mass of an interval, accurate far out. Either of the two gives
      the other
    - ``sample_between(self, rng, theta, lower, upper)``: optional; a draw of y between two ends. Either of the two
      gives it by bisection
    - ``central_moments(self, theta, out)``: optional; writes mean, variance, third and fourth central moment into out
    - ``row_moments(self, theta, mean, covariance)``: optional, where y is a row; writes its mean and covariance

    A base measure with hyperparameters of its own names them in ``hyperparameters``; then ``base``, ``update`` and
    ``log_base`` take a last argument ``hyper``, and two more hooks serve them:

    - ``base_hyper(self, rng, hyper)``: optional; writes a draw from the hyperprior
    - ``update_hyper(self, rng, hyper, atoms)``: optional; redraws the hyperparameters given the occupied atoms
    """

    parameters: ClassVar[tuple[str, ...]]
    #: number of trailing columns that ``prepare`` fills
    constants: ClassVar[int] = 0
    #: parameters that are positive: a random walk moves them on the log scale
    positive: ClassVar[tuple[str, ...]] = ()
    #: length of y: 1 for a number, d > 1 for a row
    dimension: ClassVar[int] = 1
    #: names of what the base measure learns; its hooks then take ``hyper`` last
    hyperparameters: ClassVar[tuple[str, ...]] = ()
    #: tuned quantities of ``update``; an inherited random walk has one for each parameter
    tuned: ClassVar[int] = 0
    #: whether the command line offers it
    offered: ClassVar[bool] = True
    #: names of the columns of a record, where it has several with names
    names: Any = ()
    #: the values of a record, where they are names: then y is the place of one among them
    categories: Any = None

    @classmethod
    def for_mechanism(cls, mechanism: Any) -> Self:
        """Return the kernel that suits a mechanism: over its bounds, where the kernel has a field of that name."""
        over = {"bounds": mechanism.bounds} if "bounds" in cls.__dataclass_fields__ else {}
        return cls(**over)

    @property
    def support(self) -> tuple[float, float]:
        """Interval that holds every y."""
        return -np.inf, np.inf

    @property
    def columns(self) -> int:
        """Length of a row of θ: parameters and constants."""
        return len(self.parameters) + self.constants

    @property
    def tuning(self) -> int:
        """Number of quantities that are tuned during warm-up."""
        return self.tuned if self.has("update") else len(self.parameters)

    def has(self, name: str) -> bool:
        """Return whether the kernel gives a hook of this name, or one that it follows from: ``kernel.has("cdf")``."""
        cls = type(self)
        return _gives(cls, name) or name in {stub.__name__ for stub in _optional_hooks(cls)}

    @property
    def moves(self) -> bool:
        """Whether parameters can be moved one by one on a density of the base measure."""
        return self.has("log_base") or self.has("shift")

    def move_inside(self, y: np.ndarray) -> np.ndarray:
        """Return plausible records moved a little way into the support, where it has ends."""
        lower, upper = self.support
        if not np.isfinite([lower, upper]).all():
            return y
        margin = 1e-3 * (upper - lower)
        return np.clip(y, lower + margin, upper - margin)

    def first_steps(self, y: np.ndarray) -> np.ndarray:
        """Return the first log step of a walk on each parameter: the spread of records; none on the log scale."""
        spread = float(np.std(y)) or 1.0
        return np.array([0.0 if name in self.positive else np.log(spread) for name in self.parameters])

    def first_tuning(self, steps: np.ndarray) -> np.ndarray:
        """Return what the tuned quantities of ``update`` start from: an inherited random walk from these steps."""
        return np.zeros(self.tuning) if self.has("update") else steps

    def prepare(self, theta):
        """Fill the constant columns of a row (hook; none by default)."""

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this kernel fills, each with its hook."""
        cls: Any = type(self)
        hooks: dict[Callable, Callable] = {
            **_optional_hooks(cls),
            **(_NUMBERS if self.dimension == 1 else _ROWS),
            **(_LEARNED if self.hyperparameters else _FIXED),
            log_f: cls.log_f,
            prepare: cls.prepare,
            _sample: cls.sample,
            _base: cls.base,
        }
        if self.hyperparameters:
            hooks |= {draw_hyper: cls.base_hyper, update_hyper: cls.update_hyper}
        if self.has("log_base"):
            positive = tuple(name in self.positive for name in self.parameters)
            hooks |= {
                _log_base: cls.log_base,
                parameter_count: constant(len(positive)),
                log_scale: lookup(positive),
                shift: shift_alone,
            }
        if self.has("update"):
            hooks[_update] = cls.update
        elif self.has("log_base"):
            hooks[update_atom] = random_walk
        else:
            raise TypeError(
                f"{cls.__name__} has neither update(self, rng, theta, ys, tune) nor log_base(self, theta); "
                "give one of them, so that the parameters of a cluster can be updated."
            )
        return hooks

    def logpdf(self, y: Any, theta: Any) -> np.ndarray:
        """Return log f(y|θ) for numbers (or rows) y and one vector of parameters.

        Parameters
        ----------
        y
            Points, of shape (…,) or (…, dimension).
        theta
            Parameters in the order of ``parameters``.
        """
        y = np.asarray(y, dtype=np.float64)
        shape = y.shape if self.dimension == 1 else y.shape[:-1]
        flat = np.ascontiguousarray(y.reshape(-1) if self.dimension == 1 else y.reshape(-1, self.dimension))
        row = np.zeros(self.columns)
        row[: len(self.parameters)] = theta
        out = np.empty(len(flat))
        bind(log_f_each, self.hooks(), owner=type(self).__name__)(self.numbers(), flat, row, out)
        return out.reshape(shape)


def log_f_each(kernel, y, theta, out):
    """Evaluate log f point by point (compiled)."""
    prepare(kernel, theta)
    for i in range(len(out)):
        out[i] = log_f(kernel, y[i], theta)


def _optional_hooks(cls: Any) -> dict[Callable, Callable]:
    """Return the optional slots that a class of kernels fills: by its own hooks, and by what follows from them."""
    given = {stub: getattr(cls, stub.__name__) for stub in _OPTIONAL if _gives(cls, stub.__name__)}
    if mass in given:
        return {**FROM_MASS, **given}
    return {**FROM_CDF, **given} if cdf in given else given


def _gives(cls: Any, name: str) -> bool:
    """Return whether a class has a hook of this name; a field of this name is none."""
    return callable(getattr(cls, name, None))


@slot
def _sample(kernel, rng, theta):
    """Draw y ~ f(·|θ), into a last argument where it is a row: a kernel's hook."""


@slot
def _base(kernel, rng, theta):
    """Write θ ~ G₀ into the row, with a last argument `hyper` where it is learned: a kernel's hook."""


@slot
def _update(kernel, rng, theta, ys, tune):
    """Update θ given the ys of its cluster, likewise: a kernel's hook."""


@slot
def _log_base(kernel, theta):
    """Return the log density of G₀, likewise: a kernel's hook."""


def _draw_number(kernel, rng, theta, ys, j):
    ys[j] = _sample(kernel, rng, theta)


def _draw_row(kernel, rng, theta, ys, j):
    _sample(kernel, rng, theta, ys[j])


def _copy_number(to, i, source, j):
    to[i] = source[j]


def _copy_row(to, i, source, j):
    for d in range(to.shape[1]):
        to[i, d] = source[j, d]


def _whole(ys, j):
    return ys[j]


def _first(ys, j):
    return ys[j, 0]


def _draw_atom(kernel, rng, theta, hyper):
    _base(kernel, rng, theta)
    prepare(kernel, theta)


def _draw_atom_hyper(kernel, rng, theta, hyper):
    _base(kernel, rng, theta, hyper)
    prepare(kernel, theta)


def _update_atom(kernel, rng, theta, ys, tune, hyper):
    _update(kernel, rng, theta, ys, tune)
    prepare(kernel, theta)


def _update_atom_hyper(kernel, rng, theta, ys, tune, hyper):
    _update(kernel, rng, theta, ys, tune, hyper)
    prepare(kernel, theta)


def _log_base_plain(kernel, theta, hyper):
    return _log_base(kernel, theta)


def _log_base_hyper(kernel, theta, hyper):
    return _log_base(kernel, theta, hyper)


def _no_draw(kernel, rng, hyper):
    pass


def _no_update(kernel, rng, hyper, atoms):
    pass


_NUMBERS: dict[Callable, Callable] = {draw_y: _draw_number, copy_y: _copy_number, coordinate: _whole}
#: what kernels of rows share, however they draw one
ROW_HOOKS: dict[Callable, Callable] = {copy_y: _copy_row, coordinate: _first}
_ROWS: dict[Callable, Callable] = {draw_y: _draw_row, **ROW_HOOKS}
_FIXED: dict[Callable, Callable] = {
    draw_atom: _draw_atom,
    update_atom: _update_atom,
    log_base: _log_base_plain,
    log_moved: _log_base_plain,
    draw_hyper: _no_draw,
    update_hyper: _no_update,
}
_LEARNED: dict[Callable, Callable] = {
    draw_atom: _draw_atom_hyper,
    update_atom: _update_atom_hyper,
    log_base: _log_base_hyper,
    log_moved: _log_base_hyper,
}
