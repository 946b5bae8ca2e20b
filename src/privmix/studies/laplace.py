"""Section 4.1 of the paper: private Neal 5 and slice samplers under Laplace noise, by records and ε."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import stats

from privmix.kernels import Normal
from privmix.mechanisms import Laplace
from privmix.model import PrivateMixture
from privmix.plots.style import TRUTH_COLOUR, TRUTH_LINE
from privmix.priors import DirichletProcess
from privmix.samplers import Neal5, Slice
from privmix.studies.runner import Results, Study, grid
from privmix.studies.shared import pictures
from privmix.studies.shared.choices import Choice, words
from privmix.studies.shared.fits import ChainConfiguration, measures_of, sample
from privmix.studies.shared.measures import adjusted_rand_index, hellinger, spread_draws
from privmix.studies.shared.tables import write_tables
from privmix.studies.shared.targets import THREE_NORMALS

# N(μ | 0, 10σ²) × IG(σ² | 3, 3).
KERNEL = Normal(mean=0.0, precision_scale=0.1, shape=3.0, rate=3.0)
SAMPLERS = {
    "neal5-m1": Choice("Neal 5, m = 1", Neal5()),
    "neal5-m5": Choice("Neal 5, m = 5", Neal5(auxiliaries=5)),
    "slice": Choice("slice", Slice(swaps=False)),
    "slice-exchange": Choice("slice with exchanges", Slice()),
}
# Those whose draws are asked for clusters.
CLUSTERING = ("slice", "slice-exchange")
# Wide enough for all mass of a fit that there is; the prior's tails beyond it overlap with nothing.
WIDE = np.linspace(-40.0, 40.0, 801)


@dataclass(frozen=True)
class Configuration(ChainConfiguration):
    """The paper's sizes: 100,000 sweeps, the first half dropped, medians over 50 data sets.

    Parameters
    ----------
    records, epsilons, samplers
        The grid. The first three samplers are the paper's; the last exchanges neighbouring sticks too, as `Slice` does
        by default.
    concentration
        Of the Dirichlet process; 1, with which the paper's figures were made.
    """

    records: tuple[int, ...] = grid((50, 200, 500, 1000), "records")
    epsilons: tuple[float, ...] = grid((1.0, 2.0, 5.0, 10.0, 50.0), "epsilon")
    samplers: tuple[str, ...] = grid(tuple(SAMPLERS), "sampler")
    concentration: float = 1.0

    @classmethod
    def small(cls) -> Self:
        """Return two data sets of 50 and 200 records and short chains."""
        return cls(replicates=2, draws=1000, records=(50, 200), epsilons=(1.0, 10.0, 50.0))


def cell(
    configuration: Configuration,
    *,
    records: int,
    epsilon: float,
    sampler: str,
    replicate: int,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return mixing, error, band, distance from the prior and, for the slice samplers, the quality of its clusters."""
    label, z, mechanism = data(records, epsilon, replicate)
    model = PrivateMixture(mechanism, KERNEL, DirichletProcess(configuration.concentration))
    clusters = sampler in CLUSTERING
    posterior = sample(model, z, SAMPLERS[sampler].use, configuration, seed, allocations=clusters)
    found = measures_of(posterior, THREE_NORMALS, configuration.points)
    few = spread_draws(posterior)
    found["hellinger"] = hellinger(few.density(WIDE)["mean"].values, prior_density(WIDE), WIDE)
    if clusters:
        found["rand"] = adjusted_rand_index(few.clustering(loss="vi").labels, label)
        found["rand_binder"] = adjusted_rand_index(few.clustering(loss="binder").labels, label)
    return found


def data(records: int, epsilon: float, replicate: int) -> tuple[np.ndarray, np.ndarray, Laplace]:
    """Return the component of each record, their release and the mechanism."""
    mechanism = Laplace(epsilon=epsilon, bounds=THREE_NORMALS.bounds)
    _, label, z = THREE_NORMALS.release("three normals", mechanism, records=records, replicate=replicate)
    return label, z, mechanism


