"""Compiled loops over the functions of a convolution, for the tests."""

import numpy as np

from privmix.jit import bind, slot
from privmix.kernels.slots import prepare
from privmix.mechanisms.slots import at_record
from privmix.pairs import find
from privmix.pairs.slots import draw_given, log_g


@slot
def cdf_slot(mechanism, kernel, z, theta):
    """The convolution's cdf."""


@slot
def masses_slot(mechanism, kernel, edges, theta, out):
    """The convolution's masses."""


def _prepare_each(kernel, theta):
    for i in range(len(theta)):
        prepare(kernel, theta[i])


def _log_g_each(mechanism, kernel, z, theta, out):
    for i in range(len(out)):
        out[i] = log_g(at_record(mechanism, i), kernel, z[i], theta[i])


def _cdf_each(mechanism, kernel, z, theta, out):
    for i in range(len(out)):
        out[i] = cdf_slot(at_record(mechanism, i), kernel, z[i], theta[i])


def _masses(mechanism, kernel, edges, theta, out):
    masses_slot(mechanism, kernel, edges, theta, out)


def _draw_each(mechanism, kernel, rng, z, theta, out):
    for i in range(len(out)):
        out[i] = draw_given(at_record(mechanism, i), kernel, rng, z[i], theta[i])


def _compile(function, mechanism, kernel, replacements=None, **more):
    pair = find(mechanism, kernel)
    hooks = {**kernel.hooks(), **mechanism.hooks(), **pair.hooks(), **(replacements or {})}
    if pair.convolution.cdf is not None:
        hooks[cdf_slot] = pair.convolution.cdf
    if pair.convolution.masses is not None:
        hooks[masses_slot] = pair.convolution.masses
    return bind(function, hooks, owner="test", **more)


def rows(mechanism, kernel, parameters, n):
    """Return n rows of θ with their constants."""
    theta = np.zeros((n, kernel.columns))
    theta[:, : len(kernel.parameters)] = parameters
    _compile(_prepare_each, mechanism, kernel)(kernel.numbers(), theta)
    return theta


def _records(z):
    return np.ascontiguousarray(z, dtype=np.float64)


def log_g_of(mechanism, kernel, z, parameters, **more):
    """Return log g for each (z, parameters)."""
    z, out = _records(z), np.empty(len(z))
    theta = rows(mechanism, kernel, parameters, len(z))
    _compile(_log_g_each, mechanism, kernel, **more)(mechanism.numbers(), kernel.numbers(), z, theta, out)
    return out


def cdf_of(mechanism, kernel, z, parameters):
    z, out = _records(z), np.empty(len(z))
    theta = rows(mechanism, kernel, parameters, len(z))
    _compile(_cdf_each, mechanism, kernel)(mechanism.numbers(), kernel.numbers(), z, theta, out)
    return out


def masses_of(mechanism, kernel, edges, parameters, **more):
    """Return the probability of a release between each two edges."""
    out, theta = np.empty(len(edges) - 1), rows(mechanism, kernel, parameters, 1)[0]
    _compile(_masses, mechanism, kernel, **more)(mechanism.numbers(), kernel.numbers(), edges, theta, out)
    return out


def draws_of(mechanism, kernel, z, parameters, seed=1, **more):
    """Return one draw of Y for each (z, parameters)."""
    z, out = _records(z), np.empty(len(z))
    theta = rows(mechanism, kernel, parameters, len(z))
    rng = np.random.default_rng(seed)
    _compile(_draw_each, mechanism, kernel, **more)(mechanism.numbers(), kernel.numbers(), rng, z, theta, out)
    return out


def worst(found, exact):
    """Return the largest |Δ log g|/max(1, |log g|)."""
    exact = np.asarray(exact, dtype=np.float64)
    assert np.isfinite(found).all()
    return float(np.max(np.abs(found - exact) / np.maximum(1.0, np.abs(exact))))
