"""Section 6 of the paper, on synthetic data drawn from the published histogram of the blood donors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import stats

from privmix import baselines
from privmix.kernels import Kernel, NoisyNormal, Normal
from privmix.mechanisms import Gaussian, Identity, Laplace, LocalMechanism
from privmix.model import PrivateMixture
from privmix.plots.style import RELEASE_COLOUR, RELEASE_EDGE
from privmix.priors import DirichletProcess
from privmix.samplers import Neal2, Neal3, Neal5, Sampler, Slice
from privmix.studies.runner import Results, Study, derive_seed, grid
from privmix.studies.runner.configuration import Coordinates
from privmix.studies.shared import pictures
from privmix.studies.shared.choices import Choice, words
from privmix.studies.shared.fits import ChainConfiguration, fit_default, measures_of, sample
from privmix.studies.shared.measures import l1_error
from privmix.studies.shared.tables import write_tables
from privmix.studies.shared.targets import Target

# Log of the days between the first two donations of 100 donors: twelve equal bins of the paper's figure. The data
# themselves are not public.
COUNTS = np.array([18, 10, 13, 15, 12, 5, 5, 3, 5, 3, 6, 5])
EDGES = np.linspace(4.497, 7.375, 13)
# 90 days must pass between donations; the data were collected over six years and a half.
BOUNDS = (4.49, 7.6)
HISTOGRAM = Target((stats.rv_histogram((COUNTS, EDGES), density=False),), BOUNDS)
SYNTHETIC = "synthetic data from the published histogram"


def synthetic_donors(rng: np.random.Generator) -> np.ndarray:
    """Return 100 values with the published count in each bin, uniform within it."""
    lower = np.repeat(EDGES[:-1], COUNTS)
    return lower + (EDGES[1] - EDGES[0]) * rng.random(len(lower))


def empirical_base(z: np.ndarray) -> dict[str, float]:
    """Return the paper's empirical base measure: E[σ²] half the variance of the release, Var[σ²] = .5.

    An inverse gamma with mean m and variance v has shape 2 + m²/v and rate m(1 + m²/v).
    """
    half = 0.5 * float(np.var(z, ddof=1))
    shape = 2.0 + half**2 / 0.5
    return {"mean": float(np.mean(z)), "precision_scale": 0.1, "shape": shape, "rate": half * (shape - 1.0)}


def normal(z: np.ndarray, _: LocalMechanism) -> Kernel:
    """Return the kernel of samplers that keep the records."""
    return Normal(**empirical_base(z))


def noisy_normal(z: np.ndarray, mechanism: Any) -> Kernel:
    """Return the kernel of samplers that integrate the records out."""
    return NoisyNormal(noise=float(mechanism.scale), **empirical_base(z))


def fit_normals(
    sampler: Sampler,
    kernel: Callable[[np.ndarray, LocalMechanism], Kernel],
    z: np.ndarray,
    mechanism: LocalMechanism,
    configuration: Configuration,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return what the paper's model finds."""
    model = PrivateMixture(mechanism, kernel(z, mechanism), DirichletProcess(1.0))
    return measures_of(sample(model, z, sampler, configuration, seed), HISTOGRAM, configuration.points)


def fit_as_by_default(
    z: np.ndarray, mechanism: LocalMechanism, configuration: Configuration, seed: np.random.SeedSequence
) -> dict[str, Any]:
    """Return what `privmix.fit` finds."""
    return measures_of(fit_default(z, mechanism, configuration, seed), HISTOGRAM, configuration.points)


def deconvolve(
    z: np.ndarray, mechanism: LocalMechanism, configuration: Configuration, _: np.random.SeedSequence
) -> dict[str, Any]:
    """Return the deconvolution kernel estimate, negative parts cut; it has no chains and no band."""
    points = HISTOGRAM.grid(configuration.points)
    mean = baselines.proper(baselines.Deconvolution().fit(z, mechanism).density(points), points)
    return {"l1": l1_error(mean, HISTOGRAM.density(points), points), "mean": mean}


def without_privacy(rho: float, bounds: tuple[float, float]) -> Identity:
    """Return the records as they are, whatever the budget."""
    return Identity(bounds=bounds)


# Both kinds of noise have scale Δ/√(2ρ), .52 at ρ = 17.8.
MECHANISMS = {
    "gaussian": Choice("Gaussian noise", Gaussian),
    "laplace": Choice("Laplace noise", Laplace),
    "none": Choice("without privacy", without_privacy),
}
FITS = {
    "neal5": Choice("private Neal 5", partial(fit_normals, Neal5(), normal)),
    "slice": Choice("slice", partial(fit_normals, Slice(), normal)),
    "neal2": Choice("Neal 2", partial(fit_normals, Neal2(), noisy_normal)),
    "neal3": Choice("Neal 3", partial(fit_normals, Neal3(), noisy_normal)),
    "default": Choice("privmix.fit", fit_as_by_default),
    "deconvolution": Choice("deconvolution kernel", deconvolve),
}
# Neal 2 and Neal 3 need the conjugate pair; records that are known need no private sampler.
SERVED = {
    "gaussian": tuple(FITS),
    "laplace": ("neal5", "slice", "default", "deconvolution"),
    "none": ("slice",),
}


