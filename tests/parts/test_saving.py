"""Parts as plain data."""

import json
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from privmix.mechanisms import Laplace, LocalMechanism
from privmix.parts import part_from_dict, part_to_dict


@dataclass(frozen=True)
class Wrapped(LocalMechanism):
    """Holds another part, a tuple and text."""

    inner: LocalMechanism = Laplace(scale=1.0)
    pair: tuple[float, ...] = (1.0, 2.0)
    name: str = "x"
    flag: bool = True
    nothing: float | None = None


def through_json(part, known=None):
    return part_from_dict(json.loads(json.dumps(part_to_dict(part))), known)


def test_nested_parts_come_back():
    part = Wrapped(Laplace(scale=np.array([1.0, 1 / 3])), pair=(0.1, np.float64(5e-324)), name="Ü")
    again = through_json(part, {"Wrapped": Wrapped})
    assert again == part
    assert (again.pair, again.name, again.flag, again.nothing) == ((0.1, 5e-324), "Ü", True, None)
    assert np.array_equal(again.inner.scale, [1.0, 1 / 3])


def test_file_never_imports_a_module():
    data = part_to_dict(Laplace(scale=1.0)) | {"module": "antigravity", "class": "Laplace"}
    with pytest.raises(LookupError, match=r"the class Laplace of module antigravity, which privmix does not have"):
        part_from_dict(data)
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize("name", ["np", "LocalMechanism", "check_bounds", "Laplace.log_q", "absent"])
def test_only_dataclasses_are_built(name):
    data = part_to_dict(Laplace(scale=1.0)) | {"module": "privmix.mechanisms.base", "class": name}
    with pytest.raises(LookupError, match="names the class"):
        part_from_dict(data)


def test_unknown_field_is_named():
    data = part_to_dict(Laplace(scale=1.0))
    data["fields"]["colour"] = "red"
    with pytest.raises(ValueError, match=r"Laplace has no field \['colour'\]: the file was written by another version"):
        part_from_dict(data)
