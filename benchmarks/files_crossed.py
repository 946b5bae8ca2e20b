"""Files of the package that a fit crosses: how far a reader must walk to follow one. Goals: `fit` 30, command line 50.

A file counts if at least one of its functions runs, in Python or in compiled code: module top-levels, class bodies and
what dataclasses generate do not count, and compiled code counts every function that a bound tree reaches. Each case
runs twice in a process of its own, and the second run is counted, so that nothing is compiled or looked up for the
first time. Run with `python -m benchmarks.files_crossed`; `--list` names the files.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import privmix
from privmix import mechanisms, samplers

# The function of the same name hides the module.
jit = importlib.import_module("privmix.jit.bind")
ROOT = Path(privmix.__file__).parent
MECHANISM = mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))
CASES = ("fit, Neal5", "fit, Auto", "command line, Neal5", "command line, Auto")


def crossed(run: Callable[[], Any]) -> list[str]:
    """Return the files of the package in which a function runs."""
    found: set[str] = set()

    def note(frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_flags & 2:  # not a module's or a class's body
            found.add(code.co_filename)

    rebuild = jit.Binding.rebuild

    def watched(self: Any, function: Any, suffix: str) -> Any:
        found.add(function.__code__.co_filename)
        return rebuild(self, function, suffix)

    jit.Binding.rebuild = watched  # type: ignore[method-assign]
    jit._compiled.clear()  # so that every tree is walked again; numba's cache on disk stays
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        jit.Binding.rebuild = rebuild  # type: ignore[method-assign]
    inside = [Path(name) for name in found if Path(name).is_relative_to(ROOT)]
    return sorted(str(path.relative_to(ROOT)) for path in inside)


def case(name: str, folder: Path) -> Callable[[], Any]:
    """Return what a case runs."""
    z = MECHANISM.privatize(np.random.default_rng(1).normal(2.0, 1.0, 200), seed=2)
    if name.startswith("fit"):
        how = samplers.Neal5() if name == "fit, Neal5" else None
        return lambda: privmix.fit(z, MECHANISM, sampler=how, seed=3)
    from privmix.cli import app

    privmix.Release(z, MECHANISM).save(folder / "z.csv")
    sampler = name.split()[-1].lower()
    words = ["fit", "--force", str(folder / "z.csv"), "-o", str(folder / "fit.nc"), "--seed", "3", "--sampler", sampler]
    return lambda: app(words, standalone_mode=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="name the files")
    parser.add_argument("--case", choices=CASES, help="run one case in this process and print its files as JSON")
    options = parser.parse_args()
    if options.case:
        with tempfile.TemporaryDirectory() as folder:
            run = case(options.case, Path(folder))
            run()
            print(json.dumps(crossed(run)))
        return
    for name in CASES:
        command = [sys.executable, "-m", "benchmarks.files_crossed", "--case", name]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        files = json.loads(output.splitlines()[-1])
        print(f"{name}: {len(files)} files")
        if options.list:
            print("\n".join(f"  {file}" for file in files))


if __name__ == "__main__":
    main()
