"""Columns of a fit of rows, and categories: a picture and numbers of each, and how they depend on one another."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from privmix.plots import plot_pairs
from privmix.plots.density import draw_density, prior_density
from privmix.plots.pairs import MOST_COLUMNS, picture_size
from privmix.plots.shares import draw_shares
from privmix.report.figures import figure_as_svg, picture
from privmix.report.tables import answer_rows, interval_of

if TYPE_CHECKING:
    from privmix.posterior import Posterior


@dataclass(frozen=True)
class Column:
    """One column: its name, its picture, and what it says in numbers."""

    name: str
    svg: str
    rows: list[list[str]]


@dataclass(frozen=True)
class Columns:
    """All columns, the picture of each two, and the table of how they depend on one another."""

    each: list[Column] = field(default_factory=list)
    pairs: str = ""
    left_out: list[str] = field(default_factory=list)
    dependence: list[list[str]] = field(default_factory=list)


def gather_columns(posterior: Posterior, level: float, doubt: str) -> Columns:
    """Return what there is to say on the columns of rows, or on the one column of categories; of a number nothing."""
    kernel = posterior.model.kernel
    if not kernel.names:
        return Columns() if kernel.categories is None else Columns([gather_column(posterior, "", 0, level, doubt)])
    shown = list(kernel.names[:MOST_COLUMNS])

    def draw(figure: Any) -> None:
        plot_pairs(posterior, figure=figure, columns=shown, level=level, doubt=doubt)
        figure.suptitle("")

    svg = figure_as_svg("pairs", "Every column, and every two of them.", draw, picture_size(len(shown)))
    each = [gather_column(posterior.marginal(name), name, j, level, doubt) for j, name in enumerate(kernel.names)]
    return Columns(each, svg, list(kernel.names[MOST_COLUMNS:]), dependence_rows(posterior, level))


def gather_column(posterior: Posterior, name: str, place: int, level: float, doubt: str) -> Column:
    """Return the picture of one column with its release and the prior's mean, and its numbers."""
    density = posterior.density(level=level)
    prior = prior_density(posterior, density["y"].values)
    whole = posterior.model.kernel.categories is None
    svg = picture(
        f"column{place}",
        f"Posterior mean of {name or 'the shares'} with its band, the prior mean and the release.",
        lambda ax: (draw_density if whole else draw_shares)(ax, posterior, density, prior, doubt),
    )
    rows = answer_rows(posterior, level) if whole else share_rows(density)
    return Column(name, svg, rows)


def share_rows(shares: Any) -> list[list[str]]:
    """Return the share of each category with its interval."""
    return [[f"share of {name}", *interval_of(shares.isel(y=j))] for j, name in enumerate(shares["category"].values)]


def dependence_rows(posterior: Posterior, level: float) -> list[list[str]]:
    """Return correlation and mutual information of each two columns, with intervals; a dash where there is none."""
    kernel: Any = posterior.model.kernel
    numbers = [name for name, child in kernel.parts if child.categories is None]
    correlation: Any = posterior.correlation(level) if len(numbers) > 1 else None
    information = posterior.mutual_information(level)
    rows = []
    for a, b in combinations(kernel.names, 2):
        both = {a, b} <= set(numbers)
        first = interval_of(correlation.sel(column=a, other=b)) if both else ["–", "–"]
        rows.append([f"{a} and {b}", *first, *interval_of(information.sel(column=a, other=b))])
    return rows
