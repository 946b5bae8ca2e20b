"""A new built-in is one file, one line of export and one test file: a mechanism, kernel and sampler added to a copy.

Contract tests, command line, report and reference find them there without another change. The kernel and the sampler
are the skeletons that people copy.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
SKELETONS = ROOT / "docs" / "extend" / "skeletons"

MECHANISM = '''"""Skewed Laplace noise: the tail to the left is longer than that to the right."""

import math
from dataclasses import dataclass, field

import numpy as np

from privmix.mechanisms.local import LocalMechanism
from privmix.parts import given
from privmix.privacy import PureDP


@dataclass(frozen=True, eq=False)
class SkewLaplace(LocalMechanism):
    """Add Laplace noise whose left tail is the longer one.

    Guarantee: ε-differential privacy, by `skew_laplace_tail`.

    Parameters
    ----------
    epsilon
        Wanted ε.
    bounds
        Range of a record, known without looking at the data.
    left_tail
        How many times as long the left tail is, at least 1.
    """

    epsilon: float = given(1.0)
    bounds: tuple[float, float] = given((0.0, 1.0))
    left_tail: float = 2.0
    tail: float = field(init=False)

    in_words = "each record was published with skewed noise added to it"
    details = {"left_tail": "left tail over right tail"}

    def __post_init__(self):
        object.__setattr__(self, "tail", skew_laplace_tail(self.bounds[1] - self.bounds[0], self.epsilon))

    @property
    def guarantee(self):
        """Pure ε-DP."""
        return PureDP(self.epsilon)

    def log_q(self, z, y):
        """Return −x/b or x/(kb), for x = z − y on the right or on the left, and −log b(1 + k)."""
        x = (z - y) / self.tail
        return -math.log(self.tail * (1.0 + self.left_tail)) - (x if x > 0.0 else -x / self.left_tail)

    def perturb(self, rng, y):
        """Draw z given y."""
        left = rng.random(y.shape) * (1.0 + self.left_tail) > 1.0
        return y + self.tail * rng.standard_exponential(y.shape) * np.where(left, -self.left_tail, 1.0)


def skew_laplace_tail(width: float, epsilon: float) -> float:
    """Return the length of the shorter tail, width/ε: nowhere does the log density change faster than along it."""
    return width / epsilon
'''

TEST_OF_MECHANISM = """from privmix.mechanisms import SkewLaplace

EXAMPLES = [SkewLaplace(epsilon=2.0, bounds=(-3.0, 5.0)), SkewLaplace(epsilon=1.0, left_tail=3.0)]


def test_one_tail_is_longer():
    assert SkewLaplace().logpdf(-2.0, 0.0) == SkewLaplace().logpdf(1.0, 0.0)
"""

TEST_OF_KERNEL = """import math

from privmix.kernels import Gumbel


def test_cdf_at_the_location():
    assert Gumbel().cdf(0.0, [0.0, 1.0]) == math.exp(-1.0)
"""

TEST_OF_SAMPLER = """from privmix.samplers import Urn


def test_it_proposes_records():
    assert Urn().proposes_records
