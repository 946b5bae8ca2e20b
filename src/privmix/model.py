"""The model: a mechanism, a kernel and a prior that fit together; and how long to run it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from privmix.kernels import (
    Categorical,
    HierarchicalNormal,
    Kernel,
    MultivariateNormal,
    Normal,
    Product,
    TruncatedNormal,
)
from privmix.mechanisms import Mechanism, OnLattice
from privmix.pairs import Conjugate, Convolution, Pair, find
from privmix.parts.checks import check_count, check_interval, check_positive_number
from privmix.priors import DirichletProcess, Prior

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from privmix.posterior import Posterior
    from privmix.samplers import Sampler

#: kernel of `default_model`; that of a model that names none is the paper's, which does not follow from bounds
DefaultKernel = TruncatedNormal
#: hyperprior of the concentration of `default_model`: shape and rate of a gamma law
DEFAULT_CONCENTRATION = (2.0, 1.0)


# The limits that Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021) recommend.
LARGEST_R_HAT = 1.01
LEAST_ESS = 400.0


@dataclass(frozen=True)
class Limits:
    """How far a run goes on by itself: until its chains are within limits, or until the time is over.

    Parameters
    ----------
    r_hat
        Largest R-hat of any quantity in ``posterior.summary()``.
    ess
        Least effective sample size of any.
    minutes
        Most time to go on for after the first draws; without end if it is infinite.
    """

    r_hat: float = LARGEST_R_HAT
    ess: float = LEAST_ESS
    minutes: float = math.inf

    def __post_init__(self) -> None:
        if not _is_number(self.r_hat) or not self.r_hat > 1.0:
            raise ValueError(f"until: r_hat must be a number above 1, such as {LARGEST_R_HAT}; got {self.r_hat!r}.")
        if not _is_number(self.ess) or not 0.0 < self.ess < math.inf:
            raise ValueError(f"until: ess must be a positive number, such as {LEAST_ESS:.0f}; got {self.ess!r}.")
        if not _is_number(self.minutes) or not self.minutes > 0.0:
            raise ValueError(f"minutes must be a positive number; got {self.minutes!r}.")

    @classmethod
    def read(cls, until: Mapping[str, float] | None, minutes: float | None, chains: int) -> Limits | None:
        """Return the limits that were asked for, one that is left out as the library has it; None where there are none.

        Parameters
        ----------
        until, minutes
            As in ``PrivateMixture.sample``.
        chains
            Number of chains.
        """
        if until is None:
            if minutes is not None:
                raise ValueError("minutes says how long to go on until limits are reached: give until= too.")
            return None
        strange = sorted(set(until) - {"r_hat", "ess"}) if isinstance(until, Mapping) else [until]
        if strange:
            raise ValueError(f"until takes limits such as dict(r_hat=1.01, ess=400); got {strange[0]!r}.")
        if chains < 2:
            raise ValueError("until needs at least 2 chains: one alone does not show whether it forgot its start.")
        return cls(**until, minutes=math.inf if minutes is None else minutes)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


@dataclass(frozen=True)
class Settings:
    """The length of a run: the one place where it is declared and checked.

    Parameters
    ----------
    draws
        Kept draws of each chain.
    warmup
        Sweeps before the first draw.
    thin
        Sweeps for each kept draw.
    chains
        Independent chains.
    until, minutes
        Limits until which to go on after these draws, and how long at most; None not to go on.
    """

    draws: int = 2000
    warmup: int = 2000
    thin: int = 5
    chains: int = 4
    until: Mapping[str, float] | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        for name, least in (("draws", 1), ("warmup", 0), ("thin", 1), ("chains", 1)):
            object.__setattr__(self, name, check_count(name, getattr(self, name), least))
        Limits.read(self.until, self.minutes, self.chains)

    @property
    def sweeps(self) -> int:
        """Sweeps that a chain makes in all."""
        return self.warmup + self.draws * self.thin


#: The defaults of `privmix.fit`, ``PrivateMixture.sample``, the estimator and the command line.
DEFAULTS = Settings()


class Parts(NamedTuple):
    """The parameters of a model's parts as compiled code sees them."""

    mechanism: Any
    kernel: Any
    prior: Any


