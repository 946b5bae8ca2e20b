"""The density of new releases under a posterior."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.clusters.partitions import check_local
from privmix.clusters.predict import masses, with_mechanism
from privmix.curves.mixture import count_of

if TYPE_CHECKING:
    from privmix.posterior.posterior import Posterior


def log_release_density(posterior: Posterior, z: Any, mechanism: Any = None, seed: Any = 0) -> np.ndarray:
    """Return the log of the posterior predictive density of new releases, each considered by itself.

    With weights w_h and atoms φ_h it is log E[Σ_h w_h g(z|φ_h)], g(z|φ) = ∫ q(z|y) f(y|φ) dy, the expectation over the
    draws. Where g has no closed form it is estimated, without bias, as in `Posterior.predict_proba`. What the
    model is restricted to plays no part: the chains did not know of it.

    Parameters
    ----------
    posterior
        A fit to records that were released one by one.
    z
        Released records.
    mechanism, seed
        As in `Posterior.predict_proba`.
    """
    check_local(posterior.model)
    draws = posterior.arrays
    # Clusters of the fitted records play no part: without labels all components fall into one column.
    nobody, labels = np.zeros((count_of(draws), 0), np.int32), np.zeros(0, np.int64)
    mass, top = masses(with_mechanism(posterior.model, mechanism), draws, nobody, labels, z, seed)
    with np.errstate(divide="ignore"):
        return top + np.log(mass[:, 0]) - math.log(count_of(draws))
