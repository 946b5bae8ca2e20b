"""Every skeleton that people copy is sound as it stands, and the check that it ends with would say if it were not."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from privmix import PrivateMixture, mechanisms, samplers
from privmix.privacy import audit
from privmix.testing import check_sampler, joint_test

FOLDER = Path(__file__).parents[2] / "docs" / "extend" / "skeletons"
LAPLACE = mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))
GAUSSIAN = mechanisms.Gaussian(scale=1.5, bounds=(-10.0, 10.0))
PAIRS = 5_000


def load(stem, source=None, name=None):
    """Import a skeleton as a module of its own, or what an edit made of it."""
    path = FOLDER / f"{stem}.py"
    spec = importlib.util.spec_from_file_location(name or f"skeleton_{stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    exec(compile(source or path.read_text(encoding="utf-8"), path, "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_skeleton_fits_a_screen_or_two_and_says_what_to_change(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 90
    assert "CHANGE:" in text
    assert re.search(r'^if __name__ == "__main__":\n(?:    .*\n)*?.*check_sampler\(', text, re.MULTILINE)


def test_there_is_one_for_every_kind_of_part():
    assert {path.stem for path in FOLDER.glob("*.py")} == {"kernel", "mechanism", "prior", "pair", "sampler"}


def test_mechanism_keeps_its_promise():
    found = audit(load("mechanism").CauchyNoise(scale=2.0))
    assert found.holds
    assert found.gap < 1e-3


def model_of_skeletons():
    """Return one model of three skeletons: a fault of any shows, and one combination is compiled instead of three."""
    kernel, prior = load("kernel").Gumbel(), load("prior").EitherConcentration()
    return PrivateMixture(load("mechanism").CauchyNoise(scale=2.0), kernel, prior)


def test_kernel_mechanism_prior_and_sampler_are_sound_together():
    check_sampler(model_of_skeletons(), load("sampler").Urn(), pairs=PAIRS)


def test_sticks_of_the_prior_are_sound():
    check_sampler(model_of_skeletons(), samplers.Slice(), pairs=PAIRS)


def test_sampler_refuses_what_it_cannot_serve():
    with pytest.raises(ValueError, match="Urn proposes the value of each record"):
        PrivateMixture(mechanisms.Identity()).sample([0.0, 1.0], load("sampler").Urn(), draws=1, chains=1)


def test_pair_is_found_and_sound():
    model = PrivateMixture(GAUSSIAN, load("pair").Bell())
    assert model.convolution.name == "Gaussian noise on a bell"
    check_sampler(model, samplers.Neal8(), pairs=PAIRS)


@pytest.mark.parametrize("name", ["own_sampler", "sampler"])
def test_a_sampler_of_ones_own_imports_from_one_module(name):
    (path,) = [*FOLDER.glob(f"{name}.py"), *(FOLDER.parents[1] / "examples").glob(f"{name}.py")]
    found = set(re.findall(r"^from (privmix[\w.]*) import", path.read_text(encoding="utf-8"), re.MULTILINE))
    assert found == {"privmix", "privmix.samplers", "privmix.samplers.toolkit", "privmix.testing"}


@pytest.mark.long
def test_draw_of_the_pair_is_sound():
    check_sampler(PrivateMixture(GAUSSIAN, load("pair").Bell()), samplers.Slice(records="exact"))


def kernel_model(module):
    return PrivateMixture(LAPLACE, module.Gumbel())


def mechanism_model(module):
    return PrivateMixture(module.CauchyNoise(scale=2.0))


def prior_model(module):
    return PrivateMixture(LAPLACE, prior=module.EitherConcentration())


def pair_model(module):
    return PrivateMixture(GAUSSIAN, module.Bell())


def sampler_model(module):
    return PrivateMixture(LAPLACE)


FAULTS = [
    ("kernel", " - log_scale\n", "\n", kernel_model, samplers.Neal5()),
    ("mechanism", "rng.standard_cauchy", "1.3 * rng.standard_cauchy", mechanism_model, samplers.Neal5()),
    ("prior", "k * math.log(", "(k - 1) * math.log(", prior_model, samplers.Neal5()),
    ("prior", "(self.high - self.low) * log_rest", "self.high * log_rest", prior_model, samplers.Slice()),
    ("pair", "kernel.spread**2 + mechanism.scale**2)\n", "mechanism.scale**2)\n", pair_model, samplers.Neal8()),
    ("sampler", "        copy_y(state.y, i, state.proposal, 0)\n", "", sampler_model, None),
    ("pair", "math.sqrt(share)", "share", pair_model, samplers.Slice(records="exact")),
    ("sampler", "state.proposal[0]) - ", "state.proposal[0]) - 0.9 * ", sampler_model, None),
]


@pytest.mark.long
@pytest.mark.parametrize(
    ("stem", "right", "wrong", "model", "sampler"), FAULTS, ids=[f"{fault[0]}: {fault[2].strip()}" for fault in FAULTS]
)
def test_fault_in_a_skeleton_is_rejected(stem, right, wrong, model, sampler):
    source = (FOLDER / f"{stem}.py").read_text(encoding="utf-8")
    assert right in source
    module = load(stem, source.replace(right, wrong, 1), name=f"faulty_{stem}")
    assert joint_test(model(module), sampler or module.Urn()).rejected
