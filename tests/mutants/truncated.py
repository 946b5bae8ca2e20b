"""Bugs of truncated normal components: their normalising constant, their update and their convolutions."""

from __future__ import annotations

from mutants.models import EDGE, EDGE_GAUSSIAN, one
from privmix.kernels import TruncatedNormal
from privmix.kernels import truncated_normal as kernel_file
from privmix.pairs import gaussian_truncated_normal, laplace_truncated_normal
from privmix.samplers import Binned, Neal5, Neal8, Slice
from privmix.testing import Mutant

IMPUTE = Neal5(exact=True, update="impute")


def truncated_bugs() -> list[Mutant]:
    """Return bugs in the kernel's hooks and in the two pairs."""
    return [
        one("Z forgotten in the density", TruncatedNormal.prepare, " - math.log(mass)\n", "\n", EDGE, Slice()),
        one(
            "Z of the old atom in the acceptance of a mean",
            kernel_file.propose_mean,
            "theta[LOG_MASS] - proposed",
            "theta[LOG_MASS] - theta[LOG_MASS]",
            EDGE,
            Neal5(),
        ),
        one(
            "acceptance of a variance with Z upside down",
            kernel_file.propose_variance,
            "n * (theta[LOG_MASS] - log_mass(kernel, theta[0], variance))",
            "n * (log_mass(kernel, theta[0], variance) - theta[LOG_MASS])",
            EDGE,
            Neal5(),
        ),
        one(
            "slice step of the scale without its Jacobian",
            kernel_file.size_target,
            "+ 2.0 * size",
            "+ 1.0 * size",
            EDGE,
            Neal5(),
        ),
        one(
            "halves exchanged in the draw of a record",
            laplace_truncated_normal.sample,
            "is_near == (d >= 0.0)",
            "is_near != (d >= 0.0)",
            EDGE,
            Slice(records="exact"),
        ),
        one(
            "Z forgotten in g, Laplace noise",
            laplace_truncated_normal.log_g,
            "rate * theta[INVERSE_MASS] * (near + away)",
            "rate * (near + away)",
            EDGE,
            Neal8(),
        ),
        one(
            "records outside the bounds in g, Gaussian noise",
            gaussian_truncated_normal.exponent_and_mass,
            "top + log_scaled_cdf(near), 1.0",
            "top, 1.0",
            EDGE_GAUSSIAN,
            Neal8(),
        ),
        one(
            "records outside the nearer of two bounds in g, Gaussian noise",
            gaussian_truncated_normal.exponent_and_mass,
            "1.0 - tail_from_table(near) - (",
            "1.0 - (",
            EDGE_GAUSSIAN,
            Neal8(),
        ),
        one(
            "record drawn around the wrong centre, Gaussian noise",
            gaussian_truncated_normal.sample,
            "rng, centre, mech",
            "rng, z, mech",
            EDGE_GAUSSIAN,
            IMPUTE,
        ),
    ]


def panel_bugs() -> list[Mutant]:
    """Return bugs in the recurrences from panel to panel, which the probabilities of bins show by themselves."""
    edits = [
        ("mass above the upper bound stands still", "above -= at_high", "above -= 0.0 * at_high"),
        ("factor of the height stands still", "fall * bend", "fall"),
        ("middle of a slide forgotten", "low - (k + 0.5) * slide", "low - k * slide"),
    ]
    return [one(*edit[:1], gaussian_truncated_normal.march, *edit[1:], EDGE_GAUSSIAN, Binned()) for edit in edits]
