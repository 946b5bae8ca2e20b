"""The clusters of the records, as far as a page can show them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from privmix.plots import plot_similarity
from privmix.report.figures import picture
from privmix.report.words import why_no_clusters

if TYPE_CHECKING:
    from privmix.posterior import Clustering, Posterior

# A short search: a second or two. The full one compares with every visited partition.
RUNS, VISITED = 4, 100
# Records beyond which the matrix and the search take too long for a page.
MOST_RECORDS = 1000
# Rows of the table.
MOST_ROWS = 12


@dataclass(frozen=True)
class Clusters:
    """What there is to say on clusters: the reason why not, or the estimate with its picture."""

    absent: str | None
    sentence: str = ""
    rows: list[list[str]] = field(default_factory=list)
    left_out: int = 0
    svg: str = ""


def gather_clusters(posterior: Posterior, level: float) -> Clusters:
    """Return the estimate of the clusters by a short search, or why there is none."""
    absent = why_no_clusters(posterior)
    records = posterior.records
    if absent is None and records > MOST_RECORDS:
        absent = (
            f"With {records:,} records the search for clusters takes too long for this page. posterior.clustering() "
            "makes it, and privmix.plots.plot_similarity draws it."
        )
    if absent is not None:
        return Clusters(absent)
    estimate = posterior.clustering(runs=RUNS, visited=VISITED)
    svg = picture(
        "similarity",
        "Probability that two records share a cluster, records ordered by cluster.",
        lambda ax: plot_similarity(posterior, ax=ax, clustering=estimate),
        (5.6, 4.6),
    )
    rows = cluster_rows(estimate)
    return Clusters(None, describe(posterior, estimate, level), rows, max(0, estimate.n_clusters - len(rows)), svg)


def cluster_rows(estimate: Clustering) -> list[list[str]]:
    """Return the largest clusters: number, records, mean certainty."""
    rows = []
    for c, size in enumerate(estimate.sizes[:MOST_ROWS]):
        rows.append([str(c + 1), f"{size:,}", f"{float(np.mean(estimate.certainty[estimate.labels == c])):.0%}"])
    return rows


def describe(posterior: Posterior, estimate: Clustering, level: float) -> str:
    """Return the estimate and its uncertainty in words."""
    count = "one cluster" if estimate.n_clusters == 1 else f"{estimate.n_clusters} clusters"
    ball = posterior.credible_ball(estimate, level)
    few, many = int(ball.upper[0].max()) + 1, int(ball.lower[0].max()) + 1
    return (
        f"The partition of least expected loss (variation of information) has {count}. Partitions around it that hold "
        f"{100 * level:g}% of the posterior have {few} to {many} clusters."
    )
