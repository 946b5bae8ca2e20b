"""One call that tests a sampler on a model, for the library's own parts and for anyone's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from privmix.model import PrivateMixture
from privmix.samplers import Sampler
from privmix.testing.joint import JointTest, joint_test
from privmix.testing.twin import twin_gap

# Compiled and plain arithmetic may round differently; a draw that took another turn differs by much more.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Check:
    """Outcome of `check_sampler`."""

    joint: JointTest
    twin_gap: float

    def __str__(self) -> str:
        return f"{self.joint}\nslow twin: largest difference {self.twin_gap:.1g}"


def check_sampler(model: PrivateMixture, sampler: Sampler, *, n: int = 10, pairs: int = 20_000, seed: Any = 1) -> Check:
    """Test that a sampler targets the posterior of a model; raise AssertionError where it is shown not to.

    The joint one-step test ties together everything that the model is made of: a density that does not match its
    sampler, an update that leaves the prior out or a wrong noise scale all shift its statistics. The slow twin shows
    that the compiled code does what its source says.

    Parameters
    ----------
    model, sampler
        What to test, with parts of your own or the library's.
    n, pairs, seed
        Records of each simulated data set, number of data sets, and seed.

    Examples
    --------
    >>> from privmix import PrivateMixture, mechanisms, samplers
    >>> from privmix.testing import check_sampler
    >>> model = PrivateMixture(mechanisms.Laplace(epsilon=5, bounds=(-10, 10)))
    >>> print(check_sampler(model, samplers.Neal5()))  # doctest: +SKIP
    joint one-step passed: p = 0.27 after Bonferroni; largest shift in clusters (z = +2.6)
    slow twin: largest difference 0
    """
    check = Check(joint_test(model, sampler, n=n, pairs=pairs, seed=seed), twin_gap(model, sampler, n=n, seed=seed))
    name = f"{type(sampler).__name__} on {model.describe()}"
    if check.joint.rejected:
        raise AssertionError(
            f"{name} does not target its posterior: {check.joint}. Check that log_f is the density that sample draws "
            "from, that log_q is the density that perturb draws from, and that update leaves G₀(θ) ∏ f(y|θ) unchanged."
        )
    if not check.twin_gap < ROUNDING:
        raise AssertionError(
            f"{name}: compiled code and plain Python give different draws (largest relative difference "
            f"{check.twin_gap:.2g}). Check hooks for array indices out of range and for integer division."
        )
    return check
