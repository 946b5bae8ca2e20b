"""What the documentation says can be run, and what it names exists."""

import math
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from typer.testing import CliRunner

import privmix
from privmix import PrivateMixture, kernels, mechanisms, samplers
from privmix.cli import app
from privmix.samplers.moves.atoms import LEAST_MASS_LEFT

ROOT = Path(__file__).parents[1]
GUIDES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES = [*GUIDES, *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))

PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TEST_NAME = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
NAME = re.compile(r"`(privmix(?:\.[A-Za-z]\w*)+)")
FILE = re.compile(r"`((?:src|tests|docs|benchmarks)/[\w/.-]+)")
NEEDS_NUMPYRO = "NumPyroMixture("
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


def page_name(page):
    return str(page.relative_to(ROOT))


def blocks(page):
    return PYTHON_BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page) and page.stem != "tutorial"], ids=page_name)
def test_examples_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    # A module of their own: dataclasses and type hints look their names up in it.
    module = ModuleType(f"page_{page.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for number, block in enumerate(blocks(page), start=1):
        if NEEDS_NUMPYRO not in block:
            exec(compile(block, f"{page_name(page)}, example {number}", "exec"), module.__dict__)


def test_example_in_numpyro_runs_after_the_first_of_its_page(capsys):
    pytest.importorskip("numpyro", reason="NumPyro is not installed: pip install 'privmix[numpyro]'")
    first, *rest = blocks(ROOT / "docs" / "baselines.md")
    names = {}
    (example,) = [block for block in rest if NEEDS_NUMPYRO in block]
    for block in (first, example):
        exec(compile(block, "docs/baselines.md", "exec"), names)
    assert "diverging" in example
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize("minutes", [1e-6, pytest.param(math.inf, marks=pytest.mark.long)])
def test_tutorial_runs_from_csv_to_report(tmp_path, monkeypatch, minutes):
    """Its examples, each as in a new session, and its commands; refits for the informativeness are left out."""
    monkeypatch.setattr("privmix.report.content.REFIT_SECONDS", 0.0)
    monkeypatch.setattr("privmix.cli.fit.MINUTES", minutes)  # where there is time, it goes on until chains converged
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    for kind, block in ANY_BLOCK.findall((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(block, "docs/tutorial.md", "exec"), {})
            continue
        for line in block.splitlines():
            assert line.startswith("$ privmix "), line
            done = CliRunner().invoke(app, shlex.split(line)[2:])
            assert done.exit_code == 0, done.output
    assert privmix.load("fit.nc").doubt() == "" or minutes < math.inf
    assert {"survey.csv", "release.csv", "fit.nc", "report.html", "counts.html"} <= {p.name for p in tmp_path.iterdir()}


# The tests of the skeletons make parts of one's own, too, at less expense.
SCRIPTS = [
    pytest.param(path, marks=pytest.mark.long) if path.stem.startswith("own_") else path
    for path in EXAMPLES
    if path.stem != "from_pandas"
]


@pytest.mark.parametrize("script", SCRIPTS, ids=page_name)
def test_example_script_runs(script, tmp_path):
    source = str(Path(privmix.__file__).parents[1])
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "MPLBACKEND": "agg"}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if script.stem.startswith("own_"):
        assert "joint one-step passed" in done.stdout


def test_example_from_pandas_writes_what_it_says(tmp_path):
    test_example_script_runs(ROOT / "docs" / "examples" / "from_pandas.py", tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"density.png", "trace.png"}


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_tests_that_a_page_names_exist(page):
    for file, name in TEST_NAME.findall(page.read_text(encoding="utf-8")):
        assert (ROOT / file).is_file(), f"{file} does not exist"
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file} has no {name}"


def items(page):
    """Return the items of a page's lists, each as one line."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [" ".join(item.split()) for item in re.findall(r"^- (.*(?:\n  .*)*)", text, re.MULTILINE)]


def test_errata_name_a_test_in_every_item_but_one():
    """Only the published Neal 5's quadratic cost is left to `make bench`."""
    errata = items("theory/errata.md")
    without = [item for item in errata if not TEST_NAME.search(item)]
    assert len(errata) == 21
    assert len(without) == 1
    assert "O(n²)" in without[0]


BOUNDS = (-10.0, 10.0)
GAUSSIAN, BY_RECORD = (mechanisms.Gaussian(scale=scale, bounds=BOUNDS) for scale in (2.0, np.array([1.0, 2.0])))
REFUSALS = [
    (mechanisms.Laplace(epsilon=10.0, bounds=BOUNDS), kernels.Normal(), samplers.Neal3()),
    (mechanisms.Gaussian(scale=0.2, bounds=(0.0, 1.0)), kernels.Beta(), samplers.Neal8()),
    (GAUSSIAN, kernels.NoisyNormal(noise=3.0), samplers.Neal3()),
    (BY_RECORD, kernels.NoisyNormal(noise=3.0), samplers.Neal3()),
    (GAUSSIAN, kernels.Normal(), samplers.SplitMerge(samplers.Slice())),
    (mechanisms.Identity(), kernels.Normal(), samplers.Neal5()),
]


@pytest.mark.parametrize(("mechanism", "kernel", "sampler"), REFUSALS, ids=repr)
def test_guide_quotes_refusals_as_they_are(mechanism, kernel, sampler):
    """They stand in a list, with an ellipsis for the sampler's name or setting, and one in a block of its own."""
    lines = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8").splitlines()
    quoted = [item.split('. "')[1].removesuffix('"') for item in items("guide.md") if '. "' in item]
    quoted.append(" ".join(line.removeprefix("> ") for line in lines if line.startswith("> ")))
    with pytest.raises(ValueError) as refused:
        sampler.check(PrivateMixture(mechanism, kernel))
    patterns = [re.escape(text).replace("…", ".*") for text in quoted]
    assert any(re.fullmatch(pattern, str(refused.value)) for pattern in patterns), str(refused.value)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_between_files_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page_name(page)} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_names_and_files_that_a_page_gives_exist(page):
    text = page.read_text(encoding="utf-8")
    for name in NAME.findall(text):
        assert pkgutil.resolve_name(name) is not None, name
    for path in FILE.findall(text):
        assert (ROOT / path).exists(), f"{path} does not exist"


def test_decisions_say_what_the_last_atom_of_a_draw_takes():
    text = " ".join((ROOT / "docs" / "decisions.md").read_text(encoding="utf-8").split())
    assert f"until at most $10^{{{math.log10(LEAST_MASS_LEFT):.0f}}}$ is left" in text


def test_version_is_the_same_everywhere():
    assert f"version: {privmix.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f'version = "{privmix.__version__}"\n' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"## {privmix.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
