"""Saved posteriors: equal when read back, resumed as if never interrupted, and refused when damaged."""

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import privmix
from privmix import PrivateMixture, kernels, mechanisms, samplers
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
    (PrivateMixture(mechanisms.Identity()), samplers.Slice(), {}),
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


@contextmanager
def no_large_files(folder):
    """Let no file grow beyond 4 kB, as on a disk with little room."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield "files may not be so big"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def small_disk(folder):
    """Put a disk of 16 kB into the place of a folder."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield "the disk is full"
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("full", [no_large_files, small_disk])
def test_full_disk_is_an_error_and_the_draws_live_on(posterior, tmp_path, full):
    """A process of its own, because the first try ended it by a segmentation fault."""
    (tmp_path / "here").mkdir()
    posterior.save(tmp_path / "elsewhere.nc")
    save = (
        "import sys, privmix\nposterior = privmix.load(sys.argv[1])\n"
        "try:\n    posterior.save(sys.argv[2])\n"
        "except OSError as error:\n    print(error, posterior.draws)"
    )
    with full(tmp_path / "here") as reason:
        command = [sys.executable, "-c", save, tmp_path / "elsewhere.nc", tmp_path / "here" / "fit.nc"]
        environment = {**os.environ, "PYTHONPATH": str(Path(privmix.__file__).parents[1])}
        ended = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert files(tmp_path / "here") == []
    assert (ended.returncode, ended.stderr) == (0, "")
    needed = (
        rf"fit\.nc cannot be written: {reason} \(0\.\d MB are needed, [\d.,]+ MB are free\)\. What was there before is"
    )
    assert re.search(needed + r" unchanged\. Make room, or choose another folder\. 20$", ended.stdout.rstrip())


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


def edit(path, change):
    with xr.open_datatree(path, engine="h5netcdf") as opened:
        tree = opened.load()
    change(tree)
    path.unlink()
    tree.to_netcdf(path, engine="h5netcdf")


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
        LookupError, match=r"needs the class OwnNoise of module elsewhere.*known=\{'OwnNoise': OwnNoise\}"
    ):
        privmix.load(tmp_path / "fit.nc")
    loaded = privmix.load(tmp_path / "fit.nc", known={"OwnNoise": OwnNoise})
    assert loaded.model == model
    same_draws(loaded.resume(3), model.sample(Z, draws=8, warmup=5, thin=1, chains=1, seed=1))


def test_file_holds_the_release_and_nothing_of_the_process(saved):
    assert os.fsencode(os.getcwd()) not in saved.read_bytes()
