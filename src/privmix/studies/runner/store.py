"""The folder of a study: its configuration, one file for each finished cell, and a log.

A cell's file appears whole or not at all, so a study that was killed at any moment is taken up where it stood.
"""

from __future__ import annotations

import io
import json
import platform
import time
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from privmix.files import whole_file
from privmix.studies.runner.configuration import Configuration, Coordinates
from privmix.studies.runner.seeds import cell_name
from privmix.studies.runner.study import Study

# What the last digits of a result may depend on.
PACKAGES = ("privmix", "numpy", "numba", "scipy")


class Store:
    """The folder of one study.

    Parameters
    ----------
    folder
        Where results are kept.
    study
        Whose results.
    """

    def __init__(self, folder: Path, study: Study) -> None:
        self.folder = Path(folder)
        self.study = study
        self.cells = self.folder / "cells"
        self.description = self.folder / "study.json"
        self.log_file = self.folder / "log.jsonl"

    def begin(self, configuration: Configuration) -> None:
        """Write the configuration into a new folder, or compare it with that of a study that was begun there."""
        if self.description.exists():
            self._compare(configuration)
        elif self.folder.is_dir() and any(path.name != ".lock" for path in self.folder.iterdir()):
            raise FileExistsError(f"{self.folder} holds files, but no study. Give a new or an empty folder.")
        self.cells.mkdir(parents=True, exist_ok=True)
        for left in self.folder.rglob(".*.part"):  # of a run that was killed
            left.unlink(missing_ok=True)
        about = {"study": self.study.name, "version": self.study.version}
        packages = {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
        text = json.dumps({**about, "configuration": configuration.as_dict(), "packages": packages}, indent=1)
        write_whole(self.description, text.encode())

    def read_configuration(self) -> Configuration:
        """Return the configuration that the results were made with."""
        self._check_study()
        held: dict[str, Any] = self._read()["configuration"]
        kind: Any = self.study.configuration
        return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in held.items()})

    def _read(self) -> dict[str, Any]:
        if not self.description.is_file():
            raise FileNotFoundError(f"{self.folder} holds no study: {self.description.name} is missing.")
        return json.loads(self.description.read_text())

    def _check_study(self) -> None:
        held = self._read()
        if (held["study"], held["version"]) != (self.study.name, self.study.version):
            raise ValueError(
                f"{self.folder} holds the study {held['study']}, version {held['version']}; this is "
                f"{self.study.name}, version {self.study.version}. Give another folder."
            )

    def _compare(self, configuration: Configuration) -> None:
        """Refuse to go on with other settings than those of the finished cells."""
        self._check_study()
        held, asked = self.read_configuration().settings(), configuration.settings()
        for name, value in asked.items():
            if held.get(name) != value:
                raise ValueError(
                    f"{self.folder} was begun with {name} = {held.get(name)!r}, and now {name} = {value!r} was asked "
                    "for: cells of both would be mixed. Give another folder, or the old setting."
                )
        packages = self._read()["packages"]
        now = {name: version(name) for name in PACKAGES}
        changed = [f"{name} {packages.get(name)} → {now[name]}" for name in PACKAGES if packages.get(name) != now[name]]
        if changed:
            warnings.warn(f"the study was begun with other packages ({', '.join(changed)}).", stacklevel=4)

    def path(self, coordinates: Coordinates) -> Path:
        """Return the file of a cell."""
        return self.cells / f"{cell_name(coordinates)}.npz"

    def is_finished(self, coordinates: Coordinates) -> bool:
        """Return whether a cell has its results."""
        return self.path(coordinates).is_file()

    def write(self, coordinates: Coordinates, values: dict[str, np.ndarray]) -> None:
        """Write the results of a cell."""
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **values)
        write_whole(self.path(coordinates), buffer.getvalue())

    def read(self, coordinates: Coordinates) -> dict[str, np.ndarray]:
        """Return the results of a cell."""
        path = self.path(coordinates)
        try:
            with np.load(path, allow_pickle=False) as held:
                return {name: held[name] for name in held.files}
        except (ValueError, zipfile.BadZipFile) as error:
            raise ValueError(f"{path} cannot be read ({error}). Delete it and run the study again.") from error

    def log(self, event: str, coordinates: Coordinates, **more: Any) -> None:
        """Add a line to the log."""
        line = {"time": time.strftime("%Y-%m-%dT%H:%M:%S"), "event": event, "cell": cell_name(coordinates), **more}
        with self.log_file.open("a") as log:
            log.write(json.dumps(line) + "\n")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep a second run out of the folder; a run that is killed lets go."""
        try:
            import fcntl
        except ImportError:  # Windows: two runs would do work twice, and spoil nothing
            yield
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / ".lock").open("w") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ValueError(f"another run works in {self.folder}. Wait for it, or give another folder.") from None
            yield


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_bytes(content)
