"""What it costs to choose by prediction: the recommended mechanism and setting against the best of those fitted.

Run with `python -m benchmarks.regret`, after `python -m benchmarks.predictions` has been looked at: it reads the same
stored fits. In a group of one shape, ε and number of records the log error of setting a on data set r is

    log predicted_a + u_a + c_r + e_ar,    u_a ~ N(0, τ²),  e_ar ~ N(0, s²),

with c_r of the data set, which all settings share, free. τ is how far predictions are off, beyond what they share. τ
and s are drawn from their posterior by the restricted likelihood of all groups, then u. The regret of a group is
e^{log predicted + u} of the best predicted over the least of all: draws carry over what the data sets that were fitted
leave open, where the least of noisy means is too good.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.predictions import TRUSTED, Cell, family, grouped, planned

DRAWS = 500
# Settings that are predicted to have, and have, this many times the error of the chosen one are no rivals.
NO_RIVAL = 2.0
# Where τ and s may lie.
DEVIATIONS, SCATTERS = np.linspace(0.005, 0.4, 40), np.geomspace(0.1, 0.5, 20)


class Group(NamedTuple):
    """Fits of one shape, ε and number of records: log errors over predictions, with the setting and data set of each.

    Attributes
    ----------
    cells
        The settings, the recommended one first.
    predicted
        Their log predicted errors.
    ratios, setting, data_set
        A log error less the predicted one, which setting it is of and which data set, for each fit.
    """

    cells: list[Cell]
    predicted: np.ndarray
    ratios: np.ndarray
    setting: np.ndarray
    data_set: np.ndarray


def group_of(cells: Sequence[Cell], found: dict[Cell, dict[str, float]], predicted: dict[Cell, float]) -> Group:
    """Return a group, the best predicted setting first."""
    ranked = sorted(cells, key=predicted.__getitem__)
    sets = sorted({r for cell in cells for r in found[cell]})
    fits = [
        (np.log(value / predicted[c]), a, sets.index(r)) for a, c in enumerate(ranked) for r, value in found[c].items()
    ]
    ratios, setting, data_set = (np.array(column) for column in zip(*fits, strict=True))
    return Group(ranked, np.log([predicted[cell] for cell in ranked]), ratios, setting, data_set)


def precision_of(group: Group, deviation: float, scatter: float) -> np.ndarray:
    """Return the precision of (u, c) given the fits; c has a flat prior."""
    settings, sets = len(group.cells), int(group.data_set.max()) + 1
    design = np.hstack([np.eye(settings)[group.setting], np.eye(sets)[group.data_set]])
    made = design.T @ design / scatter**2
    made.flat[: settings * (settings + sets) : settings + sets + 1] += deviation**-2
    return made


def log_restricted(group: Group, deviation: float, scatter: float) -> float:
    """Return the log likelihood of the fits with c integrated out, up to a constant."""
    sets = np.eye(int(group.data_set.max()) + 1)[group.data_set]
    same = group.setting[:, None] == group.setting
    covariance = deviation**2 * same + scatter**2 * np.eye(len(group.ratios))
    inverse = np.linalg.inv(covariance)
    inner = sets.T @ inverse @ sets
    left = inverse - inverse @ sets @ np.linalg.solve(inner, sets.T @ inverse)
    log_dets = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(inner)[1]
    return -0.5 * float(log_dets + group.ratios @ left @ group.ratios)


def plausible(groups: list[Group], rng: np.random.Generator) -> np.ndarray:
    """Return draws of (τ, s) from their posterior under a flat prior of τ and of log s, a row each."""
    values = np.array([[sum(log_restricted(g, tau, s) for g in groups) for s in SCATTERS] for tau in DEVIATIONS])
    weight = np.exp(values - values.max()).ravel()
    chosen = rng.choice(weight.size, size=DRAWS, p=weight / weight.sum())
    return np.column_stack([DEVIATIONS[chosen // len(SCATTERS)], SCATTERS[chosen % len(SCATTERS)]])


def regret(group: Group, deviation: float, scatter: float, rng: np.random.Generator) -> float:
    """Return a draw of the regret of a group."""
    precision = precision_of(group, deviation, scatter)
    right = np.zeros(len(precision))
    np.add.at(right, group.setting, group.ratios / scatter**2)
    np.add.at(right, len(group.cells) + group.data_set, group.ratios / scatter**2)
    root = np.linalg.cholesky(precision)
    drawn = np.linalg.solve(root.T, np.linalg.solve(root, right) + rng.standard_normal(len(right)))
    errors = group.predicted + drawn[: len(group.cells)]
    return float(np.exp(errors[0] - errors.min()))


def groups_of(found: dict[Cell, dict[str, float]], predicted: dict[Cell, float]) -> list[Group]:
    """Return the groups in which the recommended setting has rivals."""
    made = []
    for cells in grouped(cell for cell in found if family(cell.mechanism) != TRUSTED):
        first = min(cells, key=predicted.__getitem__)
        rivals = [one for one in cells if is_rival(one, first, found, predicted)]
        if len(rivals) > 1:
            made.append(group_of(rivals, found, predicted))
    return made


def is_rival(one: Cell, first: Cell, found: dict[Cell, dict[str, float]], predicted: dict[Cell, float]) -> bool:
    """Return whether a setting came near to the first, by prediction or on the data sets that both have."""
    both = found[one].keys() & found[first].keys()
    seen = np.mean([found[one][r] for r in both]) / np.mean([found[first][r] for r in both]) if both else np.inf
    return min(predicted[one] / predicted[first], seen) < NO_RIVAL


def main() -> None:
    groups, rng = groups_of(*planned()), np.random.default_rng(1)
    settings = plausible(groups, rng)
    drawn = np.array([[regret(group, *pair, rng) for pair in settings] for group in groups])
    print(
        f"{len(groups)} groups, {sum(len(g.cells) for g in groups)} settings, {sum(len(g.ratios) for g in groups)} fits"
    )
    for name, values in zip(("predictions are off by", "fits of a setting scatter by"), settings.T, strict=True):
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
        print(f"{name} {middle:.3f} (90%: {low:.3f}–{high:.3f}), s.d. of the log error")
    for name, values in {"geometric mean": np.exp(np.log(drawn).mean(axis=0)), "worst": drawn.max(axis=0)}.items():
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
        print(f"regret, {name}: {middle:.3f} (90%: {low:.3f}–{high:.3f})")
    print("groups with the largest expected regret:")
    for k in np.argsort(-drawn.mean(axis=1))[:10]:
        first = groups[k].cells[0]
        where = f"{first.shape}, ε = {first.epsilon:g}, n = {first.records:,}, {first.mechanism}"
        print(f"  {drawn[k].mean():.2f} (95% below {np.quantile(drawn[k], 0.95):.2f})  {where}")


if __name__ == "__main__":
    main()
