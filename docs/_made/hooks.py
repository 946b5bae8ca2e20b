"""What a part must give and may give, from its base class: the hooks of its docstring, and what built-ins override."""

import ast
import dataclasses
import inspect
import re
import textwrap
from types import FunctionType

from _made import slots
from _made.slots import item
from privmix import kernels, mechanisms, pairs, priors, samplers
from privmix.parts import Part
from privmix.priors.base import REQUIRED

SPARED = re.compile(r"\boptional\b|\bby default\b")
BULLET = re.compile(r"^- ((?:``[^`]+``(?: or |, )?)+): (.*(?:\n  .*)*)", re.MULTILINE)
PLUMBING = {"hooks", "has"}  # from hooks to slots: a part inherits the way; a sampler writes its own `hooks`
BASES = (kernels.Kernel, mechanisms.LocalMechanism, mechanisms.GlobalMechanism, mechanisms.Histogram, samplers.Sampler)


def hooks(root):
    """Return a section for each kind of part."""
    kernel, local, all_at_once, histogram, sampler = BASES
    sections = [
        section("A kernel", kernel, *lists(root, kernel, kernels)),
        section("A mechanism for each record", local, *lists(root, local, mechanisms)),
        section("A mechanism for all records at once", all_at_once, *lists(root, all_at_once, mechanisms)),
        section("A mechanism that sees a histogram", histogram, *lists(root, histogram, mechanisms)),
        section("A prior", priors.Prior, *prior_hooks(root), attributes(priors.Prior)),
        section("A pair", pairs.Convolution, *fields(pairs.Convolution), []),
        section("A sampler", sampler, *lists(root, sampler, samplers)),
    ]
    return "\n".join(sections)


def section(title, base, must, may, settings):
    """Return the lists of a part: what it must give, may give, and may set."""
    lines = [f"### {title}", "", *textwrap.wrap(f"`{public(base)}`: {first_line(base)}", 120), ""]
    for head, entries in (("Must give:", must), ("May give:", may), ("May set, as class attributes:", settings)):
        if entries:
            lines += [head, "", *[line for code, text in entries for line in item(code, text)], ""]
    return "\n".join(lines)


def public(cls):
    return f"{'.'.join(cls.__module__.split('.')[:2])}.{cls.__name__}"


def lists(root, base, room):
    """Return what a subclass must give, may give and may set."""
    must, may = [], []
    listed = bullets(base)
    for code, text in listed:
        (may if SPARED.search(text) else must).append((code, re.sub(r"^optional[;:] ", "", text)))
    named = set(re.findall(r"(\w+)\(", " ".join(code + text for code, text in listed)))
    named |= PLUMBING if issubclass(base, Part) else set()
    for name, member in overridden(base, room):
        if name not in named:
            (must if asks(member) else may).append((call(name, member), first_line(member)))
    return must, may + beyond(root, base, room, named), attributes(base)


def bullets(base):
    """Return the hooks that a docstring lists, each with what it does."""
    found = BULLET.findall(inspect.getdoc(base))
    return [(code.replace("``", "`").strip("`"), " ".join(text.replace("``", "`").split())) for code, text in found]


def given(base, room):
    """Return the names that the parts of a room give beside their base class."""
    parts = [getattr(room, name) for name in room.__all__ if name not in {cls.__name__ for cls in BASES}]
    classes = {cls for part in parts if isinstance(part, type) and issubclass(part, base) for cls in part.__mro__}
    own = [cls for cls in classes if cls not in BASES and not issubclass(base, cls)]
    return {name for cls in own for name in vars(cls) if name[0] != "_"}


def overridden(base, room):
    """Return the members of a base class, not of its parents with a section of their own, that parts give."""
    names = given(base, room)
    parents = [cls for cls in base.__mro__ if cls is base or (cls not in BASES and not shared(cls, base))]
    for cls in parents:
        for name, member in vars(cls).items():
            if name[0] == "_" or not isinstance(member, FunctionType | property | classmethod):
                continue
            if (name in names or asks(member)) and inspect.getattr_static(base, name) is member:
                yield name, member


def shared(cls, base):
    """Return whether a class stands above one of the base's parents that has a section of its own."""
    return any(issubclass(parent, cls) for parent in base.__mro__[1:] if parent in BASES)


def beyond(root, base, room, named):
    """Return the hooks that parts give and the base class does not have: they bear the name of a slot of the room."""
    names = given(base, room) - named
    stubs = [f for module, _, found in slots.declared(root) if module.startswith(room.__name__) for f in found]
    wanted = [f for f in stubs if f.name in names and not hasattr(base, f.name)]
    return [(re.sub(r"\(\w+", "(self", slots.call(f), count=1), slots.first_line(f)) for f in wanted]


def asks(member):
    """Return whether a member has no body but the error that it is not given."""
    if not inspect.isfunction(member):
        return False
    body = ast.parse(textwrap.dedent(inspect.getsource(member))).body[0].body
    return len(body) == 2 and isinstance(body[1], ast.Raise) and getattr(body[1].exc, "id", "") == "NotImplementedError"


def call(name, member):
    if isinstance(member, property):
        return name
    return f"{name}({', '.join(inspect.signature(getattr(member, '__func__', member)).parameters)})"


def first_line(member):
    return inspect.getdoc(member).splitlines()[0].replace(" (hook)", "")


def attributes(base):
    """Return the class attributes that a comment with ``#:`` explains, without those that another kind settles."""
    found = []
    kinds = [kind for kind in BASES if not issubclass(kind, base) and not issubclass(base, kind)]
    for cls in reversed([cls for cls in base.__mro__[:-1] if cls is base or not shared(cls, base)]):
        source = inspect.getsource(cls)
        settled = {name for kind in kinds if issubclass(kind, cls) for name in inspect.get_annotations(kind)}
        for comment, name in re.findall(r"((?:^    #: .*\n)+)    (\w+):", source, re.MULTILINE):
            text = " ".join(line.strip().removeprefix("#: ") for line in comment.splitlines())
            if name not in settled:
                found.append((name, text.replace("``", "`")))
    return found


def prior_hooks(root):
    """Return the hooks that a prior must give and may give, which have the names of its slots, and its members."""
    (functions,) = [found for module, _, found in slots.declared(root) if module == "privmix.priors.slots"]
    lines = {f.name: (slots.call(f).replace("(prior", "(self"), slots.first_line(f)) for f in functions}
    must = [line for name, line in lines.items() if name in REQUIRED]
    may = [line for name, line in lines.items() if name not in REQUIRED]
    return must, may + [(call(name, member), first_line(member)) for name, member in overridden(priors.Prior, priors)]


def fields(cls):
    """Return the fields of a dataclass that must and that may be given, as its docstring explains them."""
    must, may = [], []
    text = inspect.getdoc(cls).split("Parameters\n----------\n")[1]
    needed = {f.name for f in dataclasses.fields(cls) if f.default is f.default_factory is dataclasses.MISSING}
    for name, lines in re.findall(r"^(\w+)\n((?:    .*\n?)+)", text, re.MULTILINE):
        entry = (name, " ".join(lines.replace("``", "`").split()))
        (must if name in needed else may).append(entry)
    return must, may
