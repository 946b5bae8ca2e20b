"""What every kernel shares: its slots, and the adapters between hooks and samplers.

θ is a row of an array: the kernel's parameters, then constants that ``prepare`` derives from them. Hooks get views of
rows and work in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from privmix.jit import bind, constant, lookup, slot
from privmix.kernels.derived import gives, optional_hooks
from privmix.kernels.random_walk import random_walk
from privmix.kernels.slots import (
    coordinate,
    copy_y,
    draw_atom,
    draw_hyper,
    draw_y,
    log_base,
    log_f,
    log_scale,
    parameter_count,
    prepare,
    update_atom,
    update_hyper,
)
from privmix.parts import Part


class Kernel(Part):
    """A component density f(y|θ) with its base measure G₀.

    A subclass is a frozen dataclass that names its ``parameters`` and has the hooks

    - ``log_f(self, y, theta)``: log density; y is a number, or a row where ``dimension`` > 1
    - ``sample(self, rng, theta)``: a draw of y (where ``dimension`` > 1: ``sample(self, rng, theta, out)``)
    - ``base(self, rng, theta)``: writes θ ~ G₀ into the row
    - ``update(self, rng, theta, ys, tune)``: a Markov step on θ given the ys of its cluster, prior included; or
      ``log_base(self, theta)``, the log density of G₀, and the step is an adaptive random walk
    - ``prepare(self, theta)``: optional; fills ``constants`` trailing columns from the parameters
    - ``cdf(self, y, theta)`` or ``mass(self, lower, upper, theta)``: optional; the distribution function, the mass of
      an interval. Either gives the other, and ``sample_between(self, rng, theta, lower, upper)``, a truncated draw,
      by bisection; of one's own they are more accurate far out, and faster
    - ``central_moments(self, theta, out)``: optional; writes mean, variance, third and fourth central moment into out

    A base measure with hyperparameters of its own names them in ``hyperparameters``; then ``base``, ``update`` and
    ``log_base`` take a last argument ``hyper``, and two more hooks serve them: ``base_hyper(self, rng, hyper)`` writes
    a draw from the hyperprior, ``update_hyper(self, rng, hyper, atoms)`` redraws it given the occupied atoms.
    """

    parameters: ClassVar[tuple[str, ...]]
    #: number of trailing columns that ``prepare`` fills
    constants: ClassVar[int] = 0
    #: parameters that are positive: a random walk moves them on the log scale
    positive: ClassVar[tuple[str, ...]] = ()
    #: length of y: 1 for a number, d > 1 for a row
    dimension: ClassVar[int] = 1
    hyperparameters: ClassVar[tuple[str, ...]] = ()
    #: tuned quantities of ``update``; an inherited random walk has one for each parameter
    tuned: ClassVar[int] = 0

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
        return gives(cls, name) or name in {stub.__name__ for stub in optional_hooks(cls)}

    def prepare(self, theta):
        """Fill the constant columns of a row (hook; none by default)."""

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this kernel fills, each with its hook."""
        cls: Any = type(self)
        hooks: dict[Callable, Callable] = {
            **optional_hooks(cls),
            log_f: cls.log_f,
            prepare: cls.prepare,
            _sample: cls.sample,
            _base: cls.base,
            draw_y: _draw_number if self.dimension == 1 else _draw_row,
            copy_y: _copy_number if self.dimension == 1 else _copy_row,
            coordinate: _whole if self.dimension == 1 else _first,
        }
        hyper = bool(self.hyperparameters)
        hooks |= {
            draw_atom: _draw_atom_hyper if hyper else _draw_atom,
            draw_hyper: cls.base_hyper if hyper else _no_draw,
            update_hyper: cls.update_hyper if hyper else _no_update,
        }
        if self.has("log_base"):
            hooks |= self._walk_hooks(hyper)
        if self.has("update"):
            hooks |= {_update: cls.update, update_atom: _update_atom_hyper if hyper else _update_atom}
        elif self.has("log_base"):
            hooks[update_atom] = random_walk
        else:
            raise TypeError(
                f"{cls.__name__} has neither update(self, rng, theta, ys, tune) nor log_base(self, theta); "
                "give one of them, so that the parameters of a cluster can be updated."
            )
        return hooks

    def _walk_hooks(self, hyper: bool) -> dict[Callable, Callable]:
        cls: Any = type(self)
        names = self.parameters
        return {
            _log_base: cls.log_base,
            log_base: _log_base_hyper if hyper else _log_base_plain,
            parameter_count: constant(len(names)),
            log_scale: lookup(tuple(name in self.positive for name in names)),
        }

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
        bind(log_f_each, self.hooks(), owner=type(self).__name__)(self.record(), flat, row, out)
        return out.reshape(shape)


def log_f_each(kernel, y, theta, out):
    """Evaluate log f point by point (compiled)."""
    prepare(kernel, theta)
    for i in range(len(out)):
        out[i] = log_f(kernel, y[i], theta)


@slot
def _sample(kernel, rng, theta):
    """Draw y ~ f(·|θ): a kernel's hook."""


@slot
def _base(kernel, rng, theta):
    """Write θ ~ G₀ into the row: a kernel's hook."""


@slot
def _update(kernel, rng, theta, ys, tune):
    """Update θ given the ys of its cluster: a kernel's hook."""


@slot
def _log_base(kernel, theta):
    """Return the log density of G₀: a kernel's hook."""


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
