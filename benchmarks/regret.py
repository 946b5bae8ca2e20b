"""What the recommended mechanism gives away: its error over that of the best setting that was fitted.

Run with `python -m benchmarks.regret`: it reads the stored cells of the studies `recommended` and `planned`, whose data
sets are the same. The best is found twice. "Best seen" takes the setting with the least mean error over the data sets:
too good, because the least of several noisy means is. "Best of the others" chooses by all data sets but one and looks
at that one, each in its turn: no setting is helped by the noise that chose it. The truth lies between the two.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from benchmarks.predictions import rows

# Ways whose setting a plan chose: with the shape, and without.
CHOSEN = {"first": "recommended, shape known", "plan": "recommended, shape unknown"}
Errors = dict[str, dict[int, float]]


def read() -> tuple[dict[tuple, Errors], dict[tuple, dict[str, str]]]:
    """Return the errors by shape, ε and records, then setting and data set; and the settings that were chosen."""
    found: dict[tuple, dict[str, dict[int, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    chosen: dict[tuple, dict[str, str]] = defaultdict(dict)
    fits = [row for row in rows("recommended.csv") if row.get("predicted")]
    fits += [row for row in rows("planned.csv") if row["family"] != "NoisyHistogram"]
    for row in fits:
        key = row["target"], float(row["epsilon"]), int(row["records"])
        found[key][row["setting"]][int(row["replicate"])].append(float(row["l1"]))
        if row.get("way") in CHOSEN:
            chosen[key][row["way"]] = row["setting"]
    mean = {
        key: {name: {r: float(np.mean(values)) for r, values in sets.items()} for name, sets in some.items()}
        for key, some in found.items()
    }
    return mean, chosen


def regret(errors: Errors, chosen: str) -> tuple[float, float]:
    """Return the regret against the best seen, and against the best of the others."""
    sets = sorted(errors[chosen])
    known = {name: np.array([each[r] for r in sets]) for name, each in errors.items() if set(sets) <= set(each)}
    own = known[chosen]
    seen = own.mean() / min(values.mean() for values in known.values())
    if len(sets) == 1:
        return float(seen), float("nan")
    others = [min(known.values(), key=lambda v: np.delete(v, k).mean())[k] for k in range(len(sets))]
    return float(seen), float(own.mean() / np.mean(others))


def main() -> None:
    errors, chosen = read()
    for way, words in CHOSEN.items():
        cells = [key for key in errors if way in chosen[key]]
        if not cells:
            continue
        found = np.array([regret(errors[key], chosen[key][way]) for key in cells])
        sets = {len(errors[key][chosen[key][way]]) for key in cells}
        print(f"{words}: {len(cells)} cells, data sets {sorted(sets)}")
        for name, values in zip(("best seen", "best of the others"), found.T, strict=True):
            worst = cells[int(np.nanargmax(values))]
            mean = np.exp(np.nanmean(np.log(values)))
            print(f"  against the {name:20} geometric mean {mean:.3f}   worst {np.nanmax(values):.2f} at {worst}")


if __name__ == "__main__":
    main()
