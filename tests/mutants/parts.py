"""Bugs of kernels, mechanisms and priors."""

from __future__ import annotations

from mutants.models import BETA, FIRM, GAUSSIAN, HAAR, HYPERPRIOR, LATTICE, LEARNED, LEARNED_NORMAL, NORMAL, WALKED, one
from privmix.kernels import HierarchicalNormal, Normal
from privmix.kernels import beta as beta_file
from privmix.kernels import random_walk as random_walk_file
from privmix.mechanisms import Gaussian, HaarWavelet, Laplace
from privmix.mechanisms import lattice as lattice_file
from privmix.priors import DirichletProcess
from privmix.samplers import Neal5, Neal8, Slice
from privmix.testing import Mutant


def part_bugs() -> list[Mutant]:
    """Return bugs in the hooks of mechanisms, kernels and priors."""
    return [
        one("noise scale 10% too large", Laplace.log_q, "/ self.scale -", "/ (1.1 * self.scale) -", NORMAL, Neal5()),
        one(
            "Gaussian exponent without ½",
            Gaussian.log_q,
            "-0.5 * deviation * deviation",
            "-deviation * deviation",
            GAUSSIAN,
            Slice(),
        ),
        one(
            "Haar cells shifted by one",
            HaarWavelet.log_q,
            "max(position, 0.0)",
            "max(position + 1.0, 0.0)",
            HAAR,
            Neal5(),
        ),
        one(
            "records rounded down to the lattice",
            lattice_file._nearest_point,
            "/ part.lattice[1] + 0.5)",
            "/ part.lattice[1])",
            LATTICE,
            Neal5(),
        ),
        one(
            "cells of the lattice begin at its points",
            lattice_file._point_edge,
            "(j - 0.5)",
            "j",
            LATTICE,
            Neal8(),
        ),
        one(
            "variance updated without its prior shape",
            Normal.update,
            "self.shape + 0.5 * n",
            "0.5 * n + 1.0",
            NORMAL,
            Neal5(),
        ),
        one(
            "mean drawn without the prior's weight",
            Normal.update,
            "math.sqrt(theta[1] / precision)",
            "math.sqrt(theta[1] / n)",
            FIRM,
            Slice(),
        ),
        one(
            "beta shapes without the prior's rate",
            beta_file.shapes_log_density,
            "- rate * (a + b)",
            "- 0.5 * rate * (a + b)",
            BETA,
            Neal5(),
        ),
        one(
            "beta shapes without the Jacobian",
            beta_file.shapes_log_density,
            "+ shape * (log_a + log_b)",
            "+ (shape - 1.0) * (log_a + log_b)",
            BETA,
            Slice(),
        ),
        one(
            "random walk on the log scale without the Jacobian",
            random_walk_file.walk,
            "(step if log_scale(p) else 0.0)",
            "0.0",
            WALKED,
            Slice(),
        ),
        one(
            "learned spread ignores the atoms",
            HierarchicalNormal.update_hyper,
            "gamma(rng, 2.0 + 0.5 * k)",
            "gamma(rng, 2.0)",
            LEARNED,
            Neal5(),
        ),
        one(
            "learned mean that forgets the variances of the atoms",
            Normal.update_hyper,
            "precision = 1.0 / (sd * sd) + self.precision_scale * inverse",
            "precision = 1.0 / (sd * sd) + self.precision_scale * len(atoms)",
            LEARNED_NORMAL,
            Neal5(),
        ),
        one(
            "Escobar–West without its mixture",
            DirichletProcess.update_given_partition,
            "shape -= 1.0",
            "shape -= 0.0",
            HYPERPRIOR,
            Neal5(),
        ),
    ]