class Data(NamedTuple):
    """The release as compiled code sees it.

    ``z`` holds the encoded records or, for a global mechanism, the encoded release. ``origin`` is what a global
    mechanism sees of a data set in which every record has the value ``reference[0]``; empty for a local one.
    """

    z: np.ndarray
    origin: np.ndarray
    reference: np.ndarray


@dataclass(frozen=True)
class PrivateMixture:
    """A nonparametric mixture for data that were released through a privacy mechanism.

    Z_i | Y_i ~ Q(·|Y_i), Y_i | θ_i ~ f(·|θ_i), θ_i | P ~ P, P ~ prior over the kernel's base measure. A global
    mechanism makes one release of all records instead: Z | Y_1, …, Y_n ~ Q(·|Y).

    Parameters
    ----------
    mechanism
        The channel Q that made the release.
    kernel
        The component density f with its base measure.
    prior
        The law of the mixing measure.
    restricted_to
        Interval to which the density is restricted when it is read: cut there and renormalised in every draw. The
        chains know nothing of it. None leaves the density as the kernel has it.
    """

    mechanism: Mechanism
    kernel: Kernel = field(default_factory=Normal)
    prior: Prior = field(default_factory=DirichletProcess)
    restricted_to: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name, base in {"mechanism": Mechanism, "kernel": Kernel, "prior": Prior}.items():
            value = getattr(self, name)
            if not isinstance(value, base):
                hint = f" Did you mean {value.__name__}()?" if isinstance(value, type) else ""
                raise TypeError(f"{name} must be a {base.__name__}; got {value!r}.{hint}")
        taken = {"n_clusters", "concentration", "weight", "allocation"} & set(self.kernel.parameters)
        if taken:
            raise ValueError(
                f"{type(self.kernel).__name__} names a parameter {', '.join(sorted(taken))}, which a draw has already; "
                "choose another name."
            )
        if self.kernel.dimension != self.mechanism.dimension:
            raise ValueError(
                f"{type(self.kernel).__name__} describes records of {self.kernel.dimension} numbers, but "
                f"{type(self.mechanism).__name__} perturbs records of {self.mechanism.dimension}."
            )
        self._check_columns()
        if self.restricted_to is not None:
            self._check_restriction()

    def _check_columns(self) -> None:
        """Refuse columns that are named differently, and categories where the other part has numbers or others."""
        mechanism, kernel = self.mechanism, self.kernel
        if mechanism.names and kernel.names and mechanism.names != kernel.names:
            raise ValueError(
                f"the mechanism has the columns {', '.join(mechanism.names)} and the kernel {', '.join(kernel.names)}; "
                "both must name the same columns in the same order."
            )
        for where, m, k in columns_of(mechanism, kernel):
            if m.categories != k.categories:
                described = [_values_in_words(part.categories) for part in (m, k)]
                raise ValueError(
                    f"{where}{type(m.each).__name__} is for {described[0]}, but {type(k).__name__} for {described[1]}. "
                    "Categories go with kernels.Categorical, under the same names; numbers with any other kernel."
                )

    def _check_restriction(self) -> None:
        check_interval(self, "restricted_to")
        if self.kernel.dimension > 1:
            raise ValueError(
                f"restricted_to is for records of one number; those of {type(self.kernel).__name__} have "
                f"{self.kernel.dimension}. Leave it out."
            )

    def parts(self) -> Parts:
        """Return the parameters of the parts, ready for compiled code."""
        return Parts(self.mechanism.numbers(), self.kernel.numbers(), self.prior.numbers())

    def data(self, z: np.ndarray) -> Data:
        """Return a checked release, ready for compiled code."""
        encoded = np.ascontiguousarray(self.mechanism.encode(z))
        return Data(encoded, self.origin(), self.reference())

    def origin(self) -> np.ndarray:
        """Return what a global mechanism sees of records that all have the reference value; empty for a local one."""
        return self.mechanism.origin()

    def reference(self) -> np.ndarray:
        """Return one record with the value that a global mechanism starts from."""
        dimension = self.kernel.dimension
        return np.full(1 if dimension == 1 else (1, dimension), self.mechanism.reference)

    def hooks(self) -> dict[Callable, Callable]:
        """Return every slot that the parts fill."""
        return {**self.mechanism.hooks(), **self.kernel.hooks(), **self.prior.hooks(), **self.pair.hooks()}

    @property
    def pair(self) -> Pair:
        """What is known of this mechanism and this kernel together."""
        return find(self.mechanism, self.kernel)

    @property
    def convolution(self) -> Convolution | None:
        """What is known of g(z|θ) = ∫ q(z|y) f(y|θ) dy for this mechanism and kernel, or None."""
        return self.pair.convolution

    @property
    def has_masses(self) -> bool:
        """Whether the kernel's mass in each bin of a histogram is known."""
        return bool(self.pair.masses)

    @property
    def conjugate(self) -> Conjugate | None:
        """The conjugate marginal of this mechanism and kernel, or None."""
        return self.pair.conjugate

    def describe(self) -> str:
        """Return the parts in a line, for messages."""
        return f"{type(self.kernel).__name__} × {type(self.mechanism).__name__} × {type(self.prior).__name__}"

    def sample(
        self,
        z: Any,
        sampler: Sampler | None = None,
        *,
        draws: int = DEFAULTS.draws,
        warmup: int = DEFAULTS.warmup,
        thin: int = DEFAULTS.thin,
        chains: int = DEFAULTS.chains,
        until: Mapping[str, float] | None = None,
        minutes: float | None = None,
        seed: Any = None,
        progress: bool = False,
        executor: Executor | None = None,
        allocations: bool | None = None,
    ) -> Posterior:
        """Draw from the posterior given a release.

        Parameters
        ----------
        z
            The release: what ``mechanism.privatize`` returned, or a `Release`. Labels of a pandas index or an xarray
            coordinate become the coordinate ``record`` of the draws.
        sampler
            How to draw; by default `samplers.Auto()`, which chooses one and says which.
        draws, warmup, thin, chains
            Kept draws of each chain, sweeps before the first, sweeps for each kept draw, and independent chains.
        until, minutes
            ``until=dict(r_hat=1.01, ess=400)`` goes on after these draws until no quantity of ``posterior.summary()``
            has a larger R-hat or a smaller effective sample size, for at most so many minutes; a limit that is left out
            is the one of ``posterior.check()``. Where they are not reached, a warning says which and by how much.
            Chains that grow long are thinned. A seed gives the same draws again unless time ran out.
        seed
            Anything that `numpy.random.SeedSequence` takes, or a `SeedSequence` itself, which is left as it was. The
            same seed gives the same draws, whatever the number of threads or processes. It is not kept, because it may
            have made the release too; ``posterior.datatree.attrs["seed"] = …`` keeps it in files that are saved after.
        progress
            Show how far the chains are: bars on a terminal or in a notebook, elsewhere a line now and then on stderr.
        executor
            A `concurrent.futures.Executor` that runs the chains; threads of this process by default.
        allocations
            Whether to keep the cluster of every record in every draw. By default where that takes at most 256 MB.
        """
        from privmix.sampling.sample import sample

        settings = Settings(draws, warmup, thin, chains, until, minutes)
        return sample(
            self, z, sampler, settings, seed=seed, progress=progress, executor=executor, allocations=allocations
        )


