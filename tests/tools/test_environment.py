"""The set-up that `make` does: refuses what cannot work, heals what was interrupted, repeats."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.house import CHECKOUT

# A project of one file that builds itself, so that pip needs nothing from anywhere.
PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "ghp-agents"
version = "0"
"""
BACKEND = """\
import zipfile

WHEEL = ["Wheel-Version: 1.0", "Root-Is-Purelib: true", "Tag: py3-none-any"]
METADATA = ["Metadata-Version: 2.1", "Name: ghp-agents", "Version: 0", "Provides-Extra: all"]

def build_editable(folder, config_settings=None, metadata_directory=None):
    name, info = "ghp_agents-0-py3-none-any.whl", "ghp_agents-0.dist-info/"
    with zipfile.ZipFile(folder + "/" + name, "w") as wheel:
        wheel.writestr(info + "WHEEL", "\\n".join(WHEEL))
        wheel.writestr(info + "METADATA", "\\n".join(METADATA))
        wheel.writestr(info + "RECORD", "")
    return name
"""
READY = Path(".venv/.ready-core")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / "tools").mkdir(parents=True)
    shutil.copy(CHECKOUT / "Makefile", folder)
    shutil.copy(CHECKOUT / "tools/environment.py", folder / "tools")
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "backend.py").write_text(BACKEND)
    return folder


def make(folder: Path, *args: str) -> "subprocess.CompletedProcess[str]":
    command = ["make", "--no-print-directory", "--silent", *args]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)


def test_a_python_that_is_too_old_is_refused_with_a_remedy(checkout: Path) -> None:
    old = checkout / "python3.9"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = make(checkout, f"PYTHON={old}", "demo")
    assert done.returncode == 2
    assert done.stderr.startswith(
        f"Error: Python 3.11 or newer is needed; {old} is older, or is not there.\n"
        "Hint: name another one: make PYTHON=/path/to/python3 demo\n"
    )
    assert not (checkout / ".venv").exists()


def test_a_python_that_is_not_there_is_refused_with_a_remedy(checkout: Path) -> None:
    done = make(checkout, "PYTHON=no-such-python", "demo")
    assert done.returncode == 2
    assert "Hint: name another one: make PYTHON=/path/to/python3 demo\n" in done.stderr


@pytest.mark.slow
@pytest.mark.long
def test_the_environment_is_made_once_and_again_only_where_it_must(checkout: Path) -> None:
    first = make(checkout, str(READY))
    assert first.returncode == 0, first.stderr
    assert [line.split()[0] for line in first.stderr.splitlines()] == [
        "Making", "Installing", "1", "The",
    ]  # fmt: skip
    assert (checkout / READY).exists()

    again = make(checkout, str(READY))
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")

    left_over = checkout / ".venv/left-over"
    left_over.touch()
    os.utime(checkout / "pyproject.toml")
    changed = make(checkout, str(READY))
    assert changed.returncode == 0, changed.stderr
    assert left_over.exists(), "new requirements are installed into the environment that there is"

    copied = Path(shutil.copytree(checkout, checkout.with_name("copy"), symlinks=True))
    (copied / "backend.py").write_text("import os\nos.kill(os.getppid(), 9)\n")
    killed = make(copied, str(READY))
    assert killed.returncode == 2
    assert "Error: pip could not install the packages" in killed.stderr
    assert not (copied / ".venv/left-over").exists(), "a copy makes an environment of its own"
    assert (copied / ".venv/.made-in").read_text() == f"{copied}\n"
    assert not (copied / READY).exists(), "what was interrupted is never taken as done"

    half_done = copied / ".venv/half-done"
    half_done.touch()
    (copied / "backend.py").write_text(BACKEND)
    healed = make(copied, str(READY))
    assert healed.returncode == 0, healed.stderr
    assert not half_done.exists()
    assert not (copied / ".venv.unfinished").exists()
