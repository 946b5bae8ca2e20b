"""Which model should `privmix.fit` have: variants of its default on a panel of shapes, on the same releases."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from privmix.baselines import proper
from privmix.kernels import HierarchicalNormal, TruncatedNormal
from privmix.mechanisms import Laplace, Mechanism, RandomizedResponse
from privmix.model import PrivateMixture, default_model
from privmix.plots.style import RELEASE_EDGE, line_style
from privmix.priors import DirichletProcess
from privmix.studies.runner import Result, Results, Study, grid
from privmix.studies.shared import pictures, targets
from privmix.studies.shared.choices import Choice, words
from privmix.studies.shared.fits import SHORT, DefaultChains, measures_of, sample
from privmix.studies.shared.measures import hellinger, log_score
from privmix.studies.shared.tables import write_tables

TARGETS = {
    "normals": Choice("three normals", targets.THREE_NORMALS),
    "skewed": Choice("skewed", targets.SKEWED),
    "half-uniform": Choice("half uniform, half normal", targets.HALF_UNIFORM),
    "flat": Choice("uniform", targets.FLAT),
    "exponential": Choice("exponential", targets.EXPONENTIAL),
    "half-normal": Choice("half-normal", targets.HALF_NORMAL),
    "ramp": Choice("ramp", targets.RAMP),
    "edges": Choice("masses at both edges", targets.TWO_EDGES),
    "inflated": Choice("inflated edge", targets.INFLATED_EDGE),
    "ripple": Choice("ripple", targets.RIPPLE),
    "bimodal": Choice("two unequal modes", targets.UNEQUAL_MODES),
    "claw": Choice("claw", targets.CLAW),
    "tails": Choice("heavy tails", targets.HEAVY_TAILS),
    "loose": Choice("normal, loose bounds", targets.LOOSE_NORMAL),
    "loose-bimodal": Choice("two modes, loose bounds", targets.LOOSE_MODES),
}
# Targets of the study `accuracy`: the data sets are the same here.
OF_ACCURACY = {"normals": "normals", "skewed": "skewed", "half-uniform": "uniform"}
RELEASES = {
    **{f"laplace{e}": Choice(f"Laplace, ε = {e}", partial(Laplace, epsilon=float(e))) for e in (1, 2, 5, 10, 50)},
    "response2": Choice("response (16), ε = 2", partial(RandomizedResponse, 16, epsilon=2.0)),
}
LEARNED = (2.0, 1.0)  # α ~ Gamma(2, 1)


def cut(mechanism: Mechanism, concentration: float | tuple[float, float] = 1.0) -> PrivateMixture:
    """Return normal components that leave the bounds, cut and renormalised when the density is read."""
    assert mechanism.bounds is not None
    prior = DirichletProcess(concentration)
    return PrivateMixture(mechanism, HierarchicalNormal(mechanism.bounds), prior, restricted_to=mechanism.bounds)


def truncated(mechanism: Mechanism, shape: float, concentration: float | tuple[float, float]) -> PrivateMixture:
    """Return normal components that are normalised on the bounds: what is fitted is what is shown."""
    assert mechanism.bounds is not None
    return PrivateMixture(mechanism, TruncatedNormal(mechanism.bounds, shape), DirichletProcess(concentration))


# Made of their parts, so that they stay what they are when the default changes; `default` is whatever it is now.
VARIANTS = {
    "cut": Choice("cut", cut),
    "cut-learned": Choice("cut, α ~ Gamma(2, 1)", partial(cut, concentration=LEARNED)),
    # Only the truncation differs from `cut`.
    "truncated": Choice("truncated, σ² ~ IG(3, β)", partial(truncated, shape=3.0, concentration=1.0)),
    "new": Choice("truncated, σ² ~ IG(2, β), α ~ Gamma(2, 1)", partial(truncated, shape=2.0, concentration=LEARNED)),
    "default": Choice("privmix.fit", default_model),
}
MEASURES = ("l1", "hellinger", "log_score", "covered", "width", "r_hat", "seconds")


@dataclass(frozen=True)
class Configuration(DefaultChains):
    """Fifteen shapes through six releases; chains a quarter as long as those of `privmix.fit`, as in `accuracy`.

    Parameters
    ----------
    targets, records, releases, variants
        The grid.
    """

    replicates: int = grid(3)
    draws: int = 500
    thin: int = 4
    warmup: int | None = 1000
    points: int = 500
    targets: tuple[str, ...] = grid(tuple(TARGETS), "target")
    records: tuple[int, ...] = grid((200, 1000), "records")
    releases: tuple[str, ...] = grid(tuple(RELEASES), "release")
    variants: tuple[str, ...] = grid(tuple(name for name in VARIANTS if name != "default"), "variant")

    @classmethod
    def small(cls) -> Self:
        """Return one data set of 100 records of two shapes and short chains."""
        shapes, releases = ("normals", "inflated"), ("laplace10", "response2")
        return cls(replicates=1, targets=shapes, records=(100,), releases=releases, **SHORT)


def cell(
    configuration: Configuration,
    *,
    target: str,
    records: int,
    release: str,
    variant: str,
    replicate: int,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return errors, band, mixing and cost of one variant; all variants see the same release."""
    truth = TARGETS[target].use
    made = RELEASES[release].use(bounds=truth.bounds)
    name = f"accuracy, {OF_ACCURACY[target]}" if target in OF_ACCURACY else f"defaults, {target}"
    y, _, z = truth.release(name, made, records=records, replicate=replicate)
    clock = time.process_time()  # compilation counts too where a worker meets a variant first; medians leave it out
    posterior = sample(VARIANTS[variant].use(made), z, None, configuration, seed)
    seconds = time.process_time() - clock
    found = measures_of(posterior, truth, configuration.points, np.quantile(y, [0.1, 0.25, 0.5, 0.75, 0.9]))
    points = truth.grid(configuration.points)
    exact, width = truth.density(points), truth.bounds[1] - truth.bounds[0]
    return {
        **found,
        "hellinger": hellinger(proper(found["mean"], points), proper(exact, points), points),
        "log_score": log_score(found["mean"], exact),
        "width": 0.5 * width * float((found["upper"] - found["lower"]).mean()),
        "seconds": seconds,
        "sampler": type(posterior.sampler).__name__,
    }