def columns_of(mechanism: Mechanism, kernel: Kernel) -> list[tuple[str, Any, Any]]:
    """Return mechanism and kernel of each column, with what to say of it; of parts for one number themselves."""
    if mechanism.names and kernel.names:
        each = zip(mechanism.names, mechanism.children, kernel.children, strict=True)  # type: ignore[attr-defined]
        return [(f"column {name!r}: ", m, k) for name, m, k in each]
    return [] if kernel.dimension > 1 else [("", mechanism, kernel)]


def _values_in_words(categories: Any) -> str:
    return "numbers" if categories is None else f"the categories {', '.join(categories)}"


def default_model(mechanism: Mechanism, prior: Prior | None = None, resolution: float | None = None) -> PrivateMixture:
    """Return the model that `privmix.fit` fits: it follows from the mechanism's bounds alone.

    The kernel is `kernels.TruncatedNormal` on the bounds, so that the model knows what the data holder knows: no record
    lies outside; of clipped records it is `kernels.HierarchicalNormal`, which has no ends; of categories it is
    `kernels.Categorical`; of rows, a `kernels.Product` of these, or `kernels.MultivariateNormal` where the noise was
    set for all columns at once. Data and bounds that are shifted or stretched together give the same fit, shifted or
    stretched.

    Parameters
    ----------
    mechanism
        What made the release. It must have bounds.
    prior
        The law of the mixing measure; by default a Dirichlet process whose concentration is learned, with prior
        Gamma(2, 1).
    resolution
        Distance of neighbouring values that a record can take, from the lower bound on: 1 for ages. The density is that
        of the value before it was rounded to the nearest of them. None where records are not rounded.
    """
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"mechanism must be a mechanism such as mechanisms.Laplace(…); got {mechanism!r}.")
    if resolution is not None:
        need_numbers(mechanism)
        mechanism = OnLattice.around(mechanism, check_positive_number("resolution", resolution))
    each: Any = mechanism.each
    if each.columns_apart:
        columns = zip(each.names, each.children, strict=True)
        kernel: Kernel = Product([(name, default_kernel(child, f"column {name!r}: ")) for name, child in columns])
    else:
        kernel = default_kernel(mechanism)
    return PrivateMixture(mechanism, kernel, prior or default_prior())


