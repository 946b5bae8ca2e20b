"""The probability of a partition under each prior, from definitions: seats at tables, labels of components summed over.

Plain Python and SciPy's probability functions; nothing of the library's priors.
"""

import math

import numpy as np
from scipy import integrate, stats

# Components beyond which the sum over their number stops: the heaviest tail here has less than 1e-12 left.
MOST_COMPONENTS = 3000


def pitman_yor(partition, discount, concentration):
    """Seat the records one after the other: n_h − d at an old table, α + kd at a new one, over α + i."""
    probability, sizes = 1.0, []
    for i, label in enumerate(partition):
        if label == len(sizes):
            sizes.append(0)
            weight = concentration + (len(sizes) - 1) * discount
        else:
            weight = sizes[label] - discount
        sizes[label] += 1
        probability *= weight / (concentration + i) if i > 0 else 1.0
    return probability


def finite(partition, components, weight):
    """Sum over the K(K − 1)… ways to label the clusters; each record has its label with (n_h + γ)/(Kγ + i)."""
    clusters = max(partition) + 1
    if clusters > components:
        return 0.0
    probability, sizes = math.prod(range(components - clusters + 1, components + 1)), [0] * clusters
    for i, label in enumerate(partition):
        probability *= (sizes[label] + weight) / (components * weight + i)
        sizes[label] += 1
    return probability


def components_law(name, mean):
    """Return the law of K − 1 from SciPy."""
    return {
        "poisson": stats.poisson(mean - 1.0),
        "geometric": stats.geom(1.0 / mean, loc=-1),
        "beta negative binomial": stats.betanbinom(1, 4.0, 3.0 * (mean - 1.0)),
    }[name]


def finite_mixture(partition, name, mean, weight):
    """Sum over the number of components."""
    shares = components_law(name, mean).pmf(np.arange(MOST_COMPONENTS))
    return sum(share * finite(partition, k + 1, weight) for k, share in enumerate(shares) if share > 0.0)


def learned(law, shape, rate):
    """Integrate a number with a Gamma hyperprior out of a probability law(x)."""
    density = stats.gamma(shape, scale=1.0 / rate)
    return integrate.quad(lambda x: law(x) * density.pdf(x), 0.0, density.isf(1e-12), epsrel=1e-9, limit=200)[0]
