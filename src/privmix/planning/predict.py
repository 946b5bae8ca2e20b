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
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs
from scipy.special import ndtr
from threadpoolctl import ThreadpoolController

from privmix.planning.experiment import Experiment
from privmix.planning.mixtures import Mixture, mixture_on_cells, nearest_mixtures

#: cosines and settings of the prior: correlation length in units of the bounds, standard deviation of the log density
COSINES = 48
LENGTHS = (0.25, 0.12, 0.06, 0.03)
AMPLITUDES = (1.0, 2.0, 4.0)
# Functions beside the cosines: slope and curvature.
POLYNOMIALS = 2
# Standard deviation of slope and curvature of the log density over the bounds.
SLOPE = 4.0
# Newton's method: steps, and the gain below which it has arrived: with a tenth of it errors differ by .5% at most.
MOST_STEPS, ARRIVED = 200, 1e-3
SHORTEST_STEP = 1e-6
# Quantile of the 95% band.
NORMAL_975 = 1.959963984540054
# What a release tells of a weight, over what the prior does, that is nothing; and the share of a setting that is none.
TOLD_NOTHING, NO_WEIGHT = 1e-7, 1e-12
# A mixture whose evidence is to end this far below the best is left where it is; and how much more than expected a
# step may gain.
NO_RIVAL, UNEXPECTED = 20.0, 4.0
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
        with blas().limit(limits=1):
            return self.density + noise @ self.scatter.T


@dataclass(frozen=True, eq=False)
class Setting:
    """A length and an amplitude of the prior, with the prior variances of the weights."""

    length: float
    amplitude: float
    variances: np.ndarray


@lru_cache(maxsize=8)
def basis(cells: int) -> np.ndarray:
    """Return the functions on the cells, a column each: slope and curvature, then cosines."""
    x = (np.arange(cells) + 0.5) / cells
    cosines = np.sqrt(2.0) * np.cos(np.pi * np.outer(x, np.arange(1, COSINES + 1)))
    t = 2.0 * x - 1.0
    return np.column_stack([t, t * t - 1.0 / 3.0, cosines])


@lru_cache(maxsize=1)
def settings() -> tuple[Setting, ...]:
    """Return every length with every amplitude; variances fall as those of a squared-exponential covariance.

    Neighbours are alike, so that the weights of one are a good start for the next.
    """
    k = np.arange(1, COSINES + 1)
    made = []
    for j, amplitude in enumerate(AMPLITUDES):
        for length in LENGTHS[:: -1 if j % 2 else 1]:
            shape = np.exp(-0.5 * (np.pi * k * length) ** 2) + 1e-12
            variances = amplitude**2 * shape / shape.sum()
            made.append(Setting(length, amplitude, np.append([SLOPE**2] * POLYNOMIALS, variances)))
    return tuple(made)


class _Solved(NamedTuple):
    """The best weights of a setting under what is expected, and what follows from the curvature there."""

    weights: np.ndarray
    density: np.ndarray
    posterior: np.ndarray  # variance of the cells' probabilities in the posterior
    cells: np.ndarray  # how the cells' probabilities follow the weights, in units of the posterior, a column each
    statistics: np.ndarray  # how the statistics pull the weights, alike
    evidence: float

    @property
    def gain(self) -> np.ndarray:
        """How the cells' probabilities follow the statistics."""
        return self.cells.T @ self.statistics


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
    # Matrices are small: threads that wait for one another cost more than they give. A step that is too long may leave
    # what floats hold: it does not gain, and is halved.
    with blas().limit(limits=1), np.errstate(all="ignore"):
        solved, weights = [], None
        for setting in settings():
            solved.append(solve(Smooth(experiment, shape, n, setting), weights))
            weights = solved[-1].weights
        best = max(one.evidence for one in solved)
        for mixture in nearest_mixtures(shape) if mixtures else ():
            solved.append(solve(Mixed(experiment, shape, n, mixture), mixture.weights, best - NO_RIVAL))
        return _join(experiment, shape, n, solved)


@lru_cache(maxsize=1)
def blas() -> ThreadpoolController:
    """Return what limits the threads of linear algebra; looking for the libraries takes longer than a solution."""
    return ThreadpoolController()


def _join(experiment: Experiment, shape: np.ndarray, n: float, solved: list[_Solved]) -> Prediction:
    """Weight the settings by their evidence."""
    expected = experiment.means @ shape
    evidence = np.array([one.evidence for one in solved])
    weight = np.exp(evidence - evidence.max())
    weight /= weight.sum()
    density = weight @ np.stack([one.density for one in solved])
    gain = sum(share * one.gain for share, one in zip(weight, solved, strict=True) if share > NO_WEIGHT)
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


