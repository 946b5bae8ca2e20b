"""Bugs of records that were clamped, rounded or withheld: the mass of what is behind a published value."""

from __future__ import annotations

from mutants.models import EDGE_KERNEL, WIDE, one
from privmix.kernels import Normal
from privmix.mechanisms import Clamped, Clipped, Gaussian, Laplace, Rounded, Withheld
from privmix.mechanisms import clipped as clipped_file
from privmix.mechanisms import processed_records as record_file
from privmix.model import PrivateMixture
from privmix.pairs import clipped as clipped_pair
from privmix.pairs import gaussian_truncated_normal, post_processed, tails
from privmix.priors import DirichletProcess
from privmix.samplers import Neal5, Neal8, Slice
from privmix.testing import Mutant

LAPLACE = Laplace(epsilon=5.0, bounds=WIDE)
CLAMPED = PrivateMixture(Clamped(LAPLACE, lower=-1.0), Normal(), DirichletProcess(2.0))
ROUNDED = PrivateMixture(Rounded(LAPLACE, to=6.0), Normal(), DirichletProcess(2.0))
CLIPPED = PrivateMixture(Clipped(Laplace(epsilon=5.0, bounds=(-3.0, 3.0))), Normal(), DirichletProcess(2.0))
# Intervals that hold less than a tenth, where records are drawn by inversion.
FINER = PrivateMixture(Rounded(Laplace(epsilon=20.0, bounds=WIDE), to=1.0), Normal(), DirichletProcess(2.0))
EDGED = PrivateMixture(Clamped(Gaussian(scale=0.2, bounds=(0.0, 1.0)), lower=0.4), EDGE_KERNEL, DirichletProcess(2.0))


def published_value_bugs() -> list[Mutant]:
    """Return bugs in the likelihood and in the draws of records."""
    return [
        one(
            "mass at the clamp forgotten",
            record_file._published_log_q,
            "noisy_log_between(part, z[0], z[1], y)",
            "noisy_log_q(part, z[1], y)",
            CLAMPED,
            Neal5(),
        ),
        one(
            "mass at the clamp forgotten in g",
            post_processed.log_g,
            "between(mechanism, kernel, z[0], z[1], theta)",
            "noisy_log_g(mechanism, kernel, z[1], theta)",
            CLAMPED,
            Neal8(),
        ),
        one(
            "rounded values taken for exact ones in g",
            post_processed.log_g,
            "between(mechanism, kernel, z[0], z[1], theta)",
            "noisy_log_g(mechanism, kernel, 0.5 * (z[0] + z[1]), theta)",
            ROUNDED,
            Neal8(),
        ),
        one(
            "lower end of an interval forgotten",
            tails.log_between,
            "return log_difference(right, left)",
            "return right",
            ROUNDED,
            Neal8(),
        ),
        one(
            "record drawn from the kernel and always kept",
            post_processed.draw_by_tries,
            "exponential(rng) >= -noisy",
            "0.0 <= -noisy",
            CLAMPED,
            Slice(records="exact"),
        ),
        one(
            "noisy record put at the end of its interval",
            post_processed.draw_between,
            "return end + sign * t",
            "return end",
            FINER,
            Slice(records="exact"),
        ),
        one(
            "panels below the peak counted by half",
            gaussian_truncated_normal.log_between,
            "total += panels_outwards(mechanism, kernel, start, low, -1.0, theta, top)",
            "total += 0.5 * panels_outwards(mechanism, kernel, start, low, -1.0, theta, top)",
            EDGED,
            Neal8(),
        ),
    ]


def clip_bugs() -> list[Mutant]:
    """Return bugs in the atoms of clipped records."""
    return [
        one(
            "atoms at the bounds forgotten in g",
            clipped_pair.log_g,
            "log_add_exp(inside, log_add_exp(below, above))",
            "inside",
            CLIPPED,
            Neal8(),
        ),
        one(
            "records not clipped",
            clipped_file._clipped_log_q,
            "min(max(y, part.clip[0]), part.clip[1])",
            "y",
            CLIPPED,
            Neal5(),
        ),
        one(
            "records beyond the bounds drawn on the wrong side",
            clipped_pair.sample,
            "left < math.exp(below - total)",
            "left >= math.exp(below - total)",
            CLIPPED,
            Slice(records="exact"),
        ),
    ]


def statement_bugs() -> list[tuple[str, PrivateMixture, PrivateMixture, object]]:
    """Return what is wrong in what is said of a release: what is so, what is said, and a sampler on which it shows."""

    def model(mechanism):
        return PrivateMixture(mechanism, Normal(), DirichletProcess(2.0))

    whole = Rounded(LAPLACE, to=2.0)
    return [
        ("< said for ≤", model(Withheld(whole, at_or_below=0.0)), model(Withheld(whole, below=0.0)), Neal8()),
        ("limit off by one", model(Withheld(whole, below=0.0)), model(Withheld(whole, below=-2.0)), Neal5()),
        ("clamp not said", model(Clamped(whole, lower=-2.0)), model(whole), Neal8()),
        ("rounding not said", model(Rounded(LAPLACE, to=6.0)), model(LAPLACE), Neal5()),
    ]
