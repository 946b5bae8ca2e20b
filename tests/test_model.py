"""The model: parts that fit, requests that make sense, and edge cases of the data."""

import json
import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from privmix import PrivateMixture, Release, kernels, mechanisms, priors, samplers
from privmix.engine.chains import root_of
from privmix.mechanisms.noise import NOISE_KEY, noise_generator

pytestmark = pytest.mark.xdist_group("fits")

MECHANISM = mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0))
MODEL = PrivateMixture(MECHANISM)
ORIGINAL = PrivateMixture(mechanisms.Identity())
Z = MECHANISM.privatize(np.random.default_rng(1).normal(1.0, 2.0, 12), seed=1)
FEW = {"draws": 10, "warmup": 5, "thin": 1, "chains": 2, "seed": 1}


def draws_of(posterior):
    return posterior.datatree["posterior"].to_dataset()


@dataclass(frozen=True)
class Plane(kernels.Kernel):
    """A kernel of two coordinates."""

    parameters: ClassVar[tuple[str, ...]] = ("a",)
    dimension: ClassVar[int] = 2


@dataclass(frozen=True)
class Clashing(kernels.Normal):
    """A parameter with the name of something else in the draws."""

    parameters: ClassVar[tuple[str, ...]] = ("weight", "variance")
    positive: ClassVar[tuple[str, ...]] = ("variance",)


def test_defaults():
    assert PrivateMixture(MECHANISM) == PrivateMixture(MECHANISM, kernels.Normal(), priors.DirichletProcess(1.0))
    assert MODEL.describe() == "Normal × Laplace × DirichletProcess"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"mechanism": mechanisms.Laplace},
            "mechanism must be a Mechanism; got <class 'privmix.mechanisms.laplace.Laplace'>. Did you mean Laplace()?",
        ),
        ({"mechanism": None}, "mechanism must be a Mechanism; got None."),
        ({"mechanism": MECHANISM, "kernel": MECHANISM}, f"kernel must be a Kernel; got {MECHANISM!r}."),
        (
            {"mechanism": MECHANISM, "kernel": kernels.Normal},
            "kernel must be a Kernel; got <class 'privmix.kernels.normal.Normal'>. Did you mean Normal()?",
        ),
        ({"mechanism": MECHANISM, "prior": 1.0}, "prior must be a Prior; got 1.0."),
    ],
)
def test_wrong_parts(arguments, message):
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        PrivateMixture(**arguments)


def test_dimensions_must_agree():
    message = "Plane describes records of 2 numbers, but Laplace perturbs records of 1."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        PrivateMixture(MECHANISM, Plane())


def test_restriction_is_part_of_the_model():
    model = PrivateMixture(MECHANISM, restricted_to=[-3, 4])
    assert model.restricted_to == (-3.0, 4.0)
    assert model != PrivateMixture(MECHANISM)
    posterior = model.sample(Z, **FEW)
    free = PrivateMixture(MECHANISM).sample(Z, **FEW)
    assert draws_of(posterior).identical(draws_of(free))
    assert not posterior.density([-3.5, 4.5])["mean"].any()
    assert free.density([-3.5, 4.5])["mean"].all()
    grid = np.linspace(-3.0, 4.0, 2001)
    assert np.trapezoid(posterior.density(grid)["mean"], grid) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("interval", [(1.0, 1.0), (2.0, 1.0), 3.0, "ab", (0.0, np.inf), (0.0, 1.0, 2.0)])
def test_bad_restriction(interval):
    message = f"PrivateMixture: restricted_to must be a pair (lower, upper) with lower < upper; got {interval!r}."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        PrivateMixture(MECHANISM, restricted_to=interval)


