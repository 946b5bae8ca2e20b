"""Words that would mislead: what is said to somebody who does a natural thing that privmix does not do."""

import numpy as np
import pytest
from typer.testing import CliRunner

import privmix
from privmix import Release, mechanisms, samplers
from privmix.cli import app
from privmix.parts import part_from_dict
from privmix.samplers.auto import pilot_in_words

MECHANISM = mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))


def test_a_path_names_what_reads_it(tmp_path):
    with pytest.raises(
        TypeError, match=r"takes a release, not the path of one: fit\(Release\.load\('release\.csv'\)\)"
    ):
        privmix.fit("release.csv")
    with pytest.raises(TypeError, match=r"Release\.load"):
        privmix.fit(tmp_path / "release.csv", MECHANISM)


def test_weights_are_explained():
    with pytest.raises(TypeError, match=r"takes no weights: .* fit\(np\.repeat\(z, weights\), mechanism\)\. With"):
        privmix.fit(np.zeros(3), MECHANISM, weights=[1, 2, 3])


def test_a_pilot_that_finds_the_other_better_does_not_read_as_choosing_the_worse():
    words = pilot_in_words(0.61, 1.0, samplers.Neal5(), 360)
    assert words.startswith("the usual choice there, kept because a pilot of 360 sweeps, which is rough, gave Neal5(")
    assert words.endswith("no more than 2 times its effective draws at the same cost (1.6)")
    better = pilot_in_words(3.7, 1.0, samplers.Neal5(), 360)
    assert better.startswith("a pilot of 360 sweeps gave it 3.7 times the effective draws of Neal5(")


def test_a_hostile_file_is_not_followed():
    with pytest.raises(LookupError) as caught:
        part_from_dict({"class": "Laplace", "module": "antigravity", "fields": {}})
    assert "mport" not in str(caught.value)
    assert "If it is not, do not trust the file." in str(caught.value)


@pytest.mark.parametrize("spelling", ["randomized-response", "randomised-response"])
def test_either_spelling_is_understood(spelling, tmp_path):
    assert mechanisms.RandomisedResponse is mechanisms.RandomizedResponse
    source, target = tmp_path / "data.csv", tmp_path / "out.csv"
    source.write_text("y\n0.5\n0.25\n")
    words = ["privatize", source, "--mechanism", spelling, "--cells", 4, "--epsilon", 1, "--bounds", 0, 1, "-o", target]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    assert isinstance(Release.load(target).mechanism, mechanisms.RandomizedResponse)


def test_one_spelling_is_shown():
    shown = CliRunner().invoke(app, ["privatize", "--help"]).stdout
    assert "randomized-response" in shown
    assert "randomised" not in shown
