"""Saved posteriors: equal when read back, resumed as if never interrupted, and refused when damaged."""

import json
import os
from dataclasses import dataclass

import numpy as np
import pytest
import xarray as xr

import privmix
from privmix import PrivateMixture, kernels, mechanisms, priors, samplers
from privmix.posterior import storage

pytestmark = pytest.mark.xdist_group("fits")

MECHANISM = mechanisms.Laplace(epsilon=5.0, bounds=(-10.0, 10.0))
Z = MECHANISM.privatize(np.random.default_rng(1).normal(1.0, 2.0, 12), seed=1)
HIERARCHICAL = kernels.HierarchicalNormal((-10.0, 10.0))
CUT = PrivateMixture(MECHANISM, HIERARCHICAL, restricted_to=(-10.0, 10.0))


@pytest.fixture(scope="module")
def posterior():
    return PrivateMixture(MECHANISM).sample(Z, draws=20, warmup=10, thin=1, chains=2, seed=1)


@pytest.fixture
def saved(posterior, tmp_path):
    path = tmp_path / "fit.nc"
    posterior.save(path)
    return path


def same_draws(one, other):
    assert one.datatree["posterior"].to_dataset().identical(other.datatree["posterior"].to_dataset())
    assert one.datatree["sample_stats"].to_dataset().identical(other.datatree["sample_stats"].to_dataset())
    assert one.datatree["observed_data"].to_dataset().identical(other.datatree["observed_data"].to_dataset())


def files(folder):
    return sorted(path.name for path in folder.iterdir())


CASES = [
    (PrivateMixture(MECHANISM), samplers.Neal5(), {}),
    (PrivateMixture(MECHANISM), samplers.Slice(), {"thin": 2, "allocations": False}),
    (PrivateMixture(MECHANISM, HIERARCHICAL), samplers.Neal5(), {"chains": 1}),
    # More sticks than a state has room for at first: what of it is empty has grown too.
    (PrivateMixture(MECHANISM, prior=priors.DirichletProcess(40.0)), samplers.Slice(), {}),
]


@pytest.mark.parametrize(("model", "sampler", "options"), CASES, ids=lambda v: repr(v)[:40])
def test_what_was_saved_comes_back_and_goes_on(model, sampler, options, tmp_path):
    options = {"warmup": 10, "thin": 1, "chains": 2, "seed": 1} | options
    posterior = model.sample(Z, sampler, draws=20, **options)
    posterior.save(tmp_path / "fit.nc")
    loaded = privmix.load(str(tmp_path / "fit.nc"))
    same_draws(loaded, posterior)
    assert loaded.model == model
    assert loaded.sampler == sampler
    assert loaded.density([-1.0, 0.5, 3.0]).identical(posterior.density([-1.0, 0.5, 3.0]))
    assert loaded.summary().equals(posterior.summary())
    assert repr(loaded) == repr(posterior)
    assert loaded.datatree.attrs.keys() == posterior.datatree.attrs.keys()
    longer = model.sample(Z, sampler, draws=35, **options)
    same_draws(loaded.resume(15), longer)
    same_draws(posterior.resume(15), longer)
    same_draws(posterior.resume(5).resume(10), longer)


def test_saving_twice_and_saving_what_was_loaded(saved, posterior, tmp_path):
    loaded = privmix.load(saved)
    loaded.save(tmp_path / "again.nc")
    same_draws(privmix.load(tmp_path / "again.nc"), posterior)
    posterior.resume(5).save(saved)
    assert privmix.load(saved).draws == 25


def test_saving_leaves_the_posterior_alone(posterior, tmp_path):
    attrs, children = dict(posterior.datatree.attrs), list(posterior.datatree.children)
    posterior.save(tmp_path / "fit.nc")
    assert dict(posterior.datatree.attrs) == attrs
    assert list(posterior.datatree.children) == children


def test_resuming_leaves_the_posterior_alone(posterior):
    before = posterior.datatree["posterior"].to_dataset().copy(deep=True)
    first = posterior.resume(5)
    assert posterior.datatree["posterior"].to_dataset().identical(before)
    same_draws(first, posterior.resume(5))


def test_support_is_kept(tmp_path):
    fitted = CUT.sample(Z, draws=10, warmup=5, chains=2, seed=1)
    fitted.save(tmp_path / "fit.nc")
    loaded = privmix.load(tmp_path / "fit.nc")
    assert loaded.model.restricted_to == fitted.model.restricted_to == (-10.0, 10.0)
    assert loaded.density().identical(fitted.density())
    assert loaded.resume(2).model.restricted_to == (-10.0, 10.0)


def test_any_netcdf_reader_reads_the_draws(saved, posterior):
    with xr.open_dataset(saved, engine="h5netcdf", group="posterior") as dataset:
        assert np.array_equal(dataset["n_clusters"], posterior.n_clusters)


@pytest.mark.parametrize("draws", [0, -1, 2.5, True, "3"])
def test_bad_number_of_more_draws(posterior, draws):
    with pytest.raises(ValueError, match=f"^draws must be a whole number of at least 1; got {draws!r}"):
        posterior.resume(draws)


