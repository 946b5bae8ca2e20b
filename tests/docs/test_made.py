"""Pages that are made from the code are those that the code makes, and show all of it."""

import importlib
import pkgutil
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import privmix
from privmix.mechanisms import GlobalMechanism, LocalMechanism

ROOT = Path(__file__).parents[2]


@pytest.fixture
def made(monkeypatch):
    """Give the modules that make the pages."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    yield importlib.import_module("_made.pages")
    for name in [name for name in sys.modules if name.split(".")[0] == "_made"]:
        monkeypatch.delitem(sys.modules, name)


def test_made_pages_are_up_to_date(made):
    stale = [path.name for path, text in made.made().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "the code has changed: run `make pages`"


def test_a_changed_rule_changes_the_drawing(made, tmp_path):
    """The drawing and the table are those of pyproject.toml and of docstrings, not of a list elsewhere."""
    rules = '[[tool.importlinter.contracts]]\ntype = "layers"\nlayers = ["privmix.roof", "privmix.oak | privmix.elm"]\n'
    (tmp_path / "pyproject.toml").write_text(rules, encoding="utf-8")
    for room in ("roof", "oak", "elm"):
        (tmp_path / "src" / "privmix" / room).mkdir(parents=True)
        source = f'"""The {room}: p(a|b) & more."""\n'
        (tmp_path / "src" / "privmix" / room / "__init__.py").write_text(source, encoding="utf-8")
    drawing, table = made.rooms.drawing(tmp_path), made.rooms.table(tmp_path)
    assert re.findall(r'class="name".*?>(\w+)<', drawing) == ["roof", "oak", "elm"]
    assert "The elm: p(a|b) &amp; more." in drawing
    assert table.splitlines()[-1] == r"| `elm` | The elm: p(a\|b) & more. |"


def test_drawing_shows_every_room(made):
    folders = {
        path.stem for path in (ROOT / "src" / "privmix").iterdir() if path.stem[0] != "_" and path.suffix != ".typed"
    }
    drawn = re.findall(r'class="name".*?>(\w+)<', made.rooms.drawing(ROOT))
    assert sorted(drawn) == sorted(folders)


def slots_that_run():
    """Return the qualified names of the slots in all modules that can be imported here."""
    found = set()
    for module in pkgutil.walk_packages(privmix.__path__, "privmix."):
        if module.name.endswith(("__main__", "numpyro_mixture")):
            continue
        held = vars(importlib.import_module(module.name)).values()
        found |= {
            value.__dict__["__privmix_slot__"] for value in held if "__privmix_slot__" in getattr(value, "__dict__", {})
        }
    return found


def test_inventory_has_every_slot_that_runs(made):
    read = {f"{module}.{f.name}" for module, _, functions in made.slots.declared(ROOT) for f in functions}
    assert read == slots_that_run()
    assert len(read) > 50


@pytest.mark.parametrize("room", ["mechanisms", "kernels", "priors", "pairs", "samplers", "baselines", "testing"])
def test_reference_lists_rooms_by_their_exports(room):
    """An export line is all that a new part needs: the page names rooms, and autodoc reads ``__all__``."""
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert f".. automodule:: privmix.{room}\n" in page
    module = importlib.import_module(f"privmix.{room}")
    assert [name for name in module.__all__ if not getattr(module, name).__doc__] == []


class Lamp:
    """A base class.

    - ``light(self)``: what it gives
    - ``dim(self, by)``: optional; less of it
    """

    #: how many there are
    count: int = 1

    def switch(self):
        """Turn it on (hook)."""
        raise NotImplementedError

    def colour(self):
        """Return white."""

    @classmethod
    def of(cls, maker):
        """Return a lamp of a maker."""

    def weight(self):
        """Return its weight, which no lamp changes."""


class Red(Lamp):
    def colour(self):
        """Return red."""

    @classmethod
    def of(cls, maker):
        """Return a red lamp."""


def test_what_a_part_must_give_is_read_off_its_base_class(made):
    room = SimpleNamespace(__all__=["Lamp", "Red"], __name__="nowhere", Lamp=Lamp, Red=Red)
    must, may, settings = made.hooks.lists(ROOT, Lamp, room)
    assert must == [("light(self)", "what it gives"), ("switch(self)", "Turn it on.")]
    assert may == [
        ("dim(self, by)", "less of it"),
        ("colour(self)", "Return white."),
        ("of(cls, maker)", "Return a lamp of a maker."),
    ]
    assert settings == [("count", "how many there are")]


def test_what_another_kind_settles_is_not_for_this_one(made):
    local, everyone = [dict(made.hooks.attributes(kind)) for kind in (LocalMechanism, GlobalMechanism)]
    assert {"is_global", "record_counts"} == set(everyone) - set(local) - {"records"}


@pytest.mark.parametrize(("base", "skeleton"), [("Kernel", "kernel"), ("LocalMechanism", "mechanism")])
def test_skeletons_give_what_a_part_must_give(made, base, skeleton):
    source = (ROOT / "docs" / "extend" / "skeletons" / f"{skeleton}.py").read_text(encoding="utf-8")
    room = importlib.import_module(f"privmix.{skeleton}s")
    must, _, _ = made.hooks.lists(ROOT, getattr(room, base), room)
    assert len(must) >= 2
    for code, text in must:
        names = re.findall(r"(\w+)\(self", code + text)  # one of them, where the text names another
        assert any(f"def {name}(self" in source for name in names) or f"    {code} = " in source, code
