"""Turn plain Python parts and samplers into compiled code that is cached on disk.

This room alone knows how numba is driven. A part (mechanism, kernel, prior) is a frozen dataclass whose hooks are
ordinary methods; a sampler is a plain function that calls slots. `bind` joins the two.
"""

from privmix.jit.bind import Binding, CompilationError, bind, slot
from privmix.jit.constants import constant, lookup
from privmix.jit.part import Part, PerRecord, given
from privmix.jit.records import accessor, record_of, record_type
from privmix.jit.serial import part_from_dict, part_to_dict

__all__ = [
    "Binding",
    "CompilationError",
    "Part",
    "PerRecord",
    "accessor",
    "bind",
    "constant",
    "given",
    "lookup",
    "part_from_dict",
    "part_to_dict",
    "record_of",
    "record_type",
    "slot",
]
