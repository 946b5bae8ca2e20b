"""The check of every change installs a browser where it may, and runs the tests all the same where it may not."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / ".ci" / "run"
TOOLS = ("bash", "dirname")


def run_with(folder, **scripts):
    """Run the check where there are no programs but these, by name; return it and what they were called with."""
    for tool in TOOLS:
        (folder / tool).symlink_to(shutil.which(tool))
    for name, body in {"make": "exit 0", **scripts}.items():
        path = folder / name.replace("_", "-")
        path.write_text(f'#!{shutil.which("bash")}\necho "{path.name} $*" >> "{folder}/calls"\n{body}\n')
        path.chmod(0o755)
    environment = {**os.environ, "PATH": str(folder)}
    done = subprocess.run([shutil.which("bash"), RUN], env=environment, capture_output=True, text=True)
    return done, (folder / "calls").read_text().splitlines()


def test_root_on_debian_installs_the_browser_before_the_tests(tmp_path):
    done, calls = run_with(tmp_path, id="echo 0", apt_get="exit 0")
    assert done.returncode == 0, done.stderr
    assert calls == [
        "id -u",
        "apt-get update -qq",
        "apt-get install -y -qq --no-install-recommends chromium chromium-driver",
        "make test",
    ]


@pytest.mark.parametrize("scripts", [{"id": "echo 1000", "apt_get": "exit 0"}, {"id": "echo 0"}, {"chromedriver": ""}])
def test_elsewhere_nothing_is_installed(tmp_path, scripts):
    done, calls = run_with(tmp_path, **scripts)
    assert done.returncode == 0
    assert calls[-1] == "make test"
    assert not any(call.startswith("apt-get") for call in calls)


def test_a_browser_that_cannot_be_had_stops_nothing(tmp_path):
    done, calls = run_with(tmp_path, id="echo 0", apt_get="exit 100")
    assert done.returncode == 0
    assert calls[-1] == "make test"
    assert "Chromium could not be installed" in done.stdout


def test_failing_tests_fail_the_check(tmp_path):
    done, _ = run_with(tmp_path, chromedriver="", make="exit 2")
    assert done.returncode == 2
