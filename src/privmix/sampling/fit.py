"""One call from a release to a posterior, with defaults that serve."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from privmix.kernels import HierarchicalNormal
from privmix.mechanisms import Mechanism
from privmix.model import PrivateMixture
from privmix.posterior import Posterior
from privmix.priors import DirichletProcess
from privmix.release import Release
from privmix.samplers import Sampler
from privmix.sampling.sample import sample


def default_kernel(mechanism: Mechanism) -> HierarchicalNormal:
    """Return the kernel over the mechanism's bounds, or say that it has none."""
    if mechanism.bounds is None:
        raise ValueError(
            f"fit derives its defaults from the mechanism's bounds, and {type(mechanism).__name__} has none. Give "
            "bounds=(lower, upper), or build a PrivateMixture with a kernel of your choice."
        )
    return HierarchicalNormal(mechanism.bounds)


def fit(
    z: Any,
    mechanism: Mechanism | None = None,
    *,
    sampler: Sampler | None = None,
    draws: int = 2000,
    warmup: int = 2000,
    thin: int = 5,
    chains: int = 4,
    seed: Any = None,
    progress: bool = False,
    executor: Executor | None = None,
    allocations: bool | None = None,
) -> Posterior:
    """Fit a mixture to a release, with a base measure that follows from the mechanism's bounds alone.

    The kernel is `kernels.HierarchicalNormal` over the bounds, the prior a Dirichlet process of concentration 1, and
    the density is cut to the bounds and renormalised there. Data and bounds that are shifted or stretched together
    give the same fit, shifted or stretched.

    Parameters
    ----------
    z
        The released records (an array, or a column of pandas, polars, pyarrow or xarray, whose labels and name are
        kept), the release of a whole data set, or a `Release`.
    mechanism
        What made them; not needed with a `Release`. It must have bounds.
    sampler, draws, warmup, thin, chains, seed, progress, executor, allocations
        As in ``PrivateMixture.sample``.

    Examples
    --------
    >>> import numpy as np, privmix
    >>> mechanism = privmix.mechanisms.Laplace(epsilon=10, bounds=(-10, 10))
    >>> z = mechanism.privatize(np.random.default_rng(1).normal(2, 1, 300), seed=2)
    >>> posterior = privmix.fit(z, mechanism, seed=3)
    >>> float(posterior.density()["mean"].idxmax())  # doctest: +SKIP
    2.06
    """
    if mechanism is None:
        if not isinstance(z, Release):
            raise TypeError("fit needs the mechanism that made the release: fit(z, mechanism), or fit(release).")
        mechanism = z.mechanism
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"mechanism must be a mechanism such as mechanisms.Laplace(…); got {mechanism!r}.")
    model = PrivateMixture(mechanism, default_kernel(mechanism), DirichletProcess(1.0))
    return sample(
        model,
        z,
        sampler,
        draws=draws,
        warmup=warmup,
        thin=thin,
        chains=chains,
        seed=seed,
        progress=progress,
        executor=executor,
        allocations=allocations,
        support=mechanism.bounds,
    )
