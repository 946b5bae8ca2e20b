"""The disk cache across processes: hits where nothing changed, new code where anything did."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import privmix

PARTS = """
from dataclasses import dataclass

import settings
from privmix.mechanisms import LocalMechanism

OFFSET = {offset}

def helper(x):
    return x + OFFSET

def make(by):
    def of_closure(x):
        return x + by
    return of_closure

of_closure = make({closure})

@dataclass(frozen=True)
class Edited(LocalMechanism):
    scale: float = 1.0

    def log_q(self, z, y):
        return {edited} * self.scale

@dataclass(frozen=True)
class ByHelper(LocalMechanism):
    scale: float = 1.0

    def log_q(self, z, y):
        return helper(z) * self.scale

@dataclass(frozen=True)
class ByClosure(LocalMechanism):
    scale: float = 1.0

    def log_q(self, z, y):
        return of_closure(z) * self.scale

@dataclass(frozen=True)
class ByModule(LocalMechanism):
    scale: float = 1.0

    def log_q(self, z, y):
        return (z + settings.SHIFT) * self.scale

@dataclass(frozen=True)
class Unchanged(LocalMechanism):
    scale: float = 1.0

    def log_q(self, z, y):
        return z * self.scale
"""

MAIN = """
import json, sys
from dataclasses import dataclass

import parts
from privmix.jit import bind
from privmix.mechanisms import LocalMechanism
from privmix.mechanisms.evidence import log_q_each

@dataclass(frozen=True)
class InMain(LocalMechanism):
    scale: float = 1.0

    def log_q(self, z, y):
        return (z + {main}) * self.scale

found = {{}}
for kind in (parts.Edited, parts.ByHelper, parts.ByClosure, parts.ByModule, parts.Unchanged, InMain):
    mechanism = kind(float(sys.argv[1]))
    value = float(mechanism.logpdf([10.0], 0.0)[0])
    stats = bind(log_q_each, mechanism.hooks()).dispatcher.stats
    found[kind.__name__] = [value, sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]
print(json.dumps(found))
"""

BEFORE = {"offset": 1.0, "closure": 2.0, "edited": "z", "module": 3.0, "main": 4.0}
AFTER = {"offset": 5.0, "closure": 6.0, "edited": "2.0 * z", "module": 7.0, "main": 8.0}


class Project:
    """A user's folder with a script and two modules, and a cache of its own."""

    def __init__(self, folder):
        self.folder, self.cache = folder, folder / "cache"

    def write(self, values):
        (self.folder / "settings.py").write_text(f"SHIFT = {values['module']}\n", encoding="utf-8")
        (self.folder / "parts.py").write_text(PARTS.format(**values), encoding="utf-8")
        (self.folder / "main.py").write_text(MAIN.format(**values), encoding="utf-8")

    def run(self, scale="1.0"):
        source = str(Path(privmix.__file__).parent.parent)
        environment = os.environ | {
            "NUMBA_CACHE_DIR": str(self.cache),
            "PYTHONPATH": source,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "main.py", scale]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def files(self):
        return {path.name for path in self.cache.rglob("*.nbc")}


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """Run the script fresh, again, with another parameter, and after an edit of everything but one class."""
    project = Project(tmp_path_factory.mktemp("project"))
    project.write(BEFORE)
    first = project.run()
    files = project.files()
    second = project.run()
    third = project.run(scale="3")
    unchanged = project.files() == files
    project.write(AFTER)
    return {"first": first, "second": second, "third": third, "no new files": unchanged, "edited": project.run()}


KINDS = ["Edited", "ByHelper", "ByClosure", "ByModule", "Unchanged", "InMain"]
VALUES = {"Edited": 10.0, "ByHelper": 11.0, "ByClosure": 12.0, "ByModule": 13.0, "Unchanged": 10.0, "InMain": 14.0}
EDITED = {"Edited": 20.0, "ByHelper": 15.0, "ByClosure": 16.0, "ByModule": 17.0, "Unchanged": 10.0, "InMain": 18.0}


@pytest.mark.xdist_group("cache")
@pytest.mark.parametrize("kind", KINDS)
def test_second_process_compiles_nothing(story, kind):
    assert story["first"][kind] == [VALUES[kind], 0, 1]
    assert story["second"][kind] == [VALUES[kind], 1, 0]


@pytest.mark.xdist_group("cache")
def test_second_process_writes_nothing(story):
    assert story["no new files"]


@pytest.mark.xdist_group("cache")
@pytest.mark.parametrize("kind", KINDS)
def test_other_value_of_a_parameter_compiles_nothing(story, kind):
    assert story["third"][kind] == [3.0 * VALUES[kind], 1, 0]


@pytest.mark.xdist_group("cache")
@pytest.mark.parametrize("kind", KINDS)
def test_edit_is_seen(story, kind):
    hits = 1 if kind == "Unchanged" else 0
    assert story["edited"][kind] == [EDITED[kind], hits, 1 - hits]
