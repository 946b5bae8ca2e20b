"""What priors refuse, word for word; and laws that are one law in two forms."""

import re

import numpy as np
import pytest

from privmix import PrivateMixture, kernels, mechanisms, samplers
from privmix.priors import Dirichlet, DirichletProcess, FiniteMixture, PitmanYor

PAIR = ", or a pair (shape, rate) of positive numbers for a Gamma hyperprior; got "


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PitmanYor(1.0), "PitmanYor: discount must be at least 0 and below 1; got 1.0."),
        (lambda: PitmanYor(-0.1), "PitmanYor: discount must be at least 0 and below 1; got -0.1."),
        (lambda: PitmanYor("x"), "PitmanYor: discount must be a finite number; got 'x'."),
        (lambda: PitmanYor(0.5, -0.5), f"concentration must be a number above -0.5{PAIR}-0.5."),
        (lambda: PitmanYor(0.5, (-0.1, 1.0)), f"concentration must be a number above -0.5{PAIR}(-0.1, 1.0)."),
        (lambda: Dirichlet(0), "Dirichlet: components must be a whole number of at least 1; got 0."),
        (lambda: Dirichlet(2.5), "Dirichlet: components must be a whole number of at least 1; got 2.5."),
        (lambda: Dirichlet(4, 0.0), f"weight must be a positive number{PAIR}0.0."),
        (
            lambda: FiniteMixture("uniform"),
            "FiniteMixture: components must be one of 'poisson', 'geometric', 'beta negative binomial'; got 'uniform'.",
        ),
        (
            lambda: FiniteMixture(expected=1),
            "FiniteMixture: expected must be above 1, for there is a component; got 1.",
        ),
        (lambda: FiniteMixture(weight=(1.0, 0.0)), f"weight must be a positive number{PAIR}(1.0, 0.0)."),
    ],
)
def test_wrong_numbers_are_refused(make, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make()


def test_counts_refuse_a_prior_with_a_heavy_tail():
    mechanism = mechanisms.NoisyHistogram(10, 4, epsilon=2.0, bounds=(-3.0, 3.0))
    with pytest.raises(ValueError, match=r"under PitmanYor what is left falls as a power of their number.*Use Slice"):
        samplers.Binned().check(PrivateMixture(mechanism, kernels.Normal(), PitmanYor()))
    with pytest.raises(ValueError, match=r"^Slice\(records='metropolis'\) keeps every stick .* Use Neal5\(\)"):
        samplers.Slice().check(PrivateMixture(mechanism, kernels.Normal(), PitmanYor(0.5)))
    samplers.Slice().check(PrivateMixture(mechanism, kernels.Normal(), PitmanYor(0.4)))
    for prior in (Dirichlet(), FiniteMixture(), DirichletProcess()):
        samplers.Binned().check(PrivateMixture(mechanism, kernels.Normal(), prior))


@pytest.mark.parametrize("alpha", [0.3, 2.0])
def test_without_discount_it_is_a_dirichlet_process(alpha):
    plain, other = DirichletProcess(alpha), PitmanYor(0.0, alpha)
    law = plain.cluster_law(30)
    np.testing.assert_allclose(other.cluster_law(30)[: len(law)], law, atol=1e-11)
    row = np.array([alpha])
    assert other.reduction(row) == 0.0
    assert other.new_weight(row, 10, 3) == plain.new_weight(row, 10, 3)
    one, two = (prior.stick_given(np.random.default_rng(1), row, 4, 3, 7) for prior in (plain, other))
    assert one == two


def test_too_large_a_triangle_is_left_out():
    assert PitmanYor().cluster_law(100_000) is None
    assert FiniteMixture().cluster_law(100_000) is None
    assert Dirichlet(5).cluster_law(100_000).sum() == pytest.approx(1.0)