def test_whole_number_of_numpy(posterior):
    assert posterior.resume(np.int64(2)).draws == 22


def test_draws_are_kept_once(posterior, saved):
    for fit in (posterior, posterior.thinned(10), posterior.resume(2), privmix.load(saved)):
        held = [*fit.datatree["posterior"].data_vars.values(), *fit.datatree["sample_stats"].data_vars.values()]
        for variable in held:
            assert any(np.shares_memory(variable.values, array) for array in fit.arrays), variable.name


def test_a_file_that_kept_the_restriction_beside_the_model(tmp_path):
    fitted = CUT.sample(Z, draws=10, warmup=5, chains=2, seed=1)
    fitted.save(tmp_path / "fit.nc")

    def older(tree):
        about = json.loads(tree.attrs["privmix"])
        tree.attrs["support"] = about["model"].pop("restricted_to")
        tree.attrs |= {"privmix": json.dumps(about), "privmix_format": 1}

    edit(tmp_path / "fit.nc", older)
    loaded = privmix.load(tmp_path / "fit.nc")
    assert loaded.model == fitted.model
    assert "support" not in loaded.datatree.attrs


# Files that cannot be written or read.


def test_missing_folder(posterior, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the folder .*absent does not exist. Create it\.$"):
        posterior.save(tmp_path / "absent" / "fit.nc")
    assert files(tmp_path) == []


def test_interrupted_save_keeps_the_old_file(saved, posterior, tmp_path, monkeypatch):
    before = saved.read_bytes()

    def pulled(number):
        raise OSError("the plug was pulled")

    monkeypatch.setattr(os, "fsync", pulled)
    with pytest.raises(OSError, match="the plug was pulled"):
        posterior.save(saved)
    assert saved.read_bytes() == before
    assert files(tmp_path) == ["fit.nc"]


def test_folder_in_the_place_of_the_file(posterior, tmp_path):
    (tmp_path / "fit.nc").mkdir()
    with pytest.raises(OSError, match=r"fit\.nc"):
        posterior.save(tmp_path / "fit.nc")
    assert files(tmp_path) == ["fit.nc"]


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*absent\.nc\.$"):
        privmix.load(tmp_path / "absent.nc")


NOT_OURS = r"is not a posterior of privmix, or it is damaged"


@pytest.mark.parametrize("content", [b"", b"hello", b"\x89HDF\r\n\x1a\n", b"CDF\x01" + bytes(100)])
def test_not_a_netcdf_file(tmp_path, content):
    (tmp_path / "fit.nc").write_bytes(content)
    with pytest.raises(ValueError, match=NOT_OURS):
        privmix.load(tmp_path / "fit.nc")


@pytest.mark.parametrize("part", [0.02, 0.5, 0.99])
def test_cut_file(saved, part):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(part * len(content))])
    with pytest.raises(ValueError, match=NOT_OURS):
        privmix.load(saved)


def test_netcdf_file_of_something_else(tmp_path):
    xr.Dataset({"x": ("a", [1.0])}).to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
    with pytest.raises(ValueError, match=NOT_OURS):
        privmix.load(tmp_path / "fit.nc")


def edit(path, change, sealed=False):
    """Change a file as one who knows how; `sealed` with a checksum that fits."""
    with xr.open_datatree(path, engine="h5netcdf") as opened:
        tree = opened.load()
    change(tree)
    content = tree.to_netcdf(engine="h5netcdf")
    path.write_bytes(bytes(content) + (storage.seal_of(content) if sealed else b""))


def test_newer_format(saved):
    edit(saved, lambda tree: tree.attrs.update(privmix_format=storage.FORMAT + 1))
    newer = storage.FORMAT + 1
    with pytest.raises(ValueError, match=rf"has format {newer}; this version of privmix reads up to .*Upgrade"):
        privmix.load(saved)


def without(*names):
    def change(tree):
        for name in names:
            if name in tree.attrs:
                del tree.attrs[name]
            else:
                del tree[name]

    return change


def about(**entries):
    def change(tree):
        tree.attrs["privmix"] = json.dumps(json.loads(tree.attrs["privmix"]) | entries)

    return change


@pytest.mark.parametrize(
    "change",
    [
        without("privmix"),
        without("privmix_format"),
        without("chain_state"),
        without("sample_stats"),
        lambda tree: tree.__setitem__("posterior", xr.DataTree(tree["posterior"].to_dataset().drop_vars("weight"))),
        lambda tree: tree.attrs.update(privmix="{}"),
        lambda tree: tree.attrs.update(privmix="[]"),
        lambda tree: tree.attrs.update(privmix="not JSON"),
        about(plan={}),
        about(sampler={}),
    ],
)
def test_incomplete_file(saved, change):
    edit(saved, change)
    with pytest.raises(ValueError, match=NOT_OURS):
        privmix.load(saved)


def entry(group, name, value, place=0):
    """Return what changes an entry of an array."""

    def change(tree):
        array = tree[group][name].values.copy()
        array.flat[place] = value
        tree[group][name].values = array

    return change


