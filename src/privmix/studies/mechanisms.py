"""Which mechanism is best at the same ε: the default fit, by records and ε."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from privmix.mechanisms import HaarWavelet, Laplace, RandomizedResponse, SquareWave
from privmix.studies.runner import Results, Study, grid
from privmix.studies.shared import pictures
from privmix.studies.shared.choices import Choice, words
from privmix.studies.shared.fits import SHORT, DefaultChains, fit_default, measures_of
from privmix.studies.shared.tables import write_tables
from privmix.studies.shared.targets import THREE_NORMALS

# Each with exactly ε.
MECHANISMS = {
    "laplace": Choice("Laplace", Laplace),
    "haar4": Choice("Haar J = 4, tight scale", partial(HaarWavelet, 4)),
    "square-wave": Choice("square wave", SquareWave),
    "response16": Choice("randomized response, 16 cells", partial(RandomizedResponse, 16)),
}


@dataclass(frozen=True)
class Configuration(DefaultChains):
    """Section 4.1's target through four mechanisms.

    Parameters
    ----------
    mechanisms, records, epsilons
        The grid.
    """

    replicates: int = grid(20)
    mechanisms: tuple[str, ...] = grid(tuple(MECHANISMS), "mechanism")
    records: tuple[int, ...] = grid((200, 1000, 10_000), "records")
    epsilons: tuple[float, ...] = grid((1.0, 2.0, 5.0, 10.0), "epsilon")

    @classmethod
    def small(cls) -> Self:
        """Return one data set of 100 and of 400 records and short chains."""
        return cls(replicates=1, records=(100, 400), epsilons=(1.0, 10.0), **SHORT)


def cell(
    configuration: Configuration,
    *,
    mechanism: str,
    records: int,
    epsilon: float,
    replicate: int,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return error, band and mixing of the default fit, and the sampler that it chose."""
    made = MECHANISMS[mechanism].use(epsilon=epsilon, bounds=THREE_NORMALS.bounds)
    *_, z = THREE_NORMALS.release("three normals", made, records=records, replicate=replicate)
    posterior = fit_default(z, made, configuration, seed)
    found = measures_of(posterior, THREE_NORMALS, configuration.points)
    return {**found, "sampler": type(posterior.sampler).__name__, "true_epsilon": made.guarantee.epsilon}


def figures(results: Results, folder: Path) -> None:
    """Draw the L1 error against the number of records, and densities with bands at the largest number."""
    _errors(results, folder / "errors.png")
    n = max(results.axis("records"))
    rows = {name: text.replace(", ", ",\n") for name, text in words(MECHANISMS).items()}
    title, curve = f"Density with pointwise 95% bands, one data set of n = {n:,}", {"posterior mean": {"records": n}}
    path = folder / "densities.png"
    pictures.draw_density_table(results, THREE_NORMALS, "mechanism", rows, curve, title, path, fontsize="small")
    by = {"records": {}, "mechanism": words(MECHANISMS)}
    write_tables(results, folder / "tables.md", by, "epsilon", ("l1", "covered", "r_hat"))


def _errors(results: Results, path: Path) -> None:
    """Draw the error against the number of records, a panel for each ε and a curve for each mechanism."""
    epsilons, records = results.axis("epsilon"), results.axis("records")
    axes = pictures.panels(1, len(epsilons), sharey=True)
    for panel, epsilon in zip(axes[0], epsilons, strict=True):
        chosen = results.select(epsilon=epsilon)
        pictures.draw_medians(panel, chosen, "records", "l1", "mechanism", words(MECHANISMS), ticks=records)
        pictures.draw_uniform(panel, THREE_NORMALS)
        panel.set_title(f"ε = {epsilon:g}", fontsize="medium")
    axes[0, 0].set_ylim(bottom=0.0)  # after the curves: a limit that is set stays
    axes[0, 0].set_ylabel("L1 error")
    pictures.finish(axes, "The same ε by mechanism: medians over data sets (bars: 10% to 90%)", results, path)


study = Study(
    "mechanisms",
    "The same ε, which mechanism? L1 error of the default fit by records and ε.",
    Configuration,
    cell,
    figures,
)
