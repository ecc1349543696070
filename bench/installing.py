"""Installs the program as users do: the built wheel in a new environment, without shims."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Installed:
    """The interpreter and our command in the environment."""

    python: Path
    ghp: Path
    pip: str  # its version: it wrote the wrapper that every start runs


def install(folder: Path) -> Installed:
    """A new environment with this checkout's wheel and its dependencies."""
    _run(os.path.realpath(sys.executable), "-m", "venv", "--without-pip", folder)
    python = folder / "bin/python"
    wheel = _build(folder / "wheel")
    # The pip of this environment installs into the new one: to install pip there takes seconds.
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python]
    pip.append("--disable-pip-version-check")
    # Dependencies are copied: the same files that pip would install, without a network.
    _copy_needed(Path(_run(python, "-c", "import site; print(site.getsitepackages()[0])")))
    _run(*pip, "install", "--quiet", "--no-index", "--no-deps", wheel)
    _run(*pip, "check")
    return Installed(python, folder / "bin/ghp", importlib.metadata.version("pip"))


def _build(folder: Path) -> Path:
    build: list[str | Path] = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        folder,
    ]
    _run(*build, CHECKOUT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _copy_needed(site: Path) -> None:
    for distribution in needed("ghp-agents"):
        for file in distribution.files or ():
            source = Path(str(distribution.locate_file(file)))
            if ".." not in file.parts and source.is_file():
                (site / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, site / file)


def needed(name: str) -> list[importlib.metadata.Distribution]:
    """The dependencies of `name` in this environment, without extras."""
    found: dict[str, importlib.metadata.Distribution] = {}
    pending = list(_requirements(importlib.metadata.distribution(name)))
    while pending:
        wanted = pending.pop()
        if wanted not in found:
            found[wanted] = importlib.metadata.distribution(wanted)
            pending += _requirements(found[wanted])
    return list(found.values())


def _requirements(distribution: importlib.metadata.Distribution) -> list[str]:
    from packaging.requirements import Requirement

    requirements = [Requirement(text) for text in distribution.requires or ()]
    applicable = [r for r in requirements if not r.marker or r.marker.evaluate({"extra": ""})]
    return [re.sub(r"[-_.]+", "-", requirement.name).lower() for requirement in applicable]


def _run(*command: str | Path) -> str:
    done = subprocess.run(
        command, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{done.stdout}")
    return done.stdout.strip()
