"""One call from a release to a posterior, with defaults that serve."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from privmix.mechanisms import Mechanism
from privmix.model import default_model
from privmix.posterior import Posterior
from privmix.release import Release
from privmix.samplers import Sampler
from privmix.settings import DEFAULTS


def fit(
    z: Any,
    mechanism: Mechanism | None = None,
    *,
    sampler: Sampler | None = None,
    draws: int = DEFAULTS.draws,
    warmup: int = DEFAULTS.warmup,
    thin: int = DEFAULTS.thin,
    chains: int = DEFAULTS.chains,
    seed: Any = None,
    progress: bool = False,
    executor: Executor | None = None,
    allocations: bool | None = None,
) -> Posterior:
    """Fit a mixture to a release: ``default_model(mechanism).sample(z, …)``.

    The kernel is `kernels.HierarchicalNormal` over the mechanism's bounds, the prior a Dirichlet process of
    concentration 1, and the density is cut to the bounds and renormalised there.

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
    return default_model(mechanism).sample(
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
    )
