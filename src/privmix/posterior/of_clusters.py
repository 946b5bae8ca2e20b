"""What a posterior answers about clusters of records: estimates, their uncertainty, and the clusters of new records."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from privmix.clusters import Clustering, CredibleBall, faces
from privmix.posterior.run import Run


class OfClusters(Run):
    """A run with the answers that are about clusters of records."""

    def similarity(self) -> xr.DataArray:
        """Return the posterior probability that two records share a cluster, for each two records.

        The chains are pooled. The matrix (record, record2) is symmetric with a diagonal of one; it takes 8n² bytes up
        to n = 2,000 records, then 4n² in single precision: 100 MB at 5,000, 400 MB at 10,000.
        """
        return faces.similarity(self)

    def clustering(
        self,
        loss: str = "vi",
        *,
        weight: float = 1.0,
        max_clusters: int | None = None,
        runs: int = 16,
        visited: int | None = None,
        seed: Any = 0,
    ) -> Clustering:
        """Return the clusters of the records that minimise the posterior expected loss.

        The chains are pooled. The search is greedy from many starts, after SALSO (Dahl, Johnson and Müller, 2022), with
        exact expected losses over the draws. The result is no worse than any partition that the chains visited.

        Parameters
        ----------
        loss
            "vi", the variation of information, or "binder". Where the release says little on single records, Binder's
            loss breaks clusters into many small ones; the variation of information joins them.
        weight
            Cost a of two records wrongly separated; that of two wrongly joined is 2 − a. One is the plain loss, where
            both cost the same; above one gives fewer clusters, below one more.
        max_clusters
            Most clusters of the estimate. By default no limit for "binder", and for "vi" twice the most clusters of any
            draw plus 16, which is not met in practice.
        runs
            Runs of the search from random starts, beside those from visited partitions and from one cluster.
        visited
            How many of the visited partitions the result is compared with. By default all (with at most
            `max_clusters` clusters) while distinct partitions² × records is below 2·10¹⁰ (6,300 draws of 500 records),
            beyond that as many, evenly spaced, as time allows; `Clustering.visited` says how many.
        seed
            Anything that `numpy.random.default_rng` takes. The same seed gives the same estimate.
        """
        return faces.clustering(self, loss, weight, max_clusters, runs, visited, seed)

    def credible_ball(
        self, clustering: Clustering | Any = None, level: float = 0.95, *, loss: str = "vi"
    ) -> CredibleBall:
        """Return the smallest ball around an estimate of the clusters that holds `level` of the posterior.

        Its bounds say how the partition could be otherwise (Wade and Ghahramani, 2018): `upper`, with the fewest
        clusters, `lower`, with the most, and `horizontal`, the most distant.

        Parameters
        ----------
        clustering
            What `clustering` returned, or one whole number for each record; by default the estimate by `loss`.
        level
            Posterior probability of the ball.
        loss
            The distance, "vi" or "binder", where no `Clustering` is given; else that of its loss, unweighted.
        """
        return faces.ball(self, clustering, level, loss)

    def predict_proba(
        self, z: Any, clustering: Clustering | Any = None, *, mechanism: Any = None, seed: Any = 0
    ) -> xr.DataArray:
        """Return the posterior probability that new records belong to each cluster of an estimate, given their release.

        In a draw with weights w_h and atoms φ_h, a new record belongs to component h and has the release z with density
        w_h g(z|φ_h), where g(z|φ) = ∫ q(z|y) f(y|φ) dy. Component h stands for the clusters of the estimate in the
        shares s_hc in which its records are in them. So given the data and z, the probability of cluster c is

            E[Σ_h w_h g(z|φ_h) s_hc] / E[Σ_h w_h g(z|φ_h)],

        the expectations over the draws; components without records are a new cluster. Draws count by how well they
        explain z, as if it had been fitted with the data. Each new record is considered by itself.

        Parameters
        ----------
        z
            Released new records.
        clustering
            What `clustering` returned, or one whole number for each fitted record; by default the estimate by "vi".
        mechanism
            What released the new records; by default the mechanism of the model. Needed where the noise of the model
            differs by record.
        seed
            Used where g has no closed form: then it is estimated, without bias, from 64 draws of y for each component
            of each draw.

        Returns
        -------
        xarray.DataArray
            (record, cluster); rows sum to one. The last column, cluster −1, is a new cluster.
        """
        return faces.predict_proba(self, z, clustering, mechanism, seed)

    def predict(
        self, z: Any, clustering: Clustering | Any = None, *, mechanism: Any = None, seed: Any = 0
    ) -> np.ndarray:
        """Return the most probable cluster of each new record, −1 for a new cluster; see `predict_proba`."""
        return faces.predict(self, z, clustering, mechanism, seed)
