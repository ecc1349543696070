"""Installs the coding agents that the tests in tests/clients drive: pinned, below .cache/clients.

`python -m tools.clients` prints their paths. Nothing is installed globally, no script of a package
is run, and npm's configured registry is used. The packages' commands are wrappers that need a
certain node, so the programs inside are started instead.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGES = {"@anthropic-ai/claude-code": "2.1.329", "@openai/codex": "0.169.0"}
PLACE = Path(__file__).parents[1] / ".cache/clients"
# Fail within seconds if the registry cannot be reached; npm would try for a minute.
RETRIES = (
    "--fetch-retries=2",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=4000",
)
PROGRAMS = {
    "claude": "node_modules/@anthropic-ai/claude-code-*/claude",
    "codex": "node_modules/@openai/codex-*/vendor/*/bin/codex",
}
# npm's errors for an unreachable registry, as opposed to errors from a registry.
UNREACHABLE = (
    "CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_GET_ISSUER_CERT", "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND",
    "ERR_SOCKET_TIMEOUT", "ETIMEDOUT", "FETCH_ERROR",
)  # fmt: skip


class Clients(NamedTuple):
    """The programs."""

    claude: Path
    codex: Path


class UnreachableError(Exception):
    """The package registry cannot be reached."""


class BrokenError(Exception):
    """The clients could not be installed for another reason."""


def ready(home: str | None = None) -> Clients:
    """The clients, installed if they are missing; only one process installs.

    `home` is the folder with npm's configuration, if it is not HOME.
    """
    folder = PLACE / "-".join(PACKAGES.values())
    if not folder.exists():
        PLACE.mkdir(parents=True, exist_ok=True)
        with one_at_a_time(PLACE):
            if not folder.exists():
                print("Installing the coding agents for the tests …", file=sys.stderr, flush=True)
                install(folder, home or os.environ.get("HOME", "/"))
    return Clients(**{name: program(folder, name) for name in PROGRAMS})


def install(folder: Path, home: str) -> None:
    """Install atomically: the folder is renamed when it is complete."""
    unfinished = PLACE / "unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    (unfinished / "package.json").write_text('{"private": true}\n')
    npm(unfinished, home, [f"{name}@{version}" for name, version in PACKAGES.items()])
    for name in PROGRAMS:
        program(unfinished, name)
    for other in PLACE.iterdir():  # versions that were pinned before
        if other.is_dir() and other != unfinished:
            shutil.rmtree(other)
    unfinished.rename(folder)


def npm(folder: Path, home: str, packages: list[str], spare: Path | None = None) -> None:
    """Add packages to a folder with the user's npm, or else the one in the folder `spare`."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *([str(spare)] if spare else [])])
    program = shutil.which("npm", path=path)
    if program is None:
        raise BrokenError("npm is not on PATH. Install Node.js with npm, and run this again.")
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
    done = subprocess.run(
        [program, "install", "--prefix", folder, *quiet, *RETRIES, *packages],
        cwd=folder,
        env={**os.environ, "HOME": home, "PATH": path},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        printed = done.stdout + done.stderr
        raise (UnreachableError if any(word in printed for word in UNREACHABLE) else BrokenError)(
            printed.strip()
        )


def program(folder: Path, name: str) -> Path:
    """The program of a client; npm installs only the package for this system."""
    found = sorted(folder.glob(PROGRAMS[name]))
    if len(found) != 1:
        raise BrokenError(f"{name} is not in {folder}: there may be none for this system.")
    return found[0]


@contextlib.contextmanager
def one_at_a_time(place: Path) -> Iterator[None]:
    """A lock, so that parallel test workers do not install twice; the kernel frees it."""
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Exit with 0 also if the registry cannot be reached: the tests then skip."""
    try:
        print("\n".join(str(path) for path in ready()))
    except UnreachableError as error:
        print(f"The registry of npm cannot be reached:\n{error}", file=sys.stderr)
    except BrokenError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
