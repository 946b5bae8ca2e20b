"""The rooms of the package, drawn and listed, from the import rules of pyproject.toml and the rooms' docstrings."""

import ast
import html
import textwrap
import tomllib

WIDTH, GAP, LEFT = 960, 10, 34  # the drawing, between boxes, and where boxes begin, in pixels
LINE, CHARACTER = 14, 6.6  # height of a line of small print and width of one of its letters
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1d2733 }
.name { font-weight: 600; font-size: 14px }
.aside { fill: #566270 }
.room { fill: #eef3f8; stroke: #7d93a8 }
.side { fill: #fbf6ea; stroke: #b79a5b }
.way { stroke: #566270; stroke-width: 1.5; fill: none }
.exception { stroke: #b0472f; stroke-dasharray: 5 4; fill: none; stroke-width: 1.5 }
"""


def contracts(root):
    with open(root / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["tool"]["importlinter"]["contracts"]


def rule(root):
    """Return the contract that orders all rooms: the first of layers."""
    return next(contract for contract in contracts(root) if contract["type"] == "layers")


def layers(root):
    """Return the rooms, top to bottom, those side by side together."""
    return [[short(room) for room in layer.replace(":", "|").split("|")] for layer in rule(root)["layers"]]


def exceptions(root):
    """Return the imports that go against the order, as pairs of rooms."""
    pairs = [line.split(" -> ") for line in rule(root).get("ignore_imports", [])]
    return [(short(above), short(below)) for above, below in pairs]


def aside(root):
    """Return the rooms that nothing imports, by the contracts that forbid it to every ordered room."""
    ordered = {room for layer in layers(root) for room in layer}
    forbidden = [c for c in contracts(root) if c["type"] == "forbidden"]
    closed = [c for c in forbidden if {short(m) for m in c["source_modules"]} >= ordered]
    return [short(module) for contract in closed for module in contract["forbidden_modules"]]


def short(module):
    return module.strip().removeprefix("privmix.").split(".")[0]


def holds(root, room):
    """Return the first line of a room's docstring."""
    package = root / "src" / "privmix" / room
    source = package / "__init__.py" if package.is_dir() else package.with_suffix(".py")
    return ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))).splitlines()[0]


def table(root):
    """Return the table of rooms, top to bottom."""
    rooms = [room for layer in layers(root) for room in layer] + aside(root)
    rows = [f"| `{room}` | {cell(holds(root, room))} |" for room in rooms]
    return "\n".join(["| room | holds |", "|---|---|", *rows, ""])


def drawing(root):
    """Return the drawing: a row of boxes for each layer, what nothing imports at the foot."""
    parts, centres, top = [], {}, GAP
    rows = [(layer, "room") for layer in layers(root)] + [([room], "side") for room in aside(root)]
    foot = 0
    for layer, kind in rows:
        width = (WIDTH - LEFT - 40 - GAP * (len(layer) - 1)) / len(layer)
        words = [textwrap.wrap(holds(root, room).replace("`", ""), int((width - 20) / CHARACTER)) for room in layer]
        height = 30 + LINE * max(map(len, words))
        for i, room in enumerate(layer):
            left = LEFT + i * (width + GAP)
            parts.append(box(room, words[i], left, top, width, height, kind))
            centres[room] = (left + width, top + height / 2)
        top += height + GAP
        foot = top if kind == "room" else foot
    parts.append(f'<path class="way" marker-end="url(#head)" d="M {LEFT / 2} {GAP} V {foot - GAP}"/>')
    parts += [exception(centres[above], centres[below]) for above, below in exceptions(root)]
    return picture(parts, top)


def box(room, words, left, top, width, height, kind):
    lines = "".join(
        f'<text class="aside" x="{left + 10:.0f}" y="{top + 34 + LINE * i:.0f}">{html.escape(line)}</text>'
        for i, line in enumerate(words)
    )
    return (
        f'<rect class="{kind}" x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}" rx="5"/>'
        f'<text class="name" x="{left + 10:.0f}" y="{top + 18:.0f}">{room}</text>{lines}'
    )


def exception(start, end):
    """Return the dashed arrow of an import that goes up."""
    (right, low), (end_right, high) = start, end
    bend = f"{right + 40:.0f} {low:.0f} {end_right + 40:.0f} {high:.0f}"
    way = f"M {right:.0f} {low:.0f} C {bend} {end_right:.0f} {high:.0f}"
    return f'<path class="exception" marker-end="url(#back)" d="{way}"/>'


def picture(parts, height):
    heads = "".join(
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M 0 0 L 8 4 L 0 8 z" fill="{colour}"/></marker>'
        for name, colour in (("head", "#566270"), ("back", "#b0472f"))
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}">'
    title = "<title>The rooms of privmix, top to bottom: each imports from those below it alone</title>"
    background = '<rect width="100%" height="100%" fill="#ffffff"/>'
    body = "\n".join(parts)
    return f"{head}\n{title}\n<style>{STYLE}</style>\n<defs>{heads}</defs>\n{background}\n{body}\n</svg>\n"


def cell(text):
    """Return a text that may stand in a table: bars escaped."""
    return text.replace("|", "\\|")
