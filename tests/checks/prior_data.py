"""False alarms of the check of fit: data sets from the prior itself, released, fitted and checked."""

import numpy as np

from privmix import PrivateMixture, kernels, mechanisms
from privmix.checks.check import check_fit
from privmix.curves.predictive import replicator
from privmix.curves.prior import prior_draws

UNIT = (0.0, 1.0)
MECHANISMS = (
    mechanisms.NoisyHistogram(300, 30, epsilon=1.0, bounds=UNIT),
    mechanisms.Laplace(epsilon=5.0, bounds=UNIT),
    mechanisms.RandomizedResponse(16, epsilon=2.0, bounds=UNIT),
)


def count_alarms(mechanism, data_sets, records=300, replicates=1000):
    """Return how many releases of data from the prior are said not to fit the model that made them."""
    model = PrivateMixture(mechanism, kernels.Beta())
    alarms = 0
    for seed in range(data_sets):
        rng = np.random.default_rng(seed)
        _, z = replicator(model, prior_draws(model, 1, rng), records, rng)()
        fit = model.sample(z, draws=100, warmup=200, thin=2, chains=1, seed=seed)
        (finding,) = check_fit(fit, replicates, seed)
        alarms += finding.level == "warning"
    return alarms
