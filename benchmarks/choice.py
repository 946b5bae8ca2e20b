"""The guide's table: expected L1 errors of every mechanism in its best setting, over a plan's panel of shapes.

Run with `python -m benchmarks.choice`: a quarter of a minute. Nothing is fitted.
"""

from __future__ import annotations

import privmix

PEOPLE, BUDGETS = 20_000, (0.5, 1.0, 2.0, 4.0)


def main() -> None:
    tables = [privmix.plan((0.0, 1.0), epsilon=epsilon, n=PEOPLE).table.set_index("mechanism") for epsilon in BUDGETS]
    print(f"{PEOPLE:,} people: {'':18}" + "".join(f"ε = {epsilon:<8g}" for epsilon in BUDGETS))
    for name in tables[0].index:
        print(f"{name:34}" + "".join(f"{table['l1'].get(name, float('nan')):<12.3f}" for table in tables))
    for epsilon, table in zip(BUDGETS, tables, strict=True):
        print(f"ε = {epsilon:g}: {table.index[0]} ({table['setting'].iloc[0]})")


if __name__ == "__main__":
    main()