@dataclass(frozen=True)
class Configuration(ChainConfiguration):
    """The paper's budget, on synthetic data.

    Parameters
    ----------
    rho
        Budget of zero-concentrated differential privacy of each record.
    mechanisms, fits
        The grid, of those fits that serve each mechanism.
    """

    replicates: int = grid(20)
    draws: int = 10_000
    rho: float = 17.8
    mechanisms: tuple[str, ...] = grid(tuple(MECHANISMS), "mechanism")
    fits: tuple[str, ...] = grid(tuple(FITS), "fit")

    def cells(self) -> list[Coordinates]:
        """Return a cell for each mechanism, fit that serves it and data set."""
        return [one for one in super().cells() if one["fit"] in SERVED[one["mechanism"]]]

    @classmethod
    def small(cls) -> Self:
        """Return two data sets and short chains."""
        return cls(replicates=2, draws=400)


def cell(
    configuration: Configuration, *, mechanism: str, fit: str, replicate: int, seed: np.random.SeedSequence
) -> dict[str, Any]:
    """Return mixing, error and band; the deconvolution estimator has error and density alone."""
    of_records, of_noise = derive_seed("donors", replicate=replicate).spawn(2)
    y = synthetic_donors(np.random.default_rng(of_records))
    made = MECHANISMS[mechanism].use(rho=configuration.rho, bounds=BOUNDS)
    z = made.privatize(y, seed=np.random.default_rng(of_noise))
    return {**FITS[fit].use(z, made, configuration, seed), "release": z, "records": y}


def figures(results: Results, folder: Path) -> None:
    """Draw the estimates by fit and the bands with and without privacy, and the error of each fit."""
    _densities(results, folder / "densities.png")
    _errors(results, folder / "errors.png")
    measures = ("l1", "covered", "ess", "acceptance", "r_hat")
    write_tables(results, folder / "tables.md", {"mechanism": words(MECHANISMS)}, "fit", measures)


def _densities(results: Results, path: Path) -> None:
    """Draw all estimates above, and the slice sampler's band beside that without privacy below."""
    names = [name for name in results.axis("mechanism") if name != "none"] or ["none"]
    points = HISTOGRAM.grid(results.configuration.points)
    axes = pictures.panels(2, len(names), width=4.2, height=2.7, sharex=True, sharey=True)
    for (above, below), name in zip(axes.T, names, strict=True):
        chosen = results.select(mechanism=name)
        for index, (fit, text) in enumerate(words(FITS).items()):
            pictures.draw_density(above, points, chosen.first(fit=fit), index, text, band=False)
        pictures.draw_density(below, points, chosen.first(fit="slice"), 0, "slice, posterior mean", band=True)
        _outline(below, points, results)
        above.set_title(MECHANISMS[name].words, fontsize="medium")
        below.set_xlabel("log of days between donations")
    heights, style = COUNTS / COUNTS.sum() / np.diff(EDGES), {"facecolor": RELEASE_COLOUR, "edgecolor": RELEASE_EDGE}
    for one in axes.flat:
        one.stairs(heights, EDGES, fill=True, linewidth=0.6, label="published histogram", zorder=0, **style)
        one.set_xlim(points[0], points[-1])
        one.set_ylim(0.0, 1.4)
    for row in axes:
        row[0].set_ylabel("density")
    rho = results.configuration.rho
    pictures.finish(axes, f"Blood donors, ρ = {rho:g}, {SYNTHETIC}; bands are pointwise at 95%", results, path)


def _outline(axes: Any, points: np.ndarray, results: Results) -> None:
    """Draw the band without privacy as two thin lines."""
    open_fit = results.first(mechanism="none", fit="slice")
    if open_fit is not None:
        style = {"color": "black", "linewidth": 0.9, "linestyle": (0, (4, 2.5))}
        axes.plot(points, open_fit.values["lower"], label="95% band without privacy", **style)
        axes.plot(points, open_fit.values["upper"], **style)


def _errors(results: Results, path: Path) -> None:
    """Draw the L1 distance to the histogram of every fit: a point for each data set, a bar at the median."""
    groups = [(m, f) for m in results.axis("mechanism") for f in FITS if len(results.select(mechanism=m, fit=f))]
    axes = pictures.panels(1, 1, width=7.5, height=0.32 * len(groups) + 1.0)
    panel = axes[0, 0]
    for row, (mechanism, fit) in enumerate(groups):
        errors = results.select(mechanism=mechanism, fit=fit).values("l1")
        panel.plot(errors, np.full(len(errors), row), "o", color="0.55", markersize=4, markerfacecolor="none")
        panel.plot(np.median(errors), row, "|", color="black", markersize=14, markeredgewidth=2)
    panel.set_yticks(range(len(groups)), [f"{MECHANISMS[m].words}: {FITS[f].words}" for m, f in groups])
    panel.invert_yaxis()
    panel.set_xlim(left=0.0)
    panel.set_xlabel("L1 distance to the published histogram (bar: median over data sets)")
    pictures.finish(axes, f"Blood donors, {SYNTHETIC}", results, path)


study = Study(
    "donors",
    "Section 6: times between blood donations at ρ = 17.8, on synthetic data from the published histogram.",
    Configuration,
    cell,
    figures,
)
