"""Example instances of every mechanism that `privmix.mechanisms` exports, from the test file of each.

The mechanism of ``mechanisms/laplace.py`` has its examples in ``test_laplace.py``: a list ``EXAMPLES`` and, where
records may have parameters of their own, a list ``PER_RECORD`` for 4 records and ``LAW``, SciPy's law of the noise.
"""

import dataclasses
import importlib

import numpy as np

from privmix import mechanisms

BOUNDS = (-3.0, 5.0)
#: every exported class that is not a base for others; several columns have tests of their own
EXPORTED = [kind for kind in map(mechanisms.__dict__.get, mechanisms.__all__) if dataclasses.is_dataclass(kind)]
CONCRETE = [kind for kind in EXPORTED if kind.dimension == 1]


def own_tests(kind):
    """Return the test file of a mechanism."""
    name = f"mechanisms.test_{kind.__module__.rpartition('.')[2]}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{kind.__name__} needs tests/{name.replace('.', '/')}.py with EXAMPLES") from error


EXAMPLES = {kind.__name__: own_tests(kind).EXAMPLES for kind in CONCRETE}
#: how many records the mechanisms of PER_RECORD have
RECORDS = 4
#: SciPy's law of the noise at scale 1, of mechanisms that may have one scale a record
LAWS = {kind: own_tests(kind).LAW for kind in CONCRETE if hasattr(own_tests(kind), "PER_RECORD")}
PER_RECORD = [mechanism for kind in CONCRETE for mechanism in getattr(own_tests(kind), "PER_RECORD", [])]

#: those that release something of every record; of records that are missing without a trace see their own tests
ALL = [m for examples in EXAMPLES.values() for m in examples if not (m.is_global or m.records_unknown)]


def jumps(mechanism):
    """Return whether outputs are discrete or have atoms, or the density jumps: quadrature on panels cannot be used."""
    discrete = mechanism.outputs is not None or mechanism.output_step is not None or hasattr(mechanism, "steps")
    return discrete or hasattr(getattr(mechanism, "mechanism", mechanism), "cell_count")


# test_cells.py integrates those that jump.
SCALAR_NOISE = [m for m in ALL if m.row_length is None and not m.reveals and not jumps(m)]


def inputs(mechanism, n=5):
    """Return records inside the bounds, both ends among them."""
    return np.linspace(*(mechanism.bounds or BOUNDS), n)


def short(mechanism):
    """Return a name for test ids: the class and what was given."""
    names = ("levels", "epsilon", "delta", "rho", "bounds", "calibration")
    given = [name for name in names if getattr(mechanism, name, None) is not None]
    return "-".join([type(mechanism).__name__, *given])