def prior_density(grid: np.ndarray) -> np.ndarray:
    """Return the prior mean density: Student's t with 2a degrees of freedom and squared scale (b/a)(1 + 1/λ)."""
    squared = KERNEL.rate_prior[1] / KERNEL.shape * (1.0 + 1.0 / KERNEL.precision_scale)
    return stats.t(2.0 * KERNEL.shape, KERNEL.mean_prior[0], np.sqrt(squared)).pdf(grid)


def figures(results: Results, folder: Path) -> None:
    """Draw acceptance and mixing, densities by sampler and with bands, clusters, distance from the prior."""
    _mixing(results, folder / "mixing.png")
    n = min(results.axis("records"), key=lambda value: abs(value - 200))
    curves = {one.words: {"records": n, "sampler": name} for name, one in SAMPLERS.items()}
    title = f"Posterior mean density by sampler, one data set of n = {n:,}"
    pictures.draw_density_row(results, THREE_NORMALS, curves, title, folder / "densities.png")
    sizes, curve = {n: f"n = {n:,}" for n in results.axis("records")}, {"slice, posterior mean": {"sampler": "slice"}}
    title = "Density with pointwise 95% bands, one data set of each size"
    pictures.draw_density_table(results, THREE_NORMALS, "records", sizes, curve, title, folder / "bands.png")
    _quality(results, folder / "quality.png", sizes)
    measures = ("acceptance", "ess", "l1", "covered", "hellinger", "rand", "rand_binder", "r_hat")
    rows = {"records": {}, "sampler": words(SAMPLERS)}
    write_tables(results, folder / "tables.md", rows, "epsilon", measures)


def _mixing(results: Results, path: Path) -> None:
    """Draw the acceptance rate above the effective sample size of the number of clusters."""
    records, epsilons = results.axis("records"), results.axis("epsilon")
    axes = pictures.panels(2, len(records), sharey="row")
    for (above, below), n in zip(axes.T, records, strict=True):
        for panel, what in ((above, "acceptance"), (below, "ess")):
            chosen = results.select(records=n)
            pictures.draw_medians(panel, chosen, "epsilon", what, "sampler", words(SAMPLERS), ticks=epsilons)
        bound = {"color": TRUTH_COLOUR, "linestyle": TRUTH_LINE, "linewidth": 1.0, "label": "bound exp(−ε)"}
        above.plot(epsilons, np.exp(-np.array(epsilons)), **bound)
        above.set_title(f"n = {n:,}", fontsize="medium")
        above.set_ylim(0.0, 1.0)
        below.set_yscale("log")
    axes[0, 0].set_ylabel("acceptance")
    axes[1, 0].set_ylabel("ESS of clusters\nper 1,000 draws")
    pictures.finish(axes, "Acceptance and mixing, medians over data sets (bars: 10% to 90%)", results, path)


def _quality(results: Results, path: Path, sizes: dict[int, str]) -> None:
    """Draw error, distance from the prior and the quality of the clusters against ε."""
    labels = {
        "l1": "L1 error",
        "hellinger": "Hellinger distance of\nposterior and prior mean",
        "rand_binder": "adjusted Rand index\n(Binder's loss)",
        "covered": "mass where the 95% band\nholds the truth",
    }
    axes, chosen = pictures.panels(1, len(labels)), results.select(sampler="slice")
    for panel, (what, label) in zip(axes[0], labels.items(), strict=True):
        pictures.draw_medians(panel, chosen, "epsilon", what, "records", sizes, ticks=results.axis("epsilon"))
        panel.set_ylabel(label)
        panel.set_ylim(bottom=min(0.0, panel.get_ylim()[0]))
    title = "Slice sampler: what a release tells, medians over data sets (bars: 10% to 90%)"
    pictures.finish(axes, title, results, path)


study = Study(
    "laplace",
    "Section 4.1: Neal 5 against slice under Laplace noise: acceptance, mixing, density and clusters.",
    Configuration,
    cell,
    figures,
)
