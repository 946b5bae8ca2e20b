"""What the page says: everything computed, nothing laid out."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.checks.check import doubt_of
from privmix.checks.informativeness import REFIT, RELEASES
from privmix.checks.predictive_check import compared_parts
from privmix.plots import plot_acceptance, plot_clusters, plot_predictive, plot_trace
from privmix.plots.density import prior_density
from privmix.privacy.guarantees import describe_guarantee
from privmix.report.clusters import Clusters, gather_clusters
from privmix.report.columns import Columns, gather_columns
from privmix.report.figures import density_picture, picture
from privmix.report.tables import (
    answer_rows,
    counted,
    mechanism_rows,
    number,
    records_in_words,
    setting_rows,
    summary_rows,
)
from privmix.report.words import describe_promise

if TYPE_CHECKING:
    from privmix.posterior import Finding, Informativeness, Posterior

# Seconds that the refits of the informativeness may take, by the chains' own speed, unless they are asked for.
REFIT_SECONDS = 15.0
# Replicates behind the picture of the predictive check; the check itself makes more.
REPLICATES = 200
# Rows of the table of the density.
ROWS = 20


@dataclass(frozen=True)
class Density:
    """The density: its picture, what a script needs to read it, and a short table."""

    svg: str
    data: dict[str, Any]
    rows: list[list[str]]


@dataclass(frozen=True)
class Content:
    """Everything that a page says."""

    title: str
    date: str
    level: float
    records: str
    kind: str
    guarantee: str
    promise: str
    whole: bool
    guaranteed: bool
    mechanism: list[list[str]]
    density: Density | None
    columns: Columns
    answers: list[list[str]]
    clusters: Clusters
    cluster_count: str
    informativeness: Informativeness | None
    refit_seconds: float
    findings: list[Finding]
    doubt: str
    summary: list[list[str]]
    pictures: list[tuple[str, str, str]]
    settings: list[list[str]]


def gather(posterior: Posterior, level: float, informativeness: bool | None, title: str) -> Content:
    """Compute what the page says; `privmix.report.write` documents the parameters."""
    mechanism, kernel = posterior.model.mechanism, posterior.model.kernel
    line = kernel.dimension == 1 and kernel.categories is None
    records = posterior.records
    seconds = refit_seconds(posterior)
    findings = posterior.check()
    doubt = doubt_of(findings)
    asked = seconds <= REFIT_SECONDS if informativeness is None else informativeness
    return Content(
        title=title or f"{counted(records, 'confidential record')}, seen through {type(mechanism.each).__name__}",
        date=datetime.date.today().isoformat(),
        level=level,
        records=counted(records, "record"),
        kind=mechanism.in_words,
        guarantee=describe_guarantee(mechanism.guarantee),
        promise=describe_promise(posterior),
        whole=mechanism.each.is_global,
        guaranteed=mechanism.guarantee is not None,
        mechanism=mechanism_rows(mechanism, records_in_words(posterior, level)),
        density=gather_density(posterior, level, doubt) if line else None,
        columns=gather_columns(posterior, level, doubt),
        answers=answer_rows(posterior, level) if line else [],
        clusters=gather_clusters(posterior, level),
        cluster_count=describe_count(posterior, level),
        informativeness=posterior.informativeness() if asked and line else None,
        refit_seconds=seconds,
        findings=findings,
        doubt=doubt,
        summary=summary_rows(posterior.summary()),
        pictures=gather_pictures(posterior, doubt),
        settings=setting_rows(posterior),
    )


def gather_density(posterior: Posterior, level: float, doubt: str) -> Density:
    """Return the density on the default grid with its bands and the prior's mean."""
    density = posterior.density(level=level)
    prior = prior_density(posterior, density["y"].values)
    svg, data = density_picture(posterior, density, prior, doubt)
    some = range(len(prior) // ROWS // 2, len(prior), max(1, len(prior) // ROWS))
    names = ("y", "mean", "lower", "upper", "simultaneous_lower", "simultaneous_upper", "prior")
    rows = [[number(data[name][i], 4 if name == "y" else 3) for name in names] for i in some]
    return Density(svg, {**data, "level": f"{100 * level:g}%"}, rows)


def describe_count(posterior: Posterior, level: float) -> str:
    """Return the number of clusters in words."""
    counts = posterior.n_clusters.values
    low, high = np.quantile(counts, [0.5 * (1.0 - level), 0.5 * (1.0 + level)], method="inverted_cdf")
    return f"{counts.mean():.1f} on average, {low:.0f} to {high:.0f} with probability {100 * level:g}%"


def refit_seconds(posterior: Posterior) -> float:
    """Return about how long the refits of the informativeness take, by the speed of the fastest chain."""
    sweeps = posterior.plan.warmup + posterior.draws * posterior.plan.thin
    refits = RELEASES * REFIT.chains * REFIT.sweeps
    return refits * min(float(value) for value in posterior.datatree.attrs["seconds"]) / max(1, sweeps)


def gather_pictures(posterior: Posterior, doubt: str) -> list[tuple[str, str, str]]:
    """Return the small pictures: heading, SVG, and how to read it."""
    told = [
        (
            "Number of clusters",
            picture(
                "clusters",
                "Posterior and prior law of the number of clusters.",
                lambda ax: plot_clusters(posterior, ax=ax),
            ),
            "Bars that follow the dots say that the release taught nothing about this number.",
        ),
        *[_fit_to_release(part, name, j, doubt) for j, (name, part) in enumerate(compared_parts(posterior))],
        (
            "Path of the chains",
            picture("trace", "Number of clusters by draw, for each chain.", lambda ax: plot_trace(posterior, ax=ax)),
            "Chains should overlap and cross; one that keeps to itself needs more warm-up.",
        ),
    ]
    if not np.isnan(posterior.acceptance):
        svg = picture("acceptance", "Acceptance by draw, for each chain.", lambda ax: plot_acceptance(posterior, ax=ax))
        told.append(("Acceptance", svg, "A level line is good; near 0 the chains hardly move."))
    return told


def _fit_to_release(posterior: Posterior, name: str, place: int, doubt: str) -> tuple[str, str, str]:
    replicates = posterior.predictive_check(replicates=REPLICATES)
    svg = picture(
        f"predictive{place}" if name else "predictive",
        "The release over the range of replicated ones.",
        lambda ax: plot_predictive(posterior, ax=ax, check=replicates, doubt=doubt),
    )
    heading = f"Fit to the release of {name}" if name else "Fit to the release"
    return heading, svg, "The release should keep to the shaded range but for a few bins."
