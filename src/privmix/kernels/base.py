"""What every kernel shares: which hooks it gives, and how they fill its slots.

θ is a row of an array: the kernel's parameters, then constants that ``prepare`` derives from them. Hooks get views of
rows and work in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from privmix.jit import bind, constant, lookup
from privmix.kernels import adapters
from privmix.kernels.derived import gives, optional_hooks
from privmix.kernels.random_walk import random_walk
from privmix.kernels.slots import draw_hyper, log_f, log_scale, parameter_count, prepare, update_atom, update_hyper
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
    - ``cdf(self, y, theta)``: optional; the distribution function
    - ``mass(self, lower, upper, theta)``: optional; the mass of an interval, accurate far out. Either of the two gives
      the other
    - ``sample_between(self, rng, theta, lower, upper)``: optional; a draw of y between two ends. Either of the two
      gives it by bisection
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
            **(adapters.NUMBERS if self.dimension == 1 else adapters.ROWS),
            **(adapters.LEARNED if self.hyperparameters else adapters.FIXED),
            log_f: cls.log_f,
            prepare: cls.prepare,
            adapters._sample: cls.sample,
            adapters._base: cls.base,
        }
        if self.hyperparameters:
            hooks |= {draw_hyper: cls.base_hyper, update_hyper: cls.update_hyper}
        if self.has("log_base"):
            positive = tuple(name in self.positive for name in self.parameters)
            hooks |= {
                adapters._log_base: cls.log_base,
                parameter_count: constant(len(positive)),
                log_scale: lookup(positive),
            }
        if self.has("update"):
            hooks[adapters._update] = cls.update
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
        bind(log_f_each, self.hooks(), owner=type(self).__name__)(self.record(), flat, row, out)
        return out.reshape(shape)


def log_f_each(kernel, y, theta, out):
    """Evaluate log f point by point (compiled)."""
    prepare(kernel, theta)
    for i in range(len(out)):
        out[i] = log_f(kernel, y[i], theta)
