"""Installs the coding agents that the tests in tests/clients drive: pinned, below .cache/clients.

`python -m tools.clients` says where they are. Nothing is installed globally and no script of a
package is run; the registry is whatever npm is set to. What the packages call their commands are
wrappers that need a certain node, so the programs inside are started instead.
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
# A registry that cannot be reached is to be told in seconds; npm would try for a minute.
PATIENCE = ("--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=4000")
PROGRAMS = {
    "claude": "node_modules/@anthropic-ai/claude-code-*/claude",
    "codex": "node_modules/@openai/codex-*/vendor/*/bin/codex",
}
# What npm says when there is no way to the registry, as opposed to what a registry answers.
UNREACHABLE = (
    "CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_GET_ISSUER_CERT", "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND",
    "ERR_SOCKET_TIMEOUT", "ETIMEDOUT", "FETCH_ERROR",
)  # fmt: skip


class Clients(NamedTuple):
    """The programs themselves."""

    claude: Path
    codex: Path


class UnreachableError(Exception):
    """The registry of packages cannot be reached from here."""


class BrokenError(Exception):
    """The clients could not be installed for a reason that somebody has to look at."""


def ready(home: str | None = None) -> Clients:
    """The clients, installed if they are not there yet; only one process installs.

    `home` is where npm finds its configuration, if that is not what HOME says.
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
    """All or nothing: the folder gets its name when it is complete."""
    unfinished = PLACE / "unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    (unfinished / "package.json").write_text('{"private": true}\n')
    npm(unfinished, home, [f"{name}@{version}" for name, version in PACKAGES.items()])
    for name in PROGRAMS:
        program(unfinished, name)
    for other in PLACE.iterdir():  # clients of versions that were pinned before
        if other.is_dir() and other != unfinished:
            shutil.rmtree(other)
    unfinished.rename(folder)


def npm(folder: Path, home: str, packages: list[str], spare: Path | None = None) -> None:
    """Add packages to a folder by the user's npm, which knows how to reach the registry; where
    there is none, by the one in the folder `spare`."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *([str(spare)] if spare else [])])
    program = shutil.which("npm", path=path)
    if program is None:
        raise BrokenError("npm is not on PATH. Install Node.js with npm, and run this again.")
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
    done = subprocess.run(
        [program, "install", "--prefix", folder, *quiet, *PATIENCE, *packages],
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
    """The program of a client; the package for this system is the only one that was installed."""
    found = sorted(folder.glob(PROGRAMS[name]))
    if len(found) != 1:
        raise BrokenError(f"{name} is not in {folder}: there may be none for this system.")
    return found[0]


@contextlib.contextmanager
def one_at_a_time(place: Path) -> Iterator[None]:
    """Test workers that start together must not install twice; the kernel frees the lock."""
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Exit code 0 also where the registry is out of reach: the tests then say that they skip."""
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
