"""One call from a release to a posterior."""

import inspect
import re

import numpy as np
import pytest

import privmix
from privmix import Release, kernels, mechanisms, priors, samplers
from privmix.model import Settings

pytestmark = pytest.mark.xdist_group("fits")

BOUNDS = (-10.0, 10.0)
MECHANISM = mechanisms.Laplace(epsilon=5.0, bounds=BOUNDS)
Z = MECHANISM.privatize(np.random.default_rng(1).normal(1.0, 2.0, 25), seed=1)
FEW = {"draws": 20, "warmup": 20, "thin": 2, "chains": 2, "seed": 1}


@pytest.fixture(scope="module")
def posterior():
    return privmix.fit(Z, MECHANISM, **FEW)


def test_model_follows_from_the_bounds(posterior):
    assert posterior.model.kernel == kernels.TruncatedNormal(BOUNDS)
    assert posterior.model.prior == priors.DirichletProcess((2.0, 1.0))
    assert posterior.model.mechanism == MECHANISM
    assert posterior.model.restricted_to is None
    assert isinstance(posterior.sampler, samplers.SplitMerge)
    assert (posterior.chains, posterior.draws) == (2, 20)


def same_draws(one, other):
    groups = ("posterior", "sample_stats")
    return all(one.datatree[group].to_dataset().identical(other.datatree[group].to_dataset()) for group in groups)


def test_fit_is_the_default_model_sampled(posterior):
    built = privmix.default_model(MECHANISM).sample(Z, **FEW)
    assert same_draws(built, posterior)
    assert built.model == posterior.model
    assert built.density().identical(posterior.density())


def test_one_set_of_defaults_behind_every_door():
    from privmix.cli.fit import fit as command

    doors = (privmix.fit, privmix.PrivateMixture.sample, privmix.PrivateMixtureEstimator.__init__, command)
    for door in doors:
        given = inspect.signature(door).parameters
        # The command has no default of its own for draws: without, it goes on after the usual number.
        own = {name: given[name].default for name in ("draws", "warmup", "thin", "chains")}
        assert Settings(**{name: value for name, value in own.items() if value is not None}) == Settings(), door


def test_default_model_takes_a_prior_and_needs_bounds():
    prior = priors.DirichletProcess((2.0, 1.0))
    assert privmix.default_model(MECHANISM, prior).prior == prior
    with pytest.raises(ValueError, match=r"^fit derives its defaults from .* bounds, and Laplace has none"):
        privmix.default_model(mechanisms.Laplace(scale=1.0))


def test_release_brings_its_mechanism(posterior):
    for arguments in [(Release(Z, MECHANISM),), (Release(Z, MECHANISM), MECHANISM)]:
        again = privmix.fit(*arguments, **FEW)
        assert again.density().identical(posterior.density())


@pytest.mark.parametrize(("shift", "stretch"), [(0.0, 3.7), (1000.0, 1.0), (-2e-5, 1e-6), (5.0, 1e6)])
def test_fit_is_shifted_and_stretched_with_the_data(posterior, shift, stretch):
    bounds = tuple(shift + stretch * np.array(BOUNDS))
    mechanism = mechanisms.Laplace(epsilon=5.0, bounds=bounds)
    other = privmix.fit(shift + stretch * Z, mechanism, **FEW)
    assert np.array_equal(other.n_clusters, posterior.n_clusters)
    grid = np.linspace(-9.5, 9.5, 101)
    for name in ("mean", "lower", "upper"):
        moved = stretch * other.density(shift + stretch * grid)[name].values
        assert moved == pytest.approx(posterior.density(grid)[name].values, rel=1e-9, abs=1e-12)


def test_revealed_records_are_fitted_by_default():
    posterior = privmix.fit(np.clip(Z, *BOUNDS), mechanisms.Identity(bounds=BOUNDS), **FEW)
    assert posterior.sampler == samplers.Neal5(exact=True, update="impute")


def test_revealed_records_outside_the_bounds_are_refused():
    message = "2 records lie outside [-10, 10], which TruncatedNormal gives no probability. Widen the bounds, or choose"
    with pytest.raises(ValueError, match=re.escape(message)):
        privmix.fit([0.0, 10.5, -11.0], mechanisms.Identity(bounds=BOUNDS), **FEW)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((Z,), TypeError, "fit needs the mechanism that made the release: fit(z, mechanism), or fit(release)."),
        (
            (Z, mechanisms.Laplace),
            TypeError,
            "mechanism must be a mechanism such as mechanisms.Laplace(…); "
            "got <class 'privmix.mechanisms.laplace.Laplace'>.",
        ),
        (
            (Z, mechanisms.Laplace(scale=1.0)),
            ValueError,
            "fit derives its defaults from the mechanism's bounds, and Laplace has none. Give bounds=(lower, upper), "
            "or build a PrivateMixture with a kernel of your choice.",
        ),
        (([], MECHANISM), ValueError, "the release z is empty; at least one record is needed."),
        (
            ([np.nan], MECHANISM),
            ValueError,
            "the release z has 1 values that are NaN or infinite; remove or replace them first.",
        ),
        ((["a"], MECHANISM), TypeError, "the release z must be numbers; got ['a']."),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        privmix.fit(*arguments)


def test_release_of_another_mechanism():
    other = Release(Z, mechanisms.Laplace(epsilon=2.0, bounds=BOUNDS))
    with pytest.raises(ValueError, match=r"^the release was made by .* Build the model with release\.mechanism\.$"):
        privmix.fit(other, MECHANISM)


@pytest.mark.parametrize("options", [{"draws": 0}, {"chains": 0}, {"thin": 0}, {"warmup": -1}, {"draws": 1.5}])
def test_bad_counts(options):
    name, value = next(iter(options.items()))
    with pytest.raises(ValueError, match=rf"^{name} must be a whole number of at least [01]; got {value!r}\.$"):
        privmix.fit(Z, MECHANISM, **options)


@pytest.mark.parametrize("z", [[0.5], [0.5] * 4, [-10.0, 10.0]])
def test_few_or_equal_records(z):
    posterior = privmix.fit(z, MECHANISM, **FEW)
    band = posterior.density()
    assert np.isfinite(band["mean"]).all()
    assert (band["mean"] >= 0.0).all()
    assert np.isfinite(posterior.summary().loc["acceptance", "mean"])
