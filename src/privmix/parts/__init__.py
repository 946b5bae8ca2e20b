"""What a part is: a frozen dataclass whose fields enter compiled code, its hooks, its saving by name, its checks."""

from privmix.parts.part import Part, PerRecord, given, part_from_dict, part_to_dict

__all__ = ["Part", "PerRecord", "given", "part_from_dict", "part_to_dict"]
