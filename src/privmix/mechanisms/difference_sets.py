"""Cyclic difference sets: d of k cells whose k shifts hold every two cells together equally often.

A set B of d residues modulo k is a difference set if every other residue than 0 is the difference of two of its members
in λ = d(d − 1)/(k − 1) ways. Then each cell lies in d of the k shifts B + t and each two cells in λ of them, as if all
subsets of size d were taken: k sets do the work of C(k, d).

References
----------
Baumert, L. D. (1971). Cyclic difference sets. Springer.
Singer, J. (1938). A theorem in finite projective geometry and some applications to number theory. Transactions of the
    American Mathematical Society.
"""

from __future__ import annotations

from functools import lru_cache

# The lines of projective planes and the planes of projective spaces (Singer), one each; (37, 9) and (101, 25) are the
# fourth powers modulo a prime. Found as unions of orbits of a multiplier; a test counts their differences.
BLOCKS: dict[tuple[int, int], tuple[int, ...]] = {
    (7, 3): (1, 2, 4),
    (13, 4): (0, 1, 3, 9),
    (15, 7): (0, 1, 2, 4, 5, 8, 10),
    (21, 5): (3, 6, 7, 12, 14),
    (31, 6): (1, 5, 11, 24, 25, 27),
    (37, 9): (1, 7, 9, 10, 12, 16, 26, 33, 34),
    (40, 13): (0, 1, 3, 5, 9, 15, 22, 25, 26, 27, 34, 35, 38),
    (57, 8): (0, 1, 5, 7, 17, 35, 38, 49),
    (73, 9): (1, 2, 4, 8, 16, 32, 37, 55, 64),
    (85, 21): (0, 1, 2, 4, 7, 8, 14, 16, 17, 23, 27, 28, 32, 34, 43, 46, 51, 54, 56, 64, 68),
    (91, 10): (0, 1, 3, 9, 27, 49, 56, 61, 77, 81),
    (101, 25): tuple(sorted({pow(x, 4, 101) for x in range(1, 101)})),
    (133, 12): (1, 8, 9, 11, 25, 37, 69, 88, 94, 99, 103, 121),
}
# Most cells that a list of designs names.
MOST_CELLS = 133


def difference_set(cells: int, size: int) -> tuple[int, ...] | None:
    """Return a cyclic difference set of so many of so many cells, or None where none is known here.

    One cell alone, the list above, Paley's quadratic residues modulo a prime k ≡ 3 (mod 4), and the complement of each.

    Parameters
    ----------
    cells, size
        k and d, 0 < d < k.
    """
    if size == 1:
        return (0,)
    if (cells, size) in BLOCKS:
        return BLOCKS[cells, size]
    if 2 * size + 1 == cells and cells % 4 == 3 and all(cells % p for p in range(2, int(cells**0.5) + 1)):
        return tuple(sorted({x * x % cells for x in range(1, cells)}))
    if 2 * size > cells:
        other = difference_set(cells, cells - size)
        return None if other is None else tuple(x for x in range(cells) if x not in other)
    return None


@lru_cache(maxsize=1)
def known_designs() -> tuple[tuple[int, int], ...]:
    """Return (k, d) of every difference set known here with 1 < d < k/2 and at most 133 cells."""
    return tuple(
        (cells, size)
        for cells in range(3, MOST_CELLS + 1)
        for size in range(2, (cells + 1) // 2)
        if difference_set(cells, size) is not None
    )
