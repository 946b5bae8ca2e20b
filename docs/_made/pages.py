"""Pages whose figures and tables are made from the code, so that they cannot rot; a test compares them with it.

A page keeps its prose by hand. What stands between two comments, ``<!-- made: name -->`` and ``<!-- end -->``, is
made by the function of that name.
"""

import re
from pathlib import Path

from _made import hooks, reference, rooms, slots

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = {
    "rooms.md": {"rooms": rooms.table},
    "reference.md": {"calibrations": reference.calibrations},
    "extend/slots.md": {"hooks": hooks.hooks, "slots": slots.slots},
}
DRAWINGS = {"images/rooms.svg": rooms.drawing}
MADE = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(text, makers):
    """Return a page with what stands between its comments made anew."""
    return MADE.sub(lambda found: f"{found[1]}\n{makers[found[2]](ROOT)}\n{found[3]}", text)


def made():
    """Return the text of every made file by its path."""
    texts = {DOCS / name: draw(ROOT) for name, draw in DRAWINGS.items()}
    for name, makers in PAGES.items():
        texts[DOCS / name] = filled((DOCS / name).read_text(encoding="utf-8"), makers)
    return texts


def write():
    """Write the files that are not up to date; return their paths."""
    stale = [(p, text) for p, text in made().items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    for path, text in stale:
        path.write_text(text, encoding="utf-8")
    return [path for path, _ in stale]
