"""`privmix demo`: the paper's Section 4.1 from raw data to picture, with both samplers and with a better mechanism."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from privmix.checks.check import worst
from privmix.cli.outputs import check_folder, print_table
from privmix.report.tables import mechanism_rows, number

if TYPE_CHECKING:
    from privmix import Posterior, Release
    from privmix.mechanisms import Mechanism

BOUNDS = (-10.0, 10.0)
CENTRES = (-5.0, 0.0, 5.0)
# Wide enough for the mass that a fit puts outside the bounds, fine enough for the L1 distance to three digits.
GRID = np.linspace(-15.0, 15.0, 301)
# Sweeps for each draw: enough for R-hat below 1.01 at the default seed, in two or three seconds a fit.
THIN = {"Neal 5": 15, "slice": 15, "recommended": 5}


def demo(
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write; created if missing.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Of the data, the noise and the chains.")] = 1,
    records: Annotated[int, typer.Option(help="Number of records.")] = 200,
    epsilon: Annotated[float, typer.Option(help="Privacy budget ε of each record.")] = 10.0,
) -> None:
    """Simulate data, release them through Laplace noise, fit with both samplers and compare with the truth.

    The same data are also released through the mechanism that a plan recommends at the same ε.

    The data are the paper's Section 4.1: three equally weighted normals at −5, 0 and 5 with variance 1, cut to −10…10.
    """
    check_folder(output if output.exists() else output.parent)
    release = simulate(records, epsilon, seed)
    print_table(["", ""], mechanism_rows(release.mechanism, records), "The release")
    typer.echo(
        "Fitting with two samplers; the first run on a machine compiles them, some 15 seconds of processor time once."
    )
    better = simulate(records, epsilon, seed, recommended(records, epsilon))
    fits, seconds = {}, {}
    for name, released in (("Neal 5", release), ("slice", release), ("recommended", better)):
        clock = time.perf_counter()
        fits[name] = sample(released, name, seed)
        seconds[name] = time.perf_counter() - clock
        if not fits[name].datatree.attrs["complete"]:
            raise KeyboardInterrupt  # half a demonstration shows nothing
    _report(fits, seconds)
    _write(output, release, fits)


def recommended(records: int, epsilon: float) -> Mechanism:
    """Return what a plan recommends to somebody who does not know the density."""
    from privmix.planning import plan

    return plan(BOUNDS, n=records, epsilon=epsilon).recommended


def simulate(records: int, epsilon: float, seed: int, mechanism: Mechanism | None = None) -> Release:
    """Return a release of data drawn from the true density, by default with Laplace noise; the data are forgotten."""
    from privmix import Release, mechanisms

    if records < 1:
        raise ValueError(f"--records must be at least 1; got {records}.")
    mechanism = mechanism or mechanisms.Laplace(epsilon=epsilon, bounds=BOUNDS)
    rng = np.random.default_rng(seed)
    y = np.full(records, np.inf)
    while (outside := np.flatnonzero(np.abs(y) > BOUNDS[1])).size:
        y[outside] = rng.choice(CENTRES, outside.size) + rng.standard_normal(outside.size)
    notes = "Simulated data: three equally weighted normals at −5, 0 and 5 with variance 1, cut to −10…10."
    return Release.from_data(y, mechanism, rng, notes)


def true_density(y: np.ndarray) -> np.ndarray:
    """Return the density that the data are drawn from."""
    heights = sum(np.exp(-0.5 * (y - centre) ** 2) for centre in CENTRES) / (3.0 * math.sqrt(2.0 * math.pi))
    # The mass inside: the outer normals lose Φ(−5) at the near bound; all else is below 1e-23.
    inside = 1.0 - (2.0 / 3.0) * 0.5 * math.erfc(5.0 / math.sqrt(2.0))
    return np.where(np.abs(y) <= BOUNDS[1], heights / inside, 0.0)


def sample(release: Release, name: str, seed: int) -> Posterior:
    """Draw from the posterior under the paper's model, N(μ | 0, 10σ²) × IG(σ² | 3, 3) and concentration 1."""
    from privmix import PrivateMixture, kernels, priors, samplers

    kernel = kernels.Normal(mean=0.0, precision_scale=0.1, shape=3.0, rate=3.0)
    model = PrivateMixture(release.mechanism, kernel, priors.DirichletProcess(1.0))
    # What plans recommend has closed forms, and proposals are seldom accepted there.
    kinds = {"Neal 5": samplers.Neal5(), "slice": samplers.Slice(), "recommended": samplers.Slice(records="exact")}
    return model.sample(release, kinds[name], thin=THIN[name], seed=seed)


def l1_distance(posterior: Posterior) -> float:
    """Return ∫ |posterior mean density − truth| dy."""
    gap = np.abs(posterior.density_draws(GRID).values.mean(axis=(0, 1)) - true_density(GRID))
    return float(np.trapezoid(gap, GRID))


def _report(fits: dict[str, Posterior], seconds: dict[str, float]) -> None:
    from privmix.planning.words import named

    columns = []
    for name, posterior in fits.items():
        found = worst(posterior.summary())
        low, high = np.quantile(posterior.n_clusters, [0.05, 0.95])
        clusters = f"{float(posterior.n_clusters.mean()):.1f} ({low:.0f} to {high:.0f})"
        acceptance = "–" if math.isnan(posterior.acceptance) else f"{posterior.acceptance:.0%}"
        figures = [acceptance, clusters, number(found.ess), number(found.r_hat, 4)]
        columns.append([*figures, f"{l1_distance(posterior):.3f}", f"{seconds[name]:.1f}"])
    labels = ["acceptance", "clusters: mean (90% interval)", "worst ESS", "worst R-hat", "L1 distance to the truth"]
    rows = [list(row) for row in zip([*labels, "seconds"], *columns, strict=True)]
    print_table(["", *fits], rows, f"The fits: {posterior.chains} chains × {posterior.draws:,} draws")
    typer.echo(
        "Neal 5 and slice: two samplers on one release, with Laplace noise. Recommended: slice on a release of the "
        f"same data at the same ε through {named(posterior.model.mechanism)}, which `privmix plan` recommends."
    )
    typer.echo("L1 is the area between the posterior mean density and the truth: 0 is perfect, 2 the worst there is.")


def _write(folder: Path, release: Release, fits: dict[str, Posterior]) -> None:
    folder.mkdir(exist_ok=True)
    release.save(folder / "release.csv")
    fits["Neal 5"].save(folder / "fit.nc")
    better = fits.pop("recommended")
    _draw(fits, folder / "density.png")
    _draw({"Laplace": fits["slice"], "recommended": better}, folder / "recommended.png")
    typer.echo(
        f"wrote {folder / 'density.png'} (both samplers), {folder / 'recommended.png'} (both mechanisms), "
        f"{folder / 'release.csv'} and {folder / 'fit.nc'} (Neal 5)"
    )


def _draw(fits: dict[str, Posterior], path: Path) -> None:
    from matplotlib.figure import Figure

    from privmix.plots import plot_density, save_figure

    axes = Figure(figsize=(7.5, 4.8), layout="constrained").subplots()
    for index, (name, posterior) in enumerate(fits.items()):
        first = index == 0
        plot_density(posterior, ax=axes, label=name, release=first, truth=None if first else true_density)
    save_figure(axes, path)
