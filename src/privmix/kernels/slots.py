"""Slots of a kernel: the names by which generic code reaches it, whatever the shape of its y and of its base measure.

The last seven are filled where a kernel gives, or lets derive, what they stand for: ask ``kernel.has("cdf")``.
"""

from __future__ import annotations

from privmix.jit import slot


@slot
def log_f(kernel, y, theta):
    """Return log f(y|θ)."""


@slot
def prepare(kernel, theta):
    """Fill the constant columns of a row of θ."""


@slot
def draw_y(kernel, rng, theta, ys, j):
    """Draw y ~ f(·|θ) into ys[j]."""


@slot
def copy_y(to, i, source, j):
    """Copy y from source[j] into to[i]."""


@slot
def coordinate(ys, j):
    """Return the first coordinate of ys[j]."""


@slot
def draw_atom(kernel, rng, theta, hyper):
    """Draw θ ~ G₀ into the row, constants included."""


@slot
def update_atom(kernel, rng, theta, ys, tune, hyper):
    """Make a Markov step on θ given the ys of its cluster, constants included."""


@slot
def draw_hyper(kernel, rng, hyper):
    """Draw the hyperparameters of G₀ from their prior."""


@slot
def update_hyper(kernel, rng, hyper, atoms):
    """Redraw the hyperparameters of G₀ given the occupied atoms (their rows)."""


@slot
def log_base(kernel, theta, hyper):
    """Return the log density of G₀ at θ, −∞ outside its support."""


@slot
def log_moved(kernel, theta, hyper):
    """Return the log density of G₀ in which `shift` moves: `log_base`, and for shares that of all but the last."""


@slot
def shift(kernel, theta, p, step):
    """Move parameter p by a step on its own scale, or all positive ones where p is past the last; return log |J|."""


@slot
def parameter_count():
    """Return the number of parameters."""


@slot
def log_scale(p):
    """Return whether parameter p moves on the log scale."""


@slot
def cdf(kernel, y, theta):
    """Return P(Y ≤ y|θ)."""


@slot
def mass(kernel, lower, upper, theta):
    """Return P(lower < Y ≤ upper|θ), accurate in both tails where the kernel gives it."""


@slot
def lower_tail(kernel, y, theta):
    """Return P(Y ≤ y|θ), accurate where it is small."""


@slot
def upper_tail(kernel, y, theta):
    """Return P(Y > y|θ), accurate where it is small if the kernel gives its mass."""


@slot
def sample_between(kernel, rng, theta, lower, upper):
    """Draw Y given that it lies between lower and upper."""


@slot
def central_moments(kernel, theta, out):
    """Write mean, variance, third and fourth central moment of f(·|θ)."""


@slot
def row_moments(kernel, theta, mean, covariance):
    """Write mean and covariance of f(·|θ), where y is a row."""
