"""The inventory of slots, from the sources: every function marked with ``@slot``, by the file that declares it."""

import ast
import textwrap
from pathlib import Path

from _made import rooms
from privmix import samplers

BASE = samplers.Sampler.__module__


def declared(root):
    """Return the slots of each file, as (module, its docstring's first line, slots); rooms bottom to top."""
    package = root / "src" / "privmix"
    order = [room for layer in reversed(rooms.layers(root)) for room in layer] + rooms.aside(root)
    for room in order:
        for path in sorted((package / room).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and is_slot(node)]
            if found:
                yield module_of(path, package), first_line(tree), found


def is_slot(function):
    return any(isinstance(mark, ast.Name) and mark.id == "slot" for mark in function.decorator_list)


def module_of(path, package):
    return ".".join(Path(path).relative_to(package.parent).with_suffix("").parts)


def first_line(node):
    return ast.get_docstring(node).splitlines()[0]


def call(function):
    """Return a function's name with its arguments, as one writes the call."""
    return f"{function.name}({ast.unparse(function.args)})"


def item(code, text):
    """Return the lines of a list's item: code, then what it does."""
    return textwrap.wrap(text, 120, initial_indent=f"- `{code}`: ", subsequent_indent="  ")


def slots(root):
    """Return a list of slots for each file.

    Left out are those of adapters, which begin with an underscore, and those that one sampler's file keeps to itself.
    """
    own = {".".join(getattr(samplers, name).__module__.split(".")[:3]) for name in samplers.__all__} - {BASE}
    sections = []
    for module, line, functions in declared(root):
        if ".".join(module.split(".")[:3]) in own:
            continue
        rows = [row for f in functions if not f.name.startswith("_") for row in item(call(f), first_line(f))]
        if rows:
            sections += [f"### {module}", "", line, "", *rows, ""]
    return "\n".join(sections)
