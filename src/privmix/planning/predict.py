"""How well a density will be told, before any record is collected.

The density on cells is e^{Φw} up to its sum, with smooth functions Φ and a Gaussian prior of w whose length and
amplitude are unknown: a stand-in for a mixture that is solved without chains. With the statistics that are expected
under a given shape, the best w shows what is lost to the cells of the mechanism and to smoothing (the bias), and the
curvature there how far estimates scatter (the variance). Settings of length and amplitude are weighted by the evidence
that is to be expected for each. Mixtures of a few normals take part in the same way: where the shape is one, fits learn
it with twice the accuracy that smooth densities alone would promise, or more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

from privmix.planning.experiment import Experiment
from privmix.planning.mixtures import Mixture, mixture_on_cells, nearest_mixtures

#: cosines and settings of the prior: correlation length in units of the bounds, standard deviation of the log density
COSINES = 48
LENGTHS = (0.25, 0.12, 0.06, 0.03)
AMPLITUDES = (1.0, 2.0, 4.0)
# Standard deviation of slope and curvature of the log density over the bounds.
SLOPE = 4.0
# Newton's method: steps, and the gain below which it has arrived.
MOST_STEPS, ARRIVED = 60, 1e-6
SHORTEST_STEP = 1e-6
# Quantile of the 95% band.
NORMAL_975 = 1.959963984540054
# The least probability of a statistic.
LEAST = 1e-300


class Prediction(NamedTuple):
    """What is to be expected of an estimate, on cells of the density.

    Attributes
    ----------
    density
        Mean estimate, as the probability of each cell.
    bias
        Mean estimate minus the shape.
    scatter
        Estimates scatter as this matrix times independent standard normal variables.
    band
        Half-width of the 95% band that a fit will show.
    l1
        Expected L1 distance of the estimate from the shape.
    """

    density: np.ndarray
    bias: np.ndarray
    scatter: np.ndarray
    band: np.ndarray
    l1: float

    @property
    def bias_l1(self) -> float:
        """L1 distance of the mean estimate: what repetitions would not take away."""
        return float(np.abs(self.bias).sum())

    def estimates(self, repetitions: int, seed: int = 0) -> np.ndarray:
        """Return estimates of as many repetitions, a row each.

        Parameters
        ----------
        repetitions
            How many.
        seed
            Of the draws: the same for all mechanisms, so that they can be compared.
        """
        noise = np.random.default_rng(seed).standard_normal((repetitions, self.scatter.shape[1]))
        return self.density + noise @ self.scatter.T


@dataclass(frozen=True, eq=False)
class Setting:
    """A length and an amplitude of the prior, with the prior variances of the weights."""

    length: float
    amplitude: float
    variances: np.ndarray


@lru_cache(maxsize=8)
def basis(cells: int) -> np.ndarray:
    """Return the functions on the cells, a column each: cosines, then slope and curvature."""
    x = (np.arange(cells) + 0.5) / cells
    cosines = np.sqrt(2.0) * np.cos(np.pi * np.outer(x, np.arange(1, COSINES + 1)))
    t = 2.0 * x - 1.0
    return np.column_stack([cosines, t, t * t - 1.0 / 3.0])


@lru_cache(maxsize=1)
def settings() -> tuple[Setting, ...]:
    """Return every length with every amplitude; variances fall as those of a squared-exponential covariance."""
    k = np.arange(1, COSINES + 1)
    made = []
    for length in LENGTHS:
        shape = np.exp(-0.5 * (np.pi * k * length) ** 2) + 1e-12
        shape /= shape.sum()
        made += [Setting(length, a, np.append(a**2 * shape, [SLOPE**2, SLOPE**2])) for a in AMPLITUDES]
    return tuple(made)


class _Solved(NamedTuple):
    """The best weights of a setting under what is expected, and what follows from the curvature there."""

    weights: np.ndarray
    density: np.ndarray
    posterior: np.ndarray  # variance of the cells' probabilities in the posterior
    gain: np.ndarray  # how the cells' probabilities follow the statistics
    evidence: float


def predict(experiment: Experiment, shape: np.ndarray, n: float, mixtures: bool = True) -> Prediction:
    """Return what n records of a shape will tell through an experiment.

    Parameters
    ----------
    experiment
        What the mechanism makes of the cells.
    shape
        Probability of each cell.
    n
        Number of records.
    mixtures
        Whether to count on the shape's being a mixture of few normals, where it is one: a fit learns that faster.
    """
    with threadpool_limits(1):  # matrices are small: threads that wait for one another cost more than they give
        solved, weights = [], None
        for setting in settings():
            solved.append(solve(Smooth(experiment, shape, n, setting), weights))
            weights = solved[-1].weights
        for mixture in nearest_mixtures(shape) if mixtures else ():
            solved.append(solve(Mixed(experiment, shape, n, mixture), mixture.weights))
        return _join(experiment, shape, n, solved)


def _join(experiment: Experiment, shape: np.ndarray, n: float, solved: list[_Solved]) -> Prediction:
    """Weight the settings by their evidence."""
    expected = experiment.means @ shape
    evidence = np.array([one.evidence for one in solved])
    weight = np.exp(evidence - evidence.max())
    weight /= weight.sum()
    density = np.tensordot(weight, np.stack([one.density for one in solved]), 1)
    gain = np.tensordot(weight, np.stack([one.gain for one in solved]), 1)
    if experiment.shares:  # multinomial counts: their sum does not scatter
        gain = gain - (gain @ expected)[:, None]
    scatter = gain * np.sqrt(n * experiment.variances(expected, n))
    between = np.stack([one.posterior + (one.density - density) ** 2 for one in solved])
    bias, spread = density - shape, np.sqrt(np.einsum("co,co->c", scatter, scatter))
    return Prediction(density, bias, scatter, NORMAL_975 * np.sqrt(weight @ between), folded(bias, spread))


def folded(mean: np.ndarray, sd: np.ndarray) -> float:
    """Return Σ E|X| of normal variables."""
    safe = np.maximum(sd, 1e-15)
    t = mean / safe
    return float(np.sum(safe * math.sqrt(2.0 / math.pi) * np.exp(-0.5 * t * t) + mean * (1.0 - 2.0 * ndtr(-t))))


class Problem:
    """The log posterior of some weights under expected statistics, its slope and its expected information.

    A subclass says what the probabilities of the cells are.
    """

    def __init__(self, experiment: Experiment, shape: np.ndarray, n: float, prior: np.ndarray):
        self.experiment, self.n, self.prior, self.precision = experiment, n, prior, 1.0 / prior
        self.expected = experiment.means @ shape
        self.variances = experiment.variances(self.expected, n)
        # Shares of outputs have a multinomial likelihood; with noise, and for bits, a normal one.
        self.multinomial = experiment.shares and experiment.noise == 0.0

    def density(self, w: np.ndarray) -> np.ndarray:
        """Return the probabilities of the cells."""
        raise NotImplementedError

    def slopes(self, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Return how the probabilities follow the weights, a column each."""
        raise NotImplementedError

    def value(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log posterior, up to a constant, and the probabilities of the cells."""
        p = self.density(w)
        released = np.maximum(self.experiment.means @ p, LEAST)
        if self.multinomial:
            fit = float(self.expected @ np.log(released))
        else:
            fit = -0.5 * float(np.sum((self.expected - released) ** 2 / self.variances))
        return self.n * fit - 0.5 * float(w @ (self.precision * w)), p

    def through(self, w: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return how cells and statistics follow the weights, and the variance of each statistic."""
        by_weight = self.slopes(w, p)
        released = np.maximum(self.experiment.means @ p, LEAST)
        return by_weight, self.experiment.means @ by_weight, released if self.multinomial else self.variances

    def derivatives(self, w: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the slope and the information."""
        _, through, variances = self.through(w, p)
        scaled = through / variances[:, None]
        slope = self.n * (scaled.T @ (self.expected - self.experiment.means @ p)) - self.precision * w
        return slope, self.n * (through.T @ scaled) + np.diag(self.precision)


class Smooth(Problem):
    """A smooth log density: weights of functions, with the prior of a setting."""

    def __init__(self, experiment: Experiment, shape: np.ndarray, n: float, setting: Setting):
        super().__init__(experiment, shape, n, setting.variances)
        self.functions = basis(len(shape))

    def density(self, w: np.ndarray) -> np.ndarray:
        """Return e^{Φw} over its sum."""
        log_p = self.functions @ w
        p = np.exp(log_p - log_p.max())
        return p / p.sum()

    def slopes(self, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Return p times each function less its mean."""
        return p[:, None] * (self.functions - p @ self.functions)


class Mixed(Problem):
    """A mixture of a few normals."""

    def __init__(self, experiment: Experiment, shape: np.ndarray, n: float, mixture: Mixture):
        super().__init__(experiment, shape, n, mixture.variances)
        self.cells = len(shape)

    def density(self, w: np.ndarray) -> np.ndarray:
        """Return the mixture's probabilities."""
        return mixture_on_cells(w, self.cells)[0]

    def slopes(self, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Return the mixture's slopes."""
        return mixture_on_cells(w, self.cells)[1]


def solve(problem: Problem, start: np.ndarray | None) -> _Solved:
    """Find the best weights by scoring, halving steps that do not gain."""
    w = np.zeros(len(problem.precision)) if start is None else start
    value, p = problem.value(w)
    for _ in range(MOST_STEPS):
        slope, information = problem.derivatives(w, p)
        step = cho_solve(cho_factor(information, check_finite=False), slope, check_finite=False)
        length = 1.0 if float(step @ slope) > ARRIVED else 0.0
        while length > SHORTEST_STEP:
            trial, p_trial = problem.value(w + length * step)
            if trial > value:
                break
            length *= 0.5
        if length <= SHORTEST_STEP:
            break
        w, value, p = w + length * step, trial, p_trial
    return _curvature(problem, w, p, value)


def _curvature(problem: Problem, w: np.ndarray, p: np.ndarray, value: float) -> _Solved:
    """Return how the estimate follows the statistics, the posterior's spread and the evidence to be expected."""
    by_weight, through, variances = problem.through(w, p)
    scaled = through / variances[:, None]
    information = problem.n * (through.T @ scaled) + np.diag(problem.precision)
    factor = cho_factor(information, check_finite=False)
    covariance = cho_solve(factor, by_weight.T, check_finite=False)
    posterior = np.einsum("cw,wc->c", by_weight, covariance)
    # Data scatter around what is expected and the best weights follow them: half of what that gains.
    solved = cho_solve(factor, scaled.T, check_finite=False)
    followed = problem.n * float(np.sum(problem.variances * np.einsum("ow,wo->o", scaled, solved)))
    log_det = 2.0 * np.log(np.diag(factor[0])).sum() + np.log(problem.prior).sum()
    return _Solved(w, p, posterior, (scaled @ covariance).T, value + 0.5 * (followed - float(log_det)))
