"""Components that are narrower than the data can tell, or than a curve can show: the mark of a mass at one value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from privmix.curves.mixture import count_of, load_atom, run_over
from privmix.kernels.slots import central_moments

if TYPE_CHECKING:
    from privmix.posterior.posterior import Posterior

# Share of the records that a component must have, and of the draws that must have such a component.
NOTABLE_WEIGHT, SURE = 0.02, 0.9
# Where nothing is known of the lattice: the distance of the points at which a density is shown, as a share of the
# bounds. A narrower component is a spike between two of them.
SHOWN = 1.0 / 200.0


def narrow_components(posterior: Posterior) -> tuple[float, float, float] | None:
    """Return limit, sd and weight of the narrowest notable component, where nearly all draws have one below the limit.

    With a lattice of step s the limit is s/√12, the standard deviation of rounding: data that were rounded cannot tell
    a component below it from a single point.
    """
    mechanism, kernel = posterior.model.mechanism, posterior.model.kernel
    if mechanism.bounds is None or kernel.dimension > 1 or not kernel.has("central_moments"):
        return None
    width = mechanism.bounds[1] - mechanism.bounds[0]
    limit = SHOWN * width if mechanism.lattice_step is None else mechanism.lattice_step / math.sqrt(12.0)
    found = np.empty((count_of(posterior.arrays), 2))
    run_over(kernel, narrowest, posterior.arrays, NOTABLE_WEIGHT, np.zeros((1, 4)), found)
    below = found[:, 0] < limit
    if np.mean(below) < SURE:
        return None
    sd, weight = np.median(found[below], axis=0)
    return limit, float(sd), float(weight)


def narrowest(kernel, weight, atom, components, row, least, part, out):
    """Fill out[d] with sd and weight of the narrowest component of draw d that has at least this weight (compiled)."""
    theta, moment = row[0], part[0]
    for d in range(len(weight)):
        out[d, 0], out[d, 1] = math.inf, 0.0
        for h in range(components[d]):
            if weight[d, h] >= least:
                load_atom(kernel, atom, d, h, theta)
                central_moments(kernel, theta, moment)
                sd = math.sqrt(max(moment[1], 0.0))
                if sd < out[d, 0]:
                    out[d, 0], out[d, 1] = sd, weight[d, h]