def default_kernel(mechanism: Mechanism, where: str = "") -> Kernel:
    """Return the kernel of `default_model` for records of one number, of one category, or of rows with noise for all.

    Parameters
    ----------
    mechanism
        What made the release.
    where
        What to say before a message: the column that it is about.
    """
    if mechanism.categories is not None:
        return Categorical(mechanism.categories)
    if mechanism.dimension > 1:
        return MultivariateNormal.for_mechanism(mechanism)
    if mechanism.clipped_at is not None:
        return HierarchicalNormal(mechanism.clipped_at)
    need_bounds(mechanism, where)
    return DefaultKernel(mechanism.bounds)


def need_bounds(mechanism: Mechanism, where: str = "") -> None:
    """Refuse a mechanism whose records may be any number."""
    if mechanism.clipped_at is None and mechanism.bounds is None:
        raise ValueError(
            f"{where}fit derives its defaults from the mechanism's bounds, and {type(mechanism).__name__} has none. "
            "Give bounds=(lower, upper), or build a PrivateMixture with a kernel of your choice."
        )


def need_numbers(mechanism: Mechanism) -> None:
    """Refuse a resolution where records are no numbers inside bounds."""
    if mechanism.dimension > 1 or mechanism.categories is not None:
        raise ValueError(
            "resolution is for records of one number. Where a column has values on a lattice, say so in its mechanism: "
            "mechanisms.OnLattice(mechanism, step)."
        )
    need_bounds(mechanism)


def default_prior() -> Prior:
    """Return the prior of `default_model`: a Dirichlet process that learns its concentration."""
    return DirichletProcess(DEFAULT_CONCENTRATION)