def figures(results: Results, folder: Path) -> None:
    """Draw the error by shape and variant, and write tables of means over the panel and of medians by shape."""
    _errors(results, folder / "errors.png")
    rows = {"records": {}, "target": words(TARGETS), "variant": words(VARIANTS)}
    write_tables(results, folder / "tables.md", rows, "release", MEASURES)
    rows = {"records": {}, "variant": words(VARIANTS)}
    write_tables(shared_cells(results), folder / "panel.md", rows, "release", MEASURES, means_over="target")


def shared_cells(results: Results) -> Results:
    """Return the cells of those releases that every variant has been fitted to: means of others cannot be compared."""
    seen = Counter(_of_release(one) for one in results)
    return replace(results, cells=tuple(one for one in results if seen[_of_release(one)] == max(seen.values())))


def _of_release(one: Result) -> tuple:
    return tuple(value for name, value in one.coordinates.items() if name != "variant")


def _errors(results: Results, path: Path) -> None:
    """Draw the median L1 error of every shape, a panel for each number of records and release, a mark a variant."""
    shapes, variants = results.axis("target"), results.axis("variant")
    numbers, releases = results.axis("records"), results.axis("release")
    rows, flat = range(len(shapes)), [TARGETS[shape].use.uniform_error() for shape in shapes]
    axes = pictures.panels(len(numbers), len(releases), width=2.4, height=0.2 * len(shapes) + 0.7, sharey=True)
    for row, records in zip(axes, numbers, strict=True):
        for panel, release in zip(row, releases, strict=True):
            for index, variant in enumerate(variants):
                chosen = results.select(records=records, release=release, variant=variant)
                errors = [chosen.select(target=shape).median("l1") for shape in shapes]
                style = {"color": line_style(index)["color"], "markersize": 5, "markerfacecolor": "none"}
                marker = pictures.MARKERS[index % len(pictures.MARKERS)]
                panel.plot(errors, rows, marker, label=VARIANTS[variant].words, **style)
            panel.plot(flat, rows, "|", color=RELEASE_EDGE, markersize=9, label="uniform density")
            panel.set_title(f"{RELEASES[release].words}, n = {records:,}", fontsize="small")
            panel.set_xlim(left=0.0)
            panel.grid(axis="y", linewidth=0.4, alpha=0.5)
    axes[0, 0].set_yticks(rows, [TARGETS[shape].words for shape in shapes])
    axes[0, 0].invert_yaxis()  # shared
    for panel in axes[-1]:
        panel.set_xlabel("L1 error")
    pictures.finish(axes, "Variants of the default model by shape: medians over data sets", results, path)


study = Study("defaults", "Variants of the default model on a panel of shapes", Configuration, cell, figures)
