"""The posterior of a private mixture: what is read off its draws, each answer by the room that knows it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from privmix.checks.check import Finding, check, check_convergence, check_run, doubt_of
from privmix.checks.informativeness import REFIT, RELEASES, Informativeness, informativeness
from privmix.checks.predictive_check import predictive_check
from privmix.checks.summary import summary
from privmix.curves import columns, dependence, functionals
from privmix.curves.density import check_grid, default_grid, density_bands, density_draws, grid_coords
from privmix.curves.grid import follow_spikes
from privmix.curves.predictive import predictive
from privmix.model import Settings
from privmix.posterior.of_clusters import OfClusters

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Posterior(OfClusters):
    """Draws from the posterior of a private mixture.

    Made by ``PrivateMixture.sample`` or ``privmix.fit``; read with `density`, `summary` and `datatree`.
    """

    def density(self, grid: Any = None, level: float = 0.95) -> xr.Dataset:
        """Return the posterior mean of the density of the confidential data, with credible bands.

        Parameters
        ----------
        grid
            Points, by default 200 over the mechanism's bounds or the range of the release, and more where the density
            has spikes between them. Of records of several columns, points of some by name, ``{"age": ages, "income":
            incomes}``, whose joint density is returned over these dimensions; or an array of whole rows.
        level
            Posterior probability of the bands.

        Returns
        -------
        xarray.Dataset
            Over `y`: ``mean``; ``lower`` and ``upper``, between which the density at a single point lies with
            probability `level`; ``simultaneous_lower`` and ``simultaneous_upper``, between which the whole curve lies,
            at all points of the grid at once, with probability `level`.
        """
        if isinstance(grid, Mapping):
            return columns.density_over(self.model.kernel, self.arrays, grid, level)
        points = self.shown_grid() if grid is None else grid
        return density_bands(self.model.kernel, self.arrays, points, level, self.model.restricted_to)

    def density_draws(self, grid: Any = None) -> xr.DataArray:
        """Return the density at each point of the grid, as `density` takes it, in each draw."""
        if isinstance(grid, Mapping):
            return columns.density_draws_over(self.model.kernel, self.arrays, grid)
        points = self.shown_grid() if grid is None else check_grid(self.model.kernel, grid)
        values = density_draws(self.model.kernel, self.arrays, points, self.model.restricted_to)
        coords = grid_coords(self.model.kernel, points) if points.ndim == 1 else None
        return xr.DataArray(values, dims=("chain", "draw", "y"), coords=coords)

    def marginal(self, name: str) -> Posterior:
        """Return one column of records of several, as a posterior of its own.

        It answers what a fit of one column does. Its records are those that reported the column. It can neither be
        continued nor saved: the chains moved all columns together.

        Parameters
        ----------
        name
            Of the column.
        """
        from privmix.posterior.columns import marginal

        return marginal(self, name)

    def conditional(self, name: str, /, **given: Any) -> Posterior:
        """Return the law of one column among records with given values of others, as a posterior of its own.

        In each draw a component counts by how likely it has these values, w_h f(given|θ_h). The answer has density,
        moments, quantiles and probabilities with bands: a regression of the whole density.

        Parameters
        ----------
        name
            Of the column that is asked for.
        given
            Values of one or more other columns: ``posterior.conditional("income", age=40)``.
        """
        from privmix.posterior.columns import conditional

        return conditional(self, name, given)

    def cdf(self, grid: Any = None, level: float = 0.95) -> xr.Dataset:
        """Return the distribution function P(Y ≤ y) of the confidential data: mean, lower, upper over the grid.

        Parameters
        ----------
        grid
            Points, by default as for `density`.
        level
            Posterior probability of the band at each point.
        """
        return functionals.cdf_bands(self.model, self.arrays, self.default_grid() if grid is None else grid, level)

    def quantile(self, probs: Any, level: float = 0.95) -> xr.Dataset:
        """Return quantiles of the confidential data: mean, lower, upper over `prob`.

        Parameters
        ----------
        probs
            Probabilities strictly between 0 and 1; .5 is the median.
        level
            Posterior probability of each interval.
        """
        return functionals.quantile_bands(self.model, self.arrays, self.plan.z, probs, level)

    def quantile_draws(self, probs: Any) -> xr.DataArray:
        """Return quantiles of the confidential data in each draw."""
        values = functionals.quantile_draws(self.model, self.arrays, self.plan.z, probs)
        coords = {"prob": functionals.check_probs(probs)}
        return xr.DataArray(values.reshape(self.chains, self.draws, -1), dims=("chain", "draw", "prob"), coords=coords)

    def probability(self, lower: float, upper: float, level: float = 0.95) -> xr.Dataset:
        """Return P(lower < Y ≤ upper): mean, lower, upper and the draws.

        Parameters
        ----------
        lower, upper
            Ends of the interval; either may be infinite.
        level
            Posterior probability of the interval of this probability.
        """
        return functionals.probability(self.model, self.arrays, lower, upper, level)

    def beyond(self, level: float = 0.95) -> xr.Dataset:
        """Return the share of records beyond each bound to which they were clipped (`mechanisms.Clipped`).

        Over the coordinate `side`: ``mean``, ``lower``, ``upper``, the draws. The shape out there is the prior's.

        Parameters
        ----------
        level
            Posterior probability of each interval.
        """
        return functionals.beyond(self.model, self.arrays, level)

    def moments(self, level: float = 0.95) -> xr.Dataset:
        """Return mean, variance, sd, skewness and excess kurtosis of the confidential data's law.

        Over the coordinate `moment`: ``mean``, ``lower``, ``upper`` of each, and its ``draws``.

        Parameters
        ----------
        level
            Posterior probability of each interval.
        """
        return functionals.moments(self.model, self.arrays, level)

    def correlation(self, level: float = 0.95) -> xr.Dataset:
        """Return the correlations of the columns of the confidential records that are numbers.

        Over the coordinates `column` and `other`: ``mean``, ``lower``, ``upper`` and the ``draws``. Exact in each draw
        where kernels state their moments, else integrated.

        Parameters
        ----------
        level
            Posterior probability of each interval.
        """
        return dependence.correlation(self.model.kernel, self.arrays, level)

    def mutual_information(self, level: float = 0.95) -> xr.Dataset:
        """Return the mutual information of each two columns of the confidential records, in nats.

        It is 0 where two columns are independent, whatever their kind, and no more than the entropy of a category.
        Over the coordinates `column` and `other`: ``mean``, ``lower``, ``upper`` and the ``draws``; NaN for a column
        with itself. Of two categories it is exact in each draw; of numbers that are independent inside components it is
        that of 96 cells each, which can only lose; of numbers that slope inside them it is an integral.

        Parameters
        ----------
        level
            Posterior probability of each interval.
        """
        return dependence.mutual_information(self.model.kernel, self.arrays, level)

    def mode_count(self, grid: Any = None, prominence: float = 0.01, level: float = 0.95) -> xr.Dataset:
        """Return the number of modes of the density: mean, lower, upper, draws and the probability of each number.

        A density that falls from the first point of the grid, or rises up to the last, has a mode there.

        Parameters
        ----------
        grid
            Points, by default as for `density`; what happens between two points is not seen.
        prominence
            A mode counts if the density falls on both sides by at least this share of its highest value before it rises
            higher again. At 0 every ripple counts.
        level
            Posterior probability of the interval.
        """
        points = self.shown_grid() if grid is None else grid
        return functionals.mode_count(self.model, self.arrays, points, prominence, level)

    def predictive(self, size: int, seed: Any = None) -> xr.Dataset:
        """Return new records `y` from the posterior predictive law, and `z`, what the mechanism would release of them.

        Each record comes from a draw of the posterior taken at random, and lies in the interval that the model is
        restricted to, if it is. Records of several columns come by column, ``age``, ``sex``, …, beside their release,
        ``released_age``, …: ``.to_dataframe()`` has synthetic rows. Under a mechanism that releases the whole data set
        at once, `size` counts data sets of as many records as were released.

        Parameters
        ----------
        size
            Number of records.
        seed
            Anything that `numpy.random.default_rng` takes.
        """
        return predictive(self.model, self.arrays, self.records_of_draws, size, seed)

    def predictive_check(
        self, statistics: dict[str, Any] | None = None, replicates: int | None = None, seed: Any = 1
    ) -> xr.Dataset:
        """Compare the release with replicates that the fitted model makes.

        A replicate is a release of as many records, drawn from the density of one draw of the posterior as it is shown.

        Parameters
        ----------
        statistics
            Functions of a release that return a number, by name. By default mean, sd, skewness, smallest and largest
            number and ``distance``, the Kolmogorov–Smirnov distance from the predictive law; for a release of several
            numbers mean, sd and ``distance``, the root mean square of the standardised deviations of the coefficients.
            Where a release has bars (bins, few outputs, else 20 ranges of numbers), also ``bar``: the largest deviation
            of the share of one of them from what is expected, in its standard deviations.
        replicates
            How many, by default 200 to 1,000 by the size of the release.
        seed
            Anything that `numpy.random.default_rng` takes.

        Returns
        -------
        xarray.Dataset
            ``observed``, ``replicated``, ``share_above`` (of replicates) and ``p_value`` (two-sided, but for
            ``distance`` and ``bar``) over `statistic`; ``observed_histogram`` and ``replicated_histogram`` over `bin`;
            ``observed_share``, ``replicated_share`` and ``deviation`` over `bar`.
        """
        return predictive_check(self, statistics, replicates, seed)

    def check(self, replicates: int | None = None, seed: Any = 1) -> list[Finding]:
        """Return in words what speaks for and against this fit: chains, acceptance, bounds, fit to the release.

        Parameters
        ----------
        replicates, seed
            Of the posterior predictive check.

        Returns
        -------
        list of Finding
            Each has a `level` ("warning", "note" or "good"), `title`, `text` and `advice`; warnings come first.
        """
        return check(self, replicates, seed)

    def doubt(self) -> str:
        """Return why no band or interval of this fit is to be trusted, in a few words; empty where chains converged.

        Pictures and reports show it.
        """
        return doubt_of([*check_run(self), *check_convergence(self.summary())])

    def informativeness(
        self,
        null: int = RELEASES,
        *,
        draws: int = REFIT.draws,
        warmup: int = REFIT.warmup,
        thin: int = REFIT.thin,
        chains: int = REFIT.chains,
        seed: Any = 1,
        executor: Any = None,
    ) -> Informativeness:
        """Answer whether the release tells anything beyond the prior.

        The answer is the Hellinger distance of the posterior mean density from the prior mean density, against its
        range for releases without information: the same mechanism applied to as many records drawn independently from
        the prior mean density, inside the bounds. There is nothing in such records that the prior did not say, and what
        distance remains is chance: of the records, the noise and the short run. Each is fitted with the same sampler.

        Parameters
        ----------
        null
            Number of releases without information; with fewer than 19 the range is exceeded by chance in more than 5%.
        draws, warmup, thin, chains
            Of each of their fits. Shorter runs make the range wider, so that the answer errs towards "no".
        seed
            Of releases and fits, as in ``PrivateMixture.sample``.
        executor
            As in ``PrivateMixture.sample``.
        """
        settings = Settings(draws, warmup, thin, chains)
        return informativeness(self, null=null, settings=settings, seed=seed, executor=executor)

    def plot(self, **options: Any) -> Axes | np.ndarray:
        """Draw the density with its bands and the release; `privmix.plots` has this and other pictures.

        Of records of several named columns, all columns and each two of them.

        Parameters
        ----------
        options
            As in ``privmix.plots.plot_density``: ``ax=``, ``level=``, ``truth=``, …; of columns as in ``plot_pairs``.

        Returns
        -------
        matplotlib.axes.Axes, or an array of them
            The Axes drawn on.
        """
        from privmix.plots.density import plot_density
        from privmix.plots.pairs import plot_pairs

        return plot_pairs(self, **options) if self.model.kernel.names else plot_density(self, **options)

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write a report of this fit as one HTML page that needs no network.

        Parameters
        ----------
        path
            Where to write, ``.html``; an existing file is replaced.
        options
            As in ``privmix.report.write``: ``level=``, ``informativeness=``, ``title=``.
        """
        from privmix.report.page import write

        write(self, path, **options)

    def default_grid(self, points: int = 200) -> np.ndarray:
        """Return points over the mechanism's bounds or, where it has none, over the range of the release.

        They are the middles of equal cells, so that they keep off the ends, where a beta density may be infinite.
        """
        return default_grid(self.model, self.plan.z, points)

    def shown_grid(self) -> np.ndarray:
        """Return the default grid, with points added where the density has spikes narrower than its steps."""
        return follow_spikes(self.model, self.arrays, self.default_grid())

    def summary(self, at: Any = None) -> pd.DataFrame:
        """Return ESS and R-hat of the number of clusters and of the density at several points, and acceptance.

        These quantities do not depend on labels, so that label switching can neither spoil nor flatter them.

        Parameters
        ----------
        at
            Points at which the density is followed; by default quantiles of its posterior mean. Of records of several
            columns, points by column: ``{"age": [30, 60]}``.
        """
        return summary(self, at)
