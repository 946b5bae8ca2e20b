"""Between a kernel's hooks and its slots: records that are numbers or rows, base measures that are fixed or learned."""

from __future__ import annotations

from collections.abc import Callable

from privmix.jit import slot
from privmix.kernels.slots import (
    coordinate,
    copy_y,
    draw_atom,
    draw_hyper,
    draw_y,
    log_base,
    prepare,
    update_atom,
    update_hyper,
)


@slot
def _sample(kernel, rng, theta):
    """Draw y ~ f(·|θ), into a last argument where it is a row: a kernel's hook."""


@slot
def _base(kernel, rng, theta):
    """Write θ ~ G₀ into the row, with a last argument `hyper` where it is learned: a kernel's hook."""


@slot
def _update(kernel, rng, theta, ys, tune):
    """Update θ given the ys of its cluster, likewise: a kernel's hook."""


@slot
def _log_base(kernel, theta):
    """Return the log density of G₀, likewise: a kernel's hook."""


def _draw_number(kernel, rng, theta, ys, j):
    ys[j] = _sample(kernel, rng, theta)


def _draw_row(kernel, rng, theta, ys, j):
    _sample(kernel, rng, theta, ys[j])


def _copy_number(to, i, source, j):
    to[i] = source[j]


def _copy_row(to, i, source, j):
    for d in range(to.shape[1]):
        to[i, d] = source[j, d]


def _whole(ys, j):
    return ys[j]


def _first(ys, j):
    return ys[j, 0]


def _draw_atom(kernel, rng, theta, hyper):
    _base(kernel, rng, theta)
    prepare(kernel, theta)


def _draw_atom_hyper(kernel, rng, theta, hyper):
    _base(kernel, rng, theta, hyper)
    prepare(kernel, theta)


def _update_atom(kernel, rng, theta, ys, tune, hyper):
    _update(kernel, rng, theta, ys, tune)
    prepare(kernel, theta)


def _update_atom_hyper(kernel, rng, theta, ys, tune, hyper):
    _update(kernel, rng, theta, ys, tune, hyper)
    prepare(kernel, theta)


def _log_base_plain(kernel, theta, hyper):
    return _log_base(kernel, theta)


def _log_base_hyper(kernel, theta, hyper):
    return _log_base(kernel, theta, hyper)


def _no_draw(kernel, rng, hyper):
    pass


def _no_update(kernel, rng, hyper, atoms):
    pass


NUMBERS: dict[Callable, Callable] = {draw_y: _draw_number, copy_y: _copy_number, coordinate: _whole}
ROWS: dict[Callable, Callable] = {draw_y: _draw_row, copy_y: _copy_row, coordinate: _first}
FIXED: dict[Callable, Callable] = {
    draw_atom: _draw_atom,
    update_atom: _update_atom,
    log_base: _log_base_plain,
    draw_hyper: _no_draw,
    update_hyper: _no_update,
}
LEARNED: dict[Callable, Callable] = {
    draw_atom: _draw_atom_hyper,
    update_atom: _update_atom_hyper,
    log_base: _log_base_hyper,
}
