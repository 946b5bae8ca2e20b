"""Where a chain starts: plausible records, cut into groups of neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.samplers.base import Latent

if TYPE_CHECKING:
    from privmix.model import PrivateMixture
    from privmix.samplers import Sampler


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


def set_first_steps(model: PrivateMixture, sampler: Sampler, state: Any, latent: Latent) -> None:
    """Set the first step sizes of random walks to the spread of the records, for parameters on their scale.

    Parameters that move on the log scale need none. So data that are stretched give a chain that is stretched, and
    warm-up starts from steps of the right order.
    """
    kernel = model.kernel
    spread = float(np.std(latent.y)) or 1.0
    steps = np.array([0.0 if name in kernel.positive else np.log(spread) for name in kernel.parameters])
    sampler.set_first_steps(state, steps)
    if not kernel.has("update"):
        state.tune[1:] = steps
