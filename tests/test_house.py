"""The files around the code say what is so: contribution guide, workflow, hooks, forms, and the width of pages."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
GUIDES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
HELD_BY_HAND = [ROOT / ".pre-commit-config.yaml", ROOT / ".github" / "workflows" / "ci.yml", *FORMS]

TARGET = re.compile(r"^([a-z][\w-]*):", re.MULTILINE)
MAKE = re.compile(r"\bmake ((?:[a-z][a-z-]*(?= |`|$)\s?)+)", re.MULTILINE)


WIDEST_LINE, WIDEST_ROW = 120, 140  # columns: what an editor and a diff beside another show
# One link or picture, or a formula that stands alone, cannot be broken.
UNBREAKABLE = re.compile(r"\s*([-*] )?(!?\[[^]]*\]\([^)]*\)\S*|\$[^$]*\$\S*|`[^`]*`\S*)$")


def name(path):
    return str(path.relative_to(ROOT))


def read(*path):
    return ROOT.joinpath(*path).read_text(encoding="utf-8")


def commands(text):
    """Return what a page says in code: spans, and console lines without their comments."""
    spans = re.findall(r"`([^`\n]+)`", text)
    return [*spans, *(line[2:].split("#")[0] for line in text.splitlines() if line.startswith("$ "))]


def made(text):
    return {target for command in commands(text) for found in MAKE.findall(command) for target in found.split()}


@pytest.fixture(scope="module")
def project():
    return tomllib.loads(read("pyproject.toml"))["project"]


@pytest.fixture(scope="module")
def workflow():
    return yaml.safe_load(read(".github", "workflows", "ci.yml"))


@pytest.mark.parametrize("path", HELD_BY_HAND, ids=name)
def test_yaml_parses(path):
    assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict)


@pytest.mark.parametrize("path", GUIDES, ids=name)
def test_make_targets_that_a_guide_names_exist(path):
    text = path.read_text(encoding="utf-8")
    assert made(text) <= set(TARGET.findall(read("Makefile")))
    assert made(text) or path.name in ("CHANGELOG.md", "SECURITY.md")


def test_make_targets_of_the_workflow_exist_and_take_its_python(workflow):
    steps = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "make" in step.get("run", "")]
    assert {"make test PYTHON=python", "make wheel PYTHON=python"} <= set(steps)
    assert {run.split()[1] for run in steps} <= set(TARGET.findall(read("Makefile")))
    assert "PYTHON ?= " in read("Makefile")


def test_every_python_that_the_package_names_is_tested(project, workflow):
    tried = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    named = [c.rsplit(" ", 1)[1] for c in project["classifiers"] if re.search(r"Python :: 3\.\d+$", c)]
    assert tried == named
    assert project["requires-python"] == f">={named[0]}"


def test_hooks_before_a_commit_are_the_tools_of_the_makefile():
    """The same commands, but for the files that the hook passes on."""
    (local,) = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert local["repo"] == "local"
    recipes = read("Makefile").replace("$(BIN)", ".venv/bin")
    for hook in local["hooks"]:
        command = hook["entry"] + (" ." if hook.get("pass_filenames", True) else "")
        assert f"\t{command}\n" in recipes, command


@pytest.mark.parametrize("path", FORMS, ids=name)
def test_form_has_what_the_platform_asks_for(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form)
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields) > 2
    assert all(field["type"] in ("input", "textarea", "dropdown") and field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


def test_forms_are_those_that_the_guides_send_people_to():
    names = {yaml.safe_load(path.read_text(encoding="utf-8"))["name"] for path in FORMS}
    assert names == {"A wrong posterior", "A new part"}
    assert 'the form "A wrong posterior"' in " ".join(read("SECURITY.md").split())


def test_readme_says_what_is_out_of_scope():
    (section,) = re.findall(r"^## What it is not\n\n(.*?)\n\n##", read("README.md"), re.MULTILINE | re.DOTALL)
    assert 3 <= sum(line.startswith("- ") for line in section.splitlines()) <= 5


def too_wide(text):
    """Return the lines of a page, code left out, that a screen does not show."""
    prose = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in prose.splitlines() if not UNBREAKABLE.match(line)]
    return [line for line in lines if len(line) > (WIDEST_ROW if line.startswith("|") else WIDEST_LINE)]


@pytest.mark.parametrize("path", [*GUIDES, *sorted((ROOT / "docs").rglob("*.md"))], ids=name)
def test_lines_and_rows_fit_a_screen(path):
    assert too_wide(path.read_text(encoding="utf-8")) == []


def test_wide_lines_are_seen():
    code, row, link = "```\n" + "x" * 121 + "\n```\n", "| " + "x" * 137 + "|", "![" + "x" * 121 + "](a.png)"
    assert too_wide("\n".join([code, row, link])) == []
    assert too_wide(f"{code}{row}x\n{'x ' * 61}") == [row + "x", "x " * 61]
