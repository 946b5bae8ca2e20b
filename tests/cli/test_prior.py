"""Options of priors come from the priors: a new one brings its own."""

import inspect

import pytest

from privmix import priors
from privmix.cli.options import PRIORS, build_prior, options_by_field, takes_prior


def test_every_prior_is_offered():
    assert {kind.__name__ for kind in PRIORS.values()} == set(priors.__all__) - {"Prior"}


@pytest.mark.parametrize(
    ("name", "given", "prior"),
    [
        (None, {}, None),
        (None, {"concentration": 2.0}, priors.DirichletProcess(2.0)),
        (None, {"concentration_prior": (2.0, 1.0)}, priors.DirichletProcess((2.0, 1.0))),
        ("pitman-yor", {"discount": 0.5}, priors.PitmanYor(0.5)),
        ("dirichlet", {"components": "7", "weight_prior": (1.0, 2.0)}, priors.Dirichlet(7, (1.0, 2.0))),
        (
            "finite-mixture",
            {"components": "beta-negative-binomial", "expected": 3.0},
            priors.FiniteMixture("beta negative binomial", 3.0),
        ),
    ],
)
def test_prior_of_the_options(name, given, prior):
    assert build_prior(name, given) == prior


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (None, {"discount": 0.5}, "--discount was given, but dirichlet-process does not take it"),
        ("pitman-yor", {"weight_prior": (1.0, 1.0)}, "--weight-prior was given, but pitman-yor does not take it"),
        (None, {"concentration": 1.0, "concentration_prior": (1.0, 1.0)}, "exclude one another. Give one of them."),
        ("dirichlet", {"components": "many"}, "--components must be a whole number here; got 'many'"),
    ],
)
def test_options_out_of_place_are_refused(name, given, message):
    with pytest.raises(ValueError, match=message):
        build_prior(name, given)


def test_a_command_gets_the_prior_and_not_its_options():
    @takes_prior
    def command(prior):
        return prior

    shown = inspect.signature(command).parameters
    assert list(shown) == ["prior", *options_by_field()]
    given = dict.fromkeys(shown) | {"prior": "pitman-yor", "discount": 0.1}
    assert command(**given) == priors.PitmanYor(0.1)
