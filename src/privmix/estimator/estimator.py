"""The mixture as a scikit-learn estimator: fit, predict, score and sample by the names people know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from privmix.clusters.released_density import log_release_density
from privmix.curves.predictive import count_of, draw_records
from privmix.estimator.inputs import read_points, read_release, read_seed, read_weights, release_labels
from privmix.estimator.parts import build_model
from privmix.frames.read import add_labels
from privmix.model import DEFAULTS
from privmix.parts.checks import check_count
from privmix.samplers.base import empty_records

if TYPE_CHECKING:
    import xarray as xr

    from privmix.kernels import Kernel
    from privmix.mechanisms import Mechanism
    from privmix.posterior import Clustering, Posterior
    from privmix.priors import Prior
    from privmix.samplers import Sampler


class PrivateMixtureEstimator(ClusterMixin, BaseEstimator):
    """A mixture fitted to released records, with scikit-learn's interface.

    In `fit`, `predict`, `predict_proba`, `score` and `score_released` X is the release Z: one column, or the columns
    of a mechanism that releases rows. In `score_samples` and `sample` X is the confidential data Y, whose density the
    fit is about.

    Parameters
    ----------
    mechanism
        What made the release. None means that X was not perturbed, `mechanisms.Identity()`: an estimator cannot guess
        the noise, and noise that it is not told of is taken for spread of the data.
    kernel
        The component density with its base measure. None takes `kernels.TruncatedNormal` on the mechanism's bounds, as
        `privmix.fit` does; for unperturbed data without bounds `kernels.HierarchicalNormal` over their range.
    prior
        The law of the mixing measure; None means that of `privmix.fit`, `priors.DirichletProcess((2.0, 1.0))`, or, with
        a kernel of your own, `priors.DirichletProcess(1.0)`.
    resolution
        Distance of neighbouring values that a record can take, from the lower bound of the mechanism on; None where
        records are not rounded. As in `privmix.fit`.
    sampler
        How to draw; None means `samplers.Auto()`.
    draws, warmup, thin, chains
        As in ``PrivateMixture.sample``.
    loss
        What the estimate of the clusters minimises, "vi" or "binder"; see ``Posterior.clustering``.
    column
        Where X has several columns, the name or the position of the one that holds the release; the others are ignored.
        None refuses several columns.
    random_state
        A whole number makes fits reproducible, and equal to those of ``PrivateMixture.sample`` with it as seed. None
        draws anew each time; a RandomState gives the next of its numbers.

    Attributes
    ----------
    posterior_ : Posterior
        The draws, with bands and diagnostics.
    clustering_ : Clustering
        The estimate of the clusters. It and the next two are there only where the posterior has clusters of records:
        not after one release of the whole data set, and not after a sampler that keeps counts alone.
    labels_ : ndarray
        Cluster of each row of X, 0 the largest.
    n_clusters_ : int
        Number of clusters of the estimate.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray
        Their names, where X was a frame.

    Examples
    --------
    >>> import numpy as np, privmix
    >>> mechanism = privmix.mechanisms.Laplace(epsilon=20, bounds=(-10, 10))
    >>> z = mechanism.privatize(np.random.default_rng(1).normal(2, 1, 100), seed=2)
    >>> estimator = privmix.PrivateMixtureEstimator(mechanism, draws=100, warmup=100, random_state=3)
    >>> estimator.fit(z.reshape(-1, 1)).score_samples([[2.0], [9.0]])  # doctest: +SKIP
    array([-0.9, -7.5])
    """

    def __init__(
        self,
        mechanism: Mechanism | None = None,
        kernel: Kernel | None = None,
        prior: Prior | None = None,
        *,
        resolution: float | None = None,
        sampler: Sampler | None = None,
        draws: int = DEFAULTS.draws,
        warmup: int = DEFAULTS.warmup,
        thin: int = DEFAULTS.thin,
        chains: int = DEFAULTS.chains,
        loss: str = "vi",
        column: str | int | None = None,
        random_state: Any = None,
    ) -> None:
        self.mechanism = mechanism
        self.kernel = kernel
        self.prior = prior
        self.resolution = resolution
        self.sampler = sampler
        self.draws = draws
        self.warmup = warmup
        self.thin = thin
        self.chains = chains
        self.loss = loss
        self.column = column
        self.random_state = random_state

    posterior_: Posterior
    clustering_: Clustering
    labels_: np.ndarray
    n_clusters_: int

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PrivateMixtureEstimator:
        """Draw from the posterior given a release, and estimate the clusters of its records.

        Parameters
        ----------
        X
            The release Z: a column (an array of shape (n, 1), a Series, a frame of one column), or as many columns as
            the mechanism releases numbers a record; of a global mechanism, its release as a column.
        y
            Ignored.
        sample_weight
            How many records were released as each row: whole numbers, 0 leaves a row out. Rows that are repeated give
            the same fit. Other weights have no meaning in a posterior and are refused.
        """
        z = read_release(self, X, reset=True)
        counts = read_weights(self, sample_weight, len(z))
        repeated = z if counts is None else np.repeat(z, counts, axis=0)
        settings = {name: getattr(self, name) for name in ("draws", "warmup", "thin", "chains")}
        seed = read_seed(self.random_state)
        self.posterior_ = build_model(self, repeated).sample(repeated, self.sampler, seed=seed, **settings)
        if counts is None:
            add_labels(self.posterior_.datatree, release_labels(self, X))
        self._set_clusters(z, counts)
        return self

    def _set_clusters(self, z: np.ndarray, counts: np.ndarray | None) -> None:
        for name in ("clustering_", "labels_", "n_clusters_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if "allocation" not in self.posterior_.datatree["posterior"]:
            return
        self.clustering_ = self.posterior_.clustering(self.loss)
        self.n_clusters_ = self.clustering_.n_clusters
        if counts is None:
            self.labels_ = self.clustering_.labels
            return
        # A row that stands for several records has the cluster of most of them; one left out is like a new record.
        votes = np.zeros((len(z), self.n_clusters_))
        np.add.at(votes, (np.repeat(np.arange(len(z)), counts), self.clustering_.labels), 1.0)
        self.labels_ = votes.argmax(axis=1)
        if (counts == 0).any():
            self.labels_[counts == 0] = self.posterior_.predict(z[counts == 0], self.clustering_)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and return the cluster of each row of X.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        """
        self.fit(X, y, sample_weight)
        if not hasattr(self, "labels_"):
            self.posterior_.clustering(self.loss)  # which says why there are none
        return self.labels_

    def predict(self, X: Any, *, mechanism: Mechanism | None = None) -> np.ndarray:
        """Return the most probable cluster of new records given their release, −1 for a new cluster.

        Parameters
        ----------
        X
            Releases of new records, as in `fit`.
        mechanism
            What released them, where the noise of the fit differs by record.
        """
        check_is_fitted(self)
        probability = self._probability(X, mechanism)
        return probability["cluster"].values[probability.values.argmax(axis=1)]

    def predict_proba(self, X: Any, *, mechanism: Mechanism | None = None) -> np.ndarray:
        """Return the probability of each cluster for new records given their release; the last column is a new one.

        Parameters
        ----------
        X, mechanism
            As in `predict`.
        """
        check_is_fitted(self)
        return self._probability(X, mechanism).values

    def _probability(self, X: Any, mechanism: Mechanism | None) -> xr.DataArray:
        z = read_release(self, X, reset=False)
        return self.posterior_.predict_proba(z, getattr(self, "clustering_", None), mechanism=mechanism)

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log of the posterior mean density of the confidential data at points; −∞ outside the bounds.

        With the noise taken off: not the log density of releases, which is `score_released`.

        Parameters
        ----------
        X
            Points on the scale of the confidential data, one column; where `column` is set, as in `fit`.
        """
        check_is_fitted(self)
        points = read_points(self, X)
        with np.errstate(divide="ignore"):
            return np.log(self.posterior_.density(points)["mean"].values)

    def score_released(self, X: Any, *, mechanism: Mechanism | None = None) -> np.ndarray:
        """Return the log of the posterior predictive density of new releases, each by itself.

        Parameters
        ----------
        X, mechanism
            As in `predict`.
        """
        check_is_fitted(self)
        return log_release_density(self.posterior_, read_release(self, X, reset=False), mechanism)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean of `score_released`: what cross-validation on a release should compare.

        Held-out rows are releases; the density of the confidential data at noisy points would favour fits that
        mistake the noise for spread.

        Parameters
        ----------
        X
            Releases of new records, as in `fit`.
        y
            Ignored.
        """
        return float(self.score_released(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw new confidential records from the posterior predictive distribution, as an array of shape (n, 1).

        Parameters
        ----------
        n_samples
            Number of records.
        random_state
            As the estimator's own, which is used by default.
        """
        check_is_fitted(self)
        check_count("n_samples", n_samples, 1)
        seed = read_seed(self.random_state if random_state is None else random_state)
        model, rng = self.posterior_.model, np.random.default_rng(seed)
        draws = self.posterior_.arrays
        which = rng.integers(count_of(draws), size=n_samples)
        y = draw_records(model.kernel, draws, which, empty_records(model, n_samples), rng, model.restricted_to)
        return y.reshape(n_samples, -1)
