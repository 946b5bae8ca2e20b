"""Options of the command line come from the mechanisms: a new one brings its own."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

from privmix import kernels, samplers
from privmix.cli import options
from privmix.mechanisms import GlobalMechanism, Laplace, LocalMechanism, NoisyHistogram
from privmix.parts import given
from privmix.parts.options import options_of


@dataclass(frozen=True)
class ToyNoise(LocalMechanism):
    """A toy.

    Parameters
    ----------
    half_rate
        Half of the rate of the toy's noise. It is a number.
    shape, other
        What the noise looks like.
    epsilon
        Not read: the words of epsilon are shared.
    """

    half_rate: float = field()
    epsilon: float | None = given()
    bounds: tuple[float, float] | None = given()
    shape: str = given("long tail", choices=("long tail", "short"))
    other: object = None
    derived: float = field(init=False)


def test_names_are_those_of_the_classes_unless_they_say_otherwise():
    names = "gaussian haar histogram laplace randomized-response smoothed-histogram square-wave"
    assert set(names.split()) <= set(options.OFFERED)
    assert "identity" not in options.OFFERED, "it gives the data away"
    assert ToyNoise.command_name == "toy-noise"
    assert options.OFFERED["histogram"] is NoisyHistogram


def test_a_kernel_can_say_otherwise_too_and_bases_are_not_offered():
    class Toy(kernels.Normal):
        command_name = "plaything"

    room = SimpleNamespace(Toy=Toy, Kernel=kernels.Kernel, Sampler=samplers.Sampler, Slice=samplers.Slice)
    room.__all__ = list(vars(room))
    assert options.by_name(room) == {"plaything": Toy, "slice": samplers.Slice}


def test_options_are_read_off_the_fields_and_the_docstring():
    found = ToyNoise.options()
    assert list(found) == ["half_rate", "epsilon", "bounds", "shape"], "what a constructor takes and a line can write"
    assert found["half_rate"].flag == "--half-rate"
    assert found["half_rate"].help == "Half of the rate of the toy's noise"
    assert found["half_rate"].type is float
    assert found["bounds"].type == tuple[float, float]
    assert found["shape"].choices == ("long tail", "short")
    assert found["shape"].default == "long tail"
    assert found["epsilon"] == Laplace.options()["epsilon"]
    assert options_of(ToyNoise, {})["epsilon"].help == "Not read: the words of epsilon are shared"


@pytest.mark.parametrize("name", options.OFFERED)
def test_every_option_of_the_library_has_help_and_one_meaning(name):
    for field_name, option in options.OFFERED[name].options().items():
        assert option.help, f"say what {field_name} of {name} is"
        others = [kind.options().get(field_name) for kind in options.OFFERED.values()]
        assert {other.type for other in others if other is not None} == {option.type}


@pytest.fixture
def toy(monkeypatch):
    """Return a function that runs a command which takes every mechanism and the toy."""
    monkeypatch.setitem(options.OFFERED, "toy-noise", ToyNoise)
    app = typer.Typer()
    seen = {}

    @app.command()
    @options.takes_mechanism("What to do.", required=True)
    def command(mechanism: str, epsilon: int = 0, *, about: dict):
        """Look at the options."""
        seen.update(epsilon_of_command=epsilon, **about)
        if mechanism == "toy-noise":
            options.build_mechanism(mechanism, about | {"half_rate": 2.0})

    return lambda *arguments: (CliRunner().invoke(app, arguments), seen)


def test_a_new_mechanism_is_offered_with_its_options(toy):
    result, seen = toy("--mechanism", "toy-noise", "--shape", "long-tail", "--bounds", "0", "1", "--epsilon", "3")
    assert result.exit_code == 0, result.output
    assert seen == {"epsilon_of_command": 3, "shape": "long-tail", "bounds": (0.0, 1.0)}, "a command's own option stays"
    text = toy("--help")[0].output
    assert "toy-noise" in text
    assert "--half-rate" in text
    assert toy("--mechanism", "toy-noise", "--shape", "round")[0].exit_code == 2


def test_options_of_a_new_mechanism_are_checked(monkeypatch):
    monkeypatch.setitem(options.OFFERED, "toy-noise", ToyNoise)
    built = options.build_mechanism("toy-noise", {"half_rate": 2.0, "shape": "long-tail", "bounds": (0.0, 1.0)})
    assert (built.shape, built.half_rate) == ("long tail", 2.0)
    needs = r"^--half-rate is missing: toy-noise needs it \(half of the rate of the toy's noise\)\. Give it\.$"
    with pytest.raises(ValueError, match=needs):
        options.build_mechanism("toy-noise", {"bounds": (0.0, 1.0)})
    with pytest.raises(ValueError, match="--bounds LO HI is missing: toy-noise needs"):
        options.build_mechanism("toy-noise", {"half_rate": 1.0})
    takes = "^--cells was given, but toy-noise does not take it; it takes --half-rate, --epsilon, --bounds, --shape"
    with pytest.raises(ValueError, match=takes):
        options.build_mechanism("toy-noise", {"cells": 1})


def test_number_of_records_of_a_global_mechanism_comes_from_the_data():
    assert GlobalMechanism.record_counts == ("records",)
    assert LocalMechanism.record_counts == ()