"""


def of_a_skeleton(name):
    """Return a skeleton as a file of the library: without the trial at its end and what that imports."""
    source = (SKELETONS / f"{name}.py").read_text(encoding="utf-8")
    source = re.sub(r"^from privmix(\.testing)? import .*\n", "", source, flags=re.MULTILINE)
    return source.partition("\n\nif __name__ ==")[0]


#: a class, its file and its test file, by room and the file's name
BUILT_INS = {
    ("mechanisms", "skew_laplace"): ("SkewLaplace", MECHANISM, TEST_OF_MECHANISM),
    ("kernels", "gumbel"): ("Gumbel", of_a_skeleton("kernel"), TEST_OF_KERNEL),
    ("samplers", "urn"): ("Urn", of_a_skeleton("sampler"), TEST_OF_SAMPLER),
}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """Give a copy of the library, its tests and its documentation, with a new built-in of each kind."""
    top = tmp_path_factory.mktemp("house")
    left_out = shutil.ignore_patterns("__pycache__", "_build", "*.png", "*.csv")
    for folder in ("src/privmix", "tests", "docs"):
        shutil.copytree(ROOT / folder, top / folder, ignore=left_out)
    shutil.copy(ROOT / "pyproject.toml", top)
    for (room, file), (name, source, test) in BUILT_INS.items():
        (top / "src/privmix" / room / f"{file}.py").write_text(source, encoding="utf-8")
        (top / "tests" / room / f"test_{file}.py").write_text(test, encoding="utf-8")
        with open(top / "src/privmix" / room / "__init__.py", "r+", encoding="utf-8") as front:
            head, comment, tail = front.read().partition("\n# One line above exports a part")
            front.seek(0)
            front.write(f"{head}from privmix.{room}.{file} import {name} as {name}\n{comment}{tail}")
    return top


def run(house, *arguments, folder="."):
    """Run Python in a folder of the copy; return what it prints."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PRIVMIX_"))}
    environment = {**inherited, "PYTHONPATH": str(house / "src"), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=house / folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def contents(top):
    """Return the lines of every file of the library and its tests, by path."""
    files = [path for folder in ("src/privmix", "tests") for path in (top / folder).rglob("*") if path.is_file()]
    kept = [path for path in files if "__pycache__" not in path.parts and path.suffix != ".csv"]
    return {str(path.relative_to(top)): path.read_bytes().splitlines() for path in kept}


def test_built_in_is_a_file_a_test_file_and_a_line(house):
    before, after = contents(ROOT), contents(house)
    files = {f"src/privmix/{room}/{file}.py" for room, file in BUILT_INS}
    assert set(after) - set(before) == files | {f"tests/{room}/test_{file}.py" for room, file in BUILT_INS}
    assert before.keys() <= after.keys()
    changed = {path for path in before if before[path] != after[path]}
    assert changed == {f"src/privmix/{room}/__init__.py" for room, _ in BUILT_INS}
    for path in changed:
        (line,) = set(after[path]) - set(before[path])
        after[path].remove(line)
        assert after[path] == before[path]


#: a plugin that lists every test, also those that are not chosen to run
LISTS = """def pytest_itemcollected(item):
    with open("collected.txt", "a", encoding="utf-8") as file:
        file.write(item.nodeid + "\\n")
"""
#: of every contract, a few tests
CHOSEN = (
    "(SkewLaplace and (words or tight or broadcasts)) or (Gumbel and (log_base or unchanged and 6)) "
    "or (Urn and steps) or cases_cover or told"
)


def test_contract_tests_go_through_them(house):
    (house / "lists.py").write_text(LISTS, encoding="utf-8")
    rooms = [f"tests/{room}" for room in ("mechanisms", "kernels", "pairs", "samplers")]
    chosen = ("-m", "not long", "-k", CHOSEN)
    said = run(house, "-m", "pytest", "-q", "-p", "lists", "-p", "no:cacheprovider", *chosen, *rooms)
    collected = (house / "collected.txt").read_text(encoding="utf-8").splitlines()

    def tests(file, name):
        found = re.compile(rf"tests/{file}\.py::(\w+)\[(?:.*\W)?{name}\b")
        return {match[1] for match in map(found.match, collected) if match}

    assert tests("mechanisms/test_contract", "SkewLaplace") >= tests("mechanisms/test_contract", "SquareWave")
    assert tests("kernels/test_contract", "Gumbel") >= tests("kernels/test_contract", "Beta")
    assert tests("pairs/test_contract", "Gumbel") >= tests("pairs/test_contract", "Beta")
    assert len(tests("mechanisms/test_contract", "SquareWave") | tests("pairs/test_contract", "Beta")) > 10
    targets = {"test_sampler_targets_its_posterior"}
    assert tests("samplers/test_joint", "SkewLaplace") == tests("samplers/test_joint", "Gumbel") == targets
    for file in ("joint", "twin", "enumeration", "prior_limit", "members"):
        assert tests(f"samplers/test_{file}", "Urn"), file
    assert int(re.search(r"(\d+) passed", said)[1]) > 10


#: runs commands in one process, so that it is started and compiled for once
COMMANDS = """import json, sys
from typer.testing import CliRunner
from privmix.cli import app
done = [CliRunner().invoke(app, line.split(), env={"COLUMNS": "200"}) for line in sys.argv[1:]]
print(json.dumps([result.output for result in done]))
sys.exit("".join(result.output for result in done if result.exit_code) or 0)
"""


@pytest.mark.long
def test_command_line_and_report_offer_them(house):
    np.savetxt(house / "raw.csv", np.random.default_rng(1).uniform(2.0, 8.0, 30), header="y", comments="")
    about = "--mechanism skew-laplace --epsilon 5 --left-tail 3 --bounds 0 10"
    chain = "--kernel gumbel --sampler urn --draws 40 --warmup 40 --chains 2 --seed 1"
    lines = ["privatize --help", "fit --help", f"privatize raw.csv {about} --seed 1 --output release.csv"]
    lines += [f"fit release.csv {chain} --output fit.nc", "report fit.nc --quick --output report.html"]
    helps, fit_helps, released, *_ = json.loads(run(house, "-c", COMMANDS, *lines))
    for text in (helps, fit_helps):
        assert "skew-laplace" in text
        assert "How many times as long the left tail is, at least 1: skew-laplace (2.0) only." in " ".join(text.split())
    assert re.search(r"--kernel <[^>]*\bgumbel\b", fit_helps)
    assert re.search(r"--sampler <[^>]*\burn\b", fit_helps)
    assert re.search(r"left tail over right tail\W+3\b", released)
    page = (house / "report.html").read_text(encoding="utf-8")
    for words in ("published with skewed noise added", "left tail over right tail", "SkewLaplace", "Gumbel(", "Urn("):
        assert words in page, words


#: makes the pages anew, as every build of the documentation does; then says what autodoc lists for a room by default
DOCUMENTS = """import importlib, json
from _made import pages
made = [path.name for path in pages.write()]
rooms = {name: importlib.import_module(f"privmix.{name}") for name in ("mechanisms", "kernels", "samplers")}
documented = {name: [x for x in room.__all__ if getattr(room, x).__doc__] for name, room in rooms.items()}
print(json.dumps([made, documented]))
"""


def test_reference_lists_them(house):
    made, documented = json.loads(run(house, "-c", DOCUMENTS, folder="docs"))
    page = (house / "docs" / "reference.md").read_text(encoding="utf-8")
    for (room, _), (name, *_) in BUILT_INS.items():
        assert f"\n.. automodule:: privmix.{room}\n```\n" in page, "no options: no list kept by hand"
        assert name in documented[room]
    assert "reference.md" in made
    assert "\n.. autofunction:: privmix.mechanisms.skew_laplace.skew_laplace_tail\n" in page