class Local(NamedTuple):
    """The log posterior around some weights.

    Attributes
    ----------
    slope, information
        Its slope and its expected information.
    by_weight
        How the probabilities of the cells follow the weights, a column each.
    through
        How the statistics follow them, in units of their scatter.
    unit
        One over the standard deviation of a statistic's mean, times n.
    """

    slope: np.ndarray
    information: np.ndarray
    by_weight: np.ndarray
    through: np.ndarray
    unit: np.ndarray


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

    def derivatives(self, w: np.ndarray, p: np.ndarray) -> Local:
        """Return the slope and the information, and what they are made of."""
        by_weight = self.slopes(w, p)
        released = self.experiment.means @ p
        variances = np.maximum(released, LEAST) if self.multinomial else self.variances
        unit = np.sqrt(self.n / variances)
        through = (self.experiment.means @ by_weight) * unit[:, None]
        information = through.T @ through
        information.flat[:: len(w) + 1] += self.precision
        slope = through.T @ (unit * (self.expected - released)) - self.precision * w
        return Local(slope, information, by_weight, through, unit)


class Smooth(Problem):
    """A smooth log density: weights of functions, with the prior of a setting.

    No release tells more of a weight than the records themselves, the n-fold variance of its function, which is 2n at
    most. Weights of which that is far below their prior precision stay at zero and are left out.
    """

    def __init__(self, experiment: Experiment, shape: np.ndarray, n: float, setting: Setting):
        told = 2.0 * n * setting.variances > TOLD_NOTHING
        kept = int(np.flatnonzero(told)[-1]) + 1 if told.any() else POLYNOMIALS
        super().__init__(experiment, shape, n, setting.variances[:kept])
        self.functions = basis(len(shape))[:, :kept]

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
        self.latest = mixture_on_cells(mixture.weights, self.cells)

    def density(self, w: np.ndarray) -> np.ndarray:
        """Return the mixture's probabilities; the slopes, found on the way, are wanted next."""
        self.latest = mixture_on_cells(w, self.cells)
        return self.latest[0]

    def slopes(self, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Return the mixture's slopes."""
        known, slopes = self.latest
        return slopes if p is known else mixture_on_cells(w, self.cells)[1]


def solve(problem: Problem, start: np.ndarray | None, least: float = -math.inf) -> _Solved:
    """Find the best weights by scoring, halving steps that do not gain; a start of other length is cut or filled.

    The search ends where evidence of `least` seems out of reach: gains of a few steps are those that are expected, and
    the statistics add half the number of weights.
    """
    w = np.zeros(len(problem.precision))
    if start is not None:
        w[: len(start)] = start[: len(w)]
    value, p = problem.value(w)
    for left in range(MOST_STEPS, -1, -1):
        local = problem.derivatives(w, p)
        factor, failed = dpotrf(local.information.T, lower=1, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("the information of a prediction is not positive definite")
        step = dpotrs(factor, local.slope, lower=1)[0]
        gain = float(step @ local.slope)
        hopeless = value + UNEXPECTED * 0.5 * gain + 0.5 * len(w) < least
        further = None if hopeless or not left else _further(problem, w, step, value)
        if further is None:
            break
        w, value, p = further
        if gain < ARRIVED:  # a last step that is too short for the curvature to change
            break
    return _curvature(problem, w, p, value, local, factor)


def _further(
    problem: Problem, w: np.ndarray, step: np.ndarray, value: float
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Return weights that gain on those before, with their value and probabilities, or None where no step does."""
    length = 1.0
    while length > SHORTEST_STEP:
        moved = w + length * step
        trial, p = problem.value(moved)
        if trial > value:
            return moved, trial, p
        length *= 0.5
    return None


def _curvature(
    problem: Problem, w: np.ndarray, p: np.ndarray, value: float, local: Local, factor: np.ndarray
) -> _Solved:
    """Return how the estimate follows the statistics, the posterior's spread and the evidence to be expected."""
    cells, _ = dtrtrs(factor, local.by_weight.T, lower=1)
    statistics, _ = dtrtrs(factor, local.through.T, lower=1)
    # Data scatter around what is expected and the best weights follow them: half of what that gains.
    scatter = np.square(local.unit) * problem.variances / problem.n
    followed = float(scatter @ np.einsum("wo,wo->o", statistics, statistics))
    log_det = 2.0 * np.log(np.diag(factor)).sum() + np.log(problem.prior).sum()
    evidence = value + 0.5 * (followed - float(log_det))
    posterior = np.einsum("wc,wc->c", cells, cells)
    return _Solved(w, p, posterior, cells, statistics * (local.unit / problem.n), evidence)
