"""Tables of medians over data sets, or of means over shapes too, in Markdown: what a picture shows, to be quoted."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from privmix.studies.runner import Results
from privmix.studies.runner.store import write_whole

TITLES = {
    "acceptance": "Acceptance",
    "covered": "Mass where the 95% band holds the truth",
    "edges": "Mass in the outermost 4%",
    "ess": "ESS of the number of clusters per 1,000 draws",
    "hellinger": "Hellinger distance",
    "l1": "L1 error",
    "log_score": "Log score",
    "needed": "People needed",
    "predicted": "L1 error that was predicted",
    "r_hat": "Worst R-hat of the density",
    "rand": "Adjusted Rand index, variation of information",
    "rand_binder": "Adjusted Rand index, Binder's loss",
    "ratio": "L1 error over the one predicted",
    "seconds": "CPU seconds of the chains",
    "width": "Integral of half the width of the 95% band",
}
# Names of the values of a coordinate; empty where they are shown as they are.
Names = Mapping[Any, str]


def write_tables(
    results: Results,
    path: Path,
    rows: Mapping[str, Names],
    column: str,
    measures: Sequence[str],
    *,
    means_over: str = "",
) -> None:
    """Write a table for each measure.

    Parameters
    ----------
    results, path
        What to summarise, and the file.
    rows
        Coordinates whose combinations are the rows, each with the names of its values.
    column
        Coordinate whose values are the columns.
    measures
        Results that are numbers.
    means_over
        A coordinate over whose values, beside the data sets, means are taken; empty for medians over data sets.
    """
    summary, over = Results.median, "Medians over"
    if means_over:
        summary, over = Results.mean, f"Means over {len(results.axis(means_over))} values of {means_over} and"
    parts = [_table(results, rows, column, what, summary) for what in measures]
    head = f"{over} {len(results.axis('replicate'))} data sets. {results.describe()}".strip()
    write_whole(path, "\n\n".join([head, *parts, ""]).encode())


def _table(
    results: Results, rows: Mapping[str, Names], column: str, what: str, summary: Callable[[Results, str], float]
) -> str:
    columns = results.axis(column)
    lines = [
        f"## {TITLES[what]}\n",
        f"| {' | '.join([*rows, *(f'{column} = {value}' for value in columns)])} |",
        "|---" * (len(rows) + len(columns)) + "|",
    ]
    for values in itertools.product(*(results.axis(name) for name in rows)):
        chosen = results.select(**dict(zip(rows, values, strict=True)))
        cells = [_show(summary(chosen.select(**{column: value}), what)) for value in columns]
        if any(cells):
            named = [str(names.get(value, value)) for value, names in zip(values, rows.values(), strict=True)]
            lines.append(f"| {' | '.join(named + cells)} |")
    return "\n".join(lines)


def _show(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3g}"
