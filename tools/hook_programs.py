"""Installs programs that our guards meet, for the tests that run them: pinned, in .cache.

They manage git's hooks, or give models tools for files.
"""

import os
import venv
from pathlib import Path
from typing import NamedTuple

from tools.clients import npm
from tools.emulate import node, once, pip

NPM = {"husky": "9.1.7", "lefthook": "2.2.2"}
FILESYSTEM = ("@modelcontextprotocol/server-filesystem", "2026.8.31")
PRE_COMMIT = "pre-commit==4.7.0"


class HookPrograms(NamedTuple):
    """How each is started."""

    husky: list[str]
    lefthook: list[str]
    framework: list[str]  # pre-commit


def ready(home: str | None = None) -> HookPrograms:
    """All of them, installed if they are missing; only one process installs.

    `home` is the folder with npm's and pip's configuration, if it is not HOME. Raises BrokenError,
    UnreachableError.
    """
    home = home or os.environ.get("HOME", "/")
    program = node(home)

    def add(folder: Path) -> None:
        (folder / "package.json").write_text('{"private": true}\n')
        npm(folder, home, [f"{name}@{version}" for name, version in NPM.items()], program.parent)

    def add_framework(folder: Path) -> None:
        venv.create(folder, symlinks=True)
        python = str(folder / "bin/python")
        pip(folder, home, "--python", python, "install", "--only-binary=:all:", PRE_COMMIT)

    modules = once("-".join(NPM.values()), add) / "node_modules"
    (lefthook,) = modules.glob("lefthook-*/bin/lefthook")
    return HookPrograms(
        [str(program), str(modules / "husky/bin.js")],
        [str(lefthook)],
        [str(once(PRE_COMMIT, add_framework) / "bin/python"), "-m", "pre_commit"],
    )


def filesystem(home: str | None = None) -> list[str]:
    """The command of the tool server for files, which takes the folders that it may change. Raises
    like `ready`."""
    home = home or os.environ.get("HOME", "/")
    program, (name, version) = node(home), FILESYSTEM

    def add(folder: Path) -> None:
        (folder / "package.json").write_text('{"private": true}\n')
        npm(folder, home, [f"{name}@{version}"], program.parent)

    modules = once(f"server-filesystem-{version}", add) / "node_modules"
    return [str(program), str(modules / name / "dist/index.js")]
