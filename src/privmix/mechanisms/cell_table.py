"""Rows that are read as a table: log q(z|cell) of every record and every one of some equal cells of the bounds."""

from __future__ import annotations

from privmix.mechanisms.local import LocalMechanism


class CellTable(LocalMechanism):
    """A mechanism whose `encode` returns log q(z|cell) for each record and each of the equal cells of its bounds.

    The cells are closed on the left; y outside the bounds counts as the nearest bound.
    """

    def log_q(self, z, y):
        """Return log q(z|y), read off the table of cells that `encode` made."""
        cells = len(z)
        position = cells * (y - self.bounds[0]) / (self.bounds[1] - self.bounds[0])
        # Clamped before it is made an integer, which values far outside the bounds would overflow.
        return z[int(min(max(position, 0.0), cells - 1.0))]

    def cell_count(self, z):
        """Return the number of cells on which log q(z|·) is constant (hook)."""
        return len(z)

    def cell_edge(self, z, j):
        """Return the left edge of cell j > 0 (hook)."""
        return self.bounds[0] + (self.bounds[1] - self.bounds[0]) * j / len(z)

    def cell_log_q(self, z, j):
        """Return log q(z|cell j) (hook)."""
        return z[j]