def test_parameter_names_must_not_clash_with_the_draws():
    with pytest.raises((TypeError, ValueError), match="weight"):
        PrivateMixture(MECHANISM, Clashing()).sample(Z, **FEW)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 0}, "draws must be a whole number of at least 1; got 0."),
        ({"draws": 2.5}, "draws must be a whole number of at least 1; got 2.5."),
        ({"draws": True}, "draws must be a whole number of at least 1; got True."),
        ({"draws": "10"}, "draws must be a whole number of at least 1; got '10'."),
        ({"warmup": -1}, "warmup must be a whole number of at least 0; got -1."),
        ({"thin": 0}, "thin must be a whole number of at least 1; got 0."),
        ({"chains": 0}, "chains must be a whole number of at least 1; got 0."),
    ],
)
def test_bad_counts(options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        MODEL.sample(Z, **options)


def test_counts_of_numpy_are_counts():
    posterior = MODEL.sample(Z, draws=np.int64(3), warmup=np.int32(0), chains=np.int64(1), thin=np.int64(2), seed=1)
    assert (posterior.draws, posterior.chains) == (3, 1)


@pytest.mark.parametrize(
    ("sampler", "hint"), [(samplers.Neal5, r" Did you mean Neal5\(\)\?"), ("Neal5", ""), (MECHANISM, "")]
)
def test_wrong_sampler(sampler, hint):
    with pytest.raises(TypeError, match=rf"^sampler must be a Sampler such as samplers\.Neal5\(\); got .*\.{hint}$"):
        MODEL.sample(Z, sampler)


def test_neal5_refuses_revealed_records():
    message = "Neal5 proposes confidential values, but Identity reveals them, so that no proposal could be accepted."
    with pytest.raises(ValueError, match=rf"^{re.escape(message)} Use .*Slice\.$"):
        ORIGINAL.sample(Z, samplers.Neal5())


@pytest.mark.parametrize(
    ("z", "error", "message"),
    [
        ([np.nan, 1.0], ValueError, "the release z has 1 values that are NaN or infinite"),
        ([np.inf, -np.inf], ValueError, "the release z has 2 values that are NaN or infinite"),
        ([], ValueError, "the release z is empty; at least one record is needed"),
        (["a"], TypeError, r"the release z must be numbers; got \['a'\]"),
        (1.0, ValueError, r"the release z must be an array with one entry a record; got the single value 1\.0"),
        ([[1.0, 2.0]], ValueError, r"Laplace releases one number a record; the release z has shape \(1, 2\)"),
    ],
)
def test_bad_release(z, error, message):
    with pytest.raises(error, match=f"^{message}"):
        MODEL.sample(z)


def test_release_of_another_mechanism():
    other = mechanisms.Laplace(epsilon=2.0, bounds=(-10.0, 10.0))
    message = (
        f"the release was made by {other!r}, but the model has {MECHANISM!r}. Build the model with release.mechanism."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        MODEL.sample(Release(Z, other))


def test_release_is_its_records():
    assert draws_of(MODEL.sample(Release(Z, MECHANISM), **FEW)).identical(draws_of(MODEL.sample(Z, **FEW)))
    assert draws_of(MODEL.sample(Z.tolist(), **FEW)).identical(draws_of(MODEL.sample(Z, **FEW)))


def test_wrong_number_of_scales():
    model = PrivateMixture(mechanisms.Laplace(scale=[1.0, 2.0]))
    with pytest.raises(ValueError, match="one scale for each of 2 records, but there are 3 records"):
        model.sample([1.0, 2.0, 3.0])


def test_scales_of_the_records_are_used():
    """Two records say 6 with tiny noise and two say −6 with huge noise: only the first two are believed."""
    model = PrivateMixture(mechanisms.Laplace(scale=[0.1, 0.1, 1e6, 1e6]), kernels.Normal())
    posterior = model.sample([6.0, 6.0, -6.0, -6.0], draws=400, warmup=200, thin=1, chains=1, seed=1)
    band = posterior.density([-6.0, 6.0])["mean"].values
    assert band[1] > 3.0 * band[0]


@pytest.mark.parametrize("outside", [[1.5], [-0.1, 0.5]])
def test_revealed_records_outside_the_support_are_refused(outside):
    model = PrivateMixture(mechanisms.Identity(), kernels.Beta())
    with pytest.raises(ValueError, match=r"outside|support"):
        model.sample(outside, samplers.Slice(), **FEW)


@pytest.mark.parametrize("z", [[0.7], [0.7, 0.7, 0.7, 0.7], [90.0, -90.0]])
@pytest.mark.parametrize(
    ("model", "sampler"), [(MODEL, samplers.Neal5()), (MODEL, samplers.Slice()), (ORIGINAL, samplers.Slice())]
)
def test_odd_data(model, sampler, z):
    draws = draws_of(model.sample(z, sampler, **FEW))
    n = len(z)
    assert ((draws["n_clusters"] >= 1) & (draws["n_clusters"] <= n)).all()
    assert draws.sizes["record"] == n
    assert np.isfinite(draws["weight"]).all()
    used = draws["weight"].values > 0.0
    assert np.isfinite(draws["mean"].values[used]).all()
    assert (draws["variance"].values[used] > 0.0).all()


def test_seed_decides_the_draws():
    first = draws_of(MODEL.sample(Z, **FEW))
    assert first.identical(draws_of(MODEL.sample(Z, **FEW)))
    assert not first.equals(draws_of(MODEL.sample(Z, **FEW | {"seed": 2})))
    chains = first["weight"].values
    assert not np.array_equal(chains[0], chains[1])
    alone = draws_of(MODEL.sample(Z, **FEW | {"chains": 1}))
    assert np.array_equal(alone["n_clusters"].values[0], first["n_clusters"].values[0])


def test_a_seed_sequence_is_a_seed():
    sequence = np.random.SeedSequence(1)
    first = MODEL.sample(Z, **FEW | {"seed": sequence})
    assert sequence.n_children_spawned == 0
    child = sequence.spawn(3)[2]
    assert draws_of(first).identical(draws_of(MODEL.sample(Z, **FEW | {"seed": sequence})))
    assert not draws_of(first).equals(draws_of(MODEL.sample(Z, **FEW | {"seed": child})))
    # Its children are its owner's: chains must not draw the numbers that they give. Those of seed 1 do.
    assert not draws_of(first).equals(draws_of(MODEL.sample(Z, **FEW)))


def test_a_seed_that_was_given_is_not_kept_and_a_fresh_one_gives_the_draws_again(tmp_path):
    for given in (987654321987, [987654321987], np.random.SeedSequence(987654321987)):
        posterior = MODEL.sample(Z, **FEW | {"seed": given})
        assert "seed" not in posterior.datatree.attrs
        assert posterior.datatree.attrs["seeded"] == 1
    posterior.save(tmp_path / "fit.nc")
    assert b"987654321987" not in (tmp_path / "fit.nc").read_bytes()
    fresh = MODEL.sample(Z, **FEW | {"seed": None})
    assert fresh.datatree.attrs["seeded"] == 0
    again = MODEL.sample(Z, **FEW | {"seed": json.loads(fresh.datatree.attrs["seed"])})
    assert draws_of(fresh).identical(draws_of(again))


def test_noise_shares_no_stream_with_a_fit():
    """Words of a seed enter SeedSequence in a row: a chain ends in its number, noise in a key that no chain has."""
    noise = noise_generator(3).bit_generator.state
    with_keys = [root_of(seed).spawn(3) for seed in (3, [3], [3, 0, 0, 0, NOISE_KEY], np.random.SeedSequence(3))]
    starts = [np.random.PCG64(child).state for children in with_keys for child in children]
    assert noise not in starts
    assert noise != np.random.PCG64(3).state


def test_allocations_can_be_left_out():
    assert "allocation" in draws_of(MODEL.sample(Z, **FEW))
    without = draws_of(MODEL.sample(Z, allocations=False, **FEW))
    assert "allocation" not in without
    assert without.identical(draws_of(MODEL.sample(Z, **FEW)).drop_vars("allocation"))


def test_given_records_are_not_changed():
    z = Z.copy()
    posterior = MODEL.sample(z, **FEW)
    z[:] = 0.0
    assert np.array_equal(posterior.datatree["observed_data"]["z"], Z)
