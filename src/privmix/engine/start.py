"""Where a chain starts: plausible records, cut into groups of neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privmix.samplers.base import Latent

if TYPE_CHECKING:
    from privmix.model import PrivateMixture


def initial_latent(model: PrivateMixture, z: np.ndarray, clusters: int) -> Latent:
    """Return a start with this many groups of equal size, in the order of the records' first coordinate.

    The records are what the mechanism thinks plausible, moved into the kernel's support. Chains that start with
    different numbers of groups make R-hat tell whether the start was forgotten.
    """
    kernel = model.kernel
    y = np.ascontiguousarray(model.mechanism.initial(z), dtype=np.float64)
    lower, upper = kernel.support
    if not model.mechanism.reveals and np.isfinite([lower, upper]).all():
        margin = 1e-3 * (upper - lower)
        y = np.clip(y, lower + margin, upper - margin)
    order = np.argsort(y if y.ndim == 1 else y[:, 0], kind="stable")
    labels = np.empty(len(y), np.int64)
    labels[order] = np.arange(len(y)) * clusters // len(y)
    return Latent(
        labels=labels,
        atoms=np.zeros((clusters, kernel.columns)),
        y=y,
        concentration=np.zeros(1),
        hyper=np.zeros(len(kernel.hyperparameters)),
    )
