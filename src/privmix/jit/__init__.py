"""Turn plain Python parts and samplers into compiled code that is cached on disk.

This room alone knows how numba is driven. A part (mechanism, kernel, prior) is a frozen dataclass whose hooks are
ordinary methods; a sampler is a plain function that calls slots. `bind` joins the two.
"""

from privmix.jit.bind import CompilationError, Scoped, bind, inline, slot
from privmix.jit.flat import flat
from privmix.jit.numbers import accessor, constant, lookup, numbers_of

__all__ = [
    "CompilationError",
    "Scoped",
    "accessor",
    "bind",
    "constant",
    "flat",
    "inline",
    "lookup",
    "numbers_of",
    "slot",
]