def shorter(group, name):
    def change(tree):
        dataset = tree[group].to_dataset()
        values = dataset[name].values[:-1]
        tree[group].dataset = dataset.assign({name: ([f"{name}_short_{j}" for j in range(values.ndim)], values)})

    return change


def said(*path, value):
    """Return what changes an entry of what is told of the model, the sampler and the plan."""

    def change(tree):
        told = holder = json.loads(tree.attrs["privmix"])
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value
        tree.attrs["privmix"] = json.dumps(told)

    return change


CHAIN = "chain_state/chain_0"
IMPOSSIBLE = [
    (entry(CHAIN, "allocation", 10**9), "allocation and size are not those of a partition"),
    (entry(CHAIN, "size", -5), "a size is negative"),
    (entry(CHAIN, "cursor", 10**6, 1), "cursor does not count the clusters"),
    (entry(CHAIN, "free", 10**9), "free is not the stack of free rows"),
    (entry(CHAIN, "concentration", 0.0), "the concentration is not positive"),
    (shorter(CHAIN, "y"), r"y has shape \(11,\)"),
    (entry("posterior", "weight", 7.0), "a weight is not from 0 to 1"),
    (entry("posterior", "weight", 0.0), "the weights of a draw do not sum to 1"),
    (entry("posterior", "allocation", 10**9), "a component that its draw does not have"),
    (entry("posterior", "n_clusters", 13), "more clusters than records"),
    (entry("posterior", "concentration", np.nan), "a concentration is not positive"),
    (entry("posterior", "mean", np.inf), "a parameter of a component is not finite"),
    (entry("sample_stats", "n_components", 10**6), "a number of components that is not from 1 to"),
    (entry("observed_data", "z", np.nan), "NaN or infinite"),
    (said("plan", "thin", value=-1), "thin must be a whole number of at least 1; got -1"),
    (said("plan", "draws", value="20"), "draws must be a whole number of at least 1; got '20'"),
    (said("plan", "allocations", value=1), "allocations must be true or false; got 1"),
    (said("model", "restricted_to", value=[10.0, -10.0]), r"restricted_to must be a pair \(lower, upper\) with lower"),
    (said("model", "mechanism", "fields", "scale", value="x"), "the noise scale must be a positive number"),
    (said("model", value=[]), "list"),
    (lambda tree: tree[CHAIN].attrs.update(rng="{}"), "has_uint32"),
    (lambda tree: tree[CHAIN].attrs.update(seconds=-1.0), "a chain took -1.0 seconds"),
    (lambda tree: tree.attrs.update(seconds=[1.0]), "the seconds of the chains"),
    (lambda tree: tree.attrs.update(privmix="[" * 100_000), "recursion"),
]


@pytest.mark.parametrize(("change", "reason"), IMPOSSIBLE)
def test_what_no_run_could_have_made_is_refused_before_compiled_code_sees_it(saved, change, reason):
    edit(saved, change, sealed=True)
    with pytest.raises(ValueError, match=rf"(?s){NOT_OURS} \(.*{reason}"):
        privmix.load(saved)


def test_a_checksum_that_differs_or_is_missing(saved, posterior):
    whole = saved.read_bytes()
    middle = len(whole) // 2
    saved.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    with pytest.raises(ValueError, match=rf"{NOT_OURS} \(its checksum differs: it was cut or changed after"):
        privmix.load(saved)
    saved.write_bytes(whole[: whole.index(storage.SEAL)])
    with pytest.raises(ValueError, match=rf"{NOT_OURS} \(its checksum is missing"):
        privmix.load(saved)
    edit(saved, lambda tree: tree.attrs.update(privmix_format=2, seed="7"))  # a format that had none, and had the seed
    same_draws(privmix.load(saved), posterior)
    edit(saved, without("seeded"))
    assert "seed" not in privmix.load(saved).datatree.attrs


# A user's own classes.


@dataclass(frozen=True, eq=False)
class OwnNoise(mechanisms.Laplace):
    """The same hooks as Laplace noise, so nothing is compiled for it."""


def test_own_class_is_found_when_its_module_is_loaded_or_it_is_given(tmp_path, monkeypatch):
    model = PrivateMixture(OwnNoise(scale=2.0))
    posterior = model.sample(Z, draws=5, warmup=5, thin=1, chains=1, seed=1)
    monkeypatch.setattr(OwnNoise, "__module__", "elsewhere")
    posterior.save(tmp_path / "fit.nc")
    with pytest.raises(
        LookupError, match=r"names the class OwnNoise of module elsewhere.*known=\{'OwnNoise': OwnNoise\}"
    ):
        privmix.load(tmp_path / "fit.nc")
    loaded = privmix.load(tmp_path / "fit.nc", known={"OwnNoise": OwnNoise})
    assert loaded.model == model
    same_draws(loaded.resume(3), model.sample(Z, draws=8, warmup=5, thin=1, chains=1, seed=1))


def test_file_holds_the_release_and_nothing_of_the_process(saved):
    assert os.fsencode(os.getcwd()) not in saved.read_bytes()
