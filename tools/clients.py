"""Installs the coding agents that the tests in tests/clients drive: pinned, below .cache/clients.

`python -m tools.clients` prints their programs; each is installed when it is first asked for.
Nothing is installed globally, no script of a package is run, and npm's configured registry is used.
Commands of packages are wrappers that may install or start another process, so the programs inside
are started instead.
"""

import contextlib
import fcntl
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Client(NamedTuple):
    """A package of npm, and the one program in it, as a pattern; a script is run by node."""

    package: str
    version: str
    program: str
    node: bool = False  # whether it needs a newer Node.js than systems have: npm brings one


# npm's package `node` would run a script to get these.
NODE = f"node-{sys.platform}-{'arm64' if platform.machine() in ('arm64', 'aarch64') else 'x64'}"
NODE_VERSION = "22.23.3"
CLIENTS = {
    "claude": Client(
        "@anthropic-ai/claude-code", "2.1.329", "node_modules/@anthropic-ai/claude-code-*/claude"
    ),
    "codex": Client(
        "@openai/codex", "0.169.0", "node_modules/@openai/codex-*/vendor/*/bin/codex"
    ),
    "gemini": Client(
        "@google/gemini-cli", "0.61.0", "node_modules/@google/gemini-cli/bundle/gemini.js"
    ),
    # npm also installs the build for processors without AVX2, by the same name and a suffix.
    "opencode": Client(
        "opencode-ai", "1.18.33", "node_modules/opencode-*[46]/bin/opencode"
    ),
    "copilot": Client(
        "@github/copilot", "1.0.102", "node_modules/@github/copilot-*/copilot"
    ),
    "qwen": Client(
        "@qwen-code/qwen-code", "0.15.10", "node_modules/@qwen-code/qwen-code/cli.js"
    ),
    "pi": Client(
        "@earendil-works/pi-coding-agent", "1.6.0",
        "node_modules/@earendil-works/pi-coding-agent/dist/cli.js", node=True,
    ),
}  # fmt: skip
PLACE = Path(__file__).parents[1] / ".cache/clients"
# Fail within seconds if the registry cannot be reached; npm would try for a minute.
RETRIES = (
    "--fetch-retries=2",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=4000",
)
INSTALL_S = 300  # a registry that answers needs less than a minute
# npm's errors for an unreachable registry, as opposed to errors from a registry.
UNREACHABLE = (
    "CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_GET_ISSUER_CERT", "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND",
    "ERR_SOCKET_TIMEOUT", "ETIMEDOUT", "FETCH_ERROR",
)  # fmt: skip


class UnreachableError(Exception):
    """The package registry cannot be reached."""


class BrokenError(Exception):
    """The clients could not be installed for another reason."""


def ready(name: str, home: str | None = None) -> list[str]:
    """The command of a client, installed if it is missing; only one process installs.

    `home` is the folder with npm's configuration, if it is not HOME.
    """
    folder = PLACE / f"{name}-{CLIENTS[name].version}"
    if not folder.exists():
        PLACE.mkdir(parents=True, exist_ok=True)
        with one_at_a_time(PLACE):
            if not folder.exists():
                print(f"Installing {name} for the tests …", file=sys.stderr, flush=True)
                install(name, folder, home or os.environ.get("HOME", "/"))
    return command(name, folder)


def install(name: str, folder: Path, home: str) -> None:
    """Install atomically: the folder is renamed when it is complete."""
    unfinished = PLACE / "unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    (unfinished / "package.json").write_text('{"private": true}\n')
    client = CLIENTS[name]
    node = [f"{NODE}@{NODE_VERSION}"] if client.node else []
    npm(unfinished, home, [f"{client.package}@{client.version}", *node])
    command(name, unfinished)
    for other in PLACE.glob(f"{name}-*"):  # versions that were pinned before
        shutil.rmtree(other)
    unfinished.rename(folder)


def npm(folder: Path, home: str, packages: list[str], spare: Path | None = None) -> None:
    """Add packages to a folder with the user's npm, or else the one in the folder `spare`."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *([str(spare)] if spare else [])])
    program = shutil.which("npm", path=path)
    if program is None:
        raise BrokenError("npm is not on PATH. Install Node.js with npm, and run this again.")
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
    try:
        done = subprocess.run(
            [program, "install", "--prefix", folder, *quiet, *RETRIES, *packages],
            cwd=folder,
            env={**os.environ, "HOME": home, "PATH": path},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=INSTALL_S,
        )
    except subprocess.TimeoutExpired as error:
        raise UnreachableError(f"npm did not finish within {INSTALL_S} s: {packages[0]}") from error
    if done.returncode:
        printed = done.stdout + done.stderr
        raise (UnreachableError if any(word in printed for word in UNREACHABLE) else BrokenError)(
            printed.strip()
        )


def command(name: str, folder: Path) -> list[str]:
    """The command of a client; npm installs only the package for this system."""
    found = sorted(folder.glob(CLIENTS[name].program))
    if len(found) != 1:
        raise BrokenError(f"{name} is not in {folder}: there may be none for this system.")
    return [*([_node(folder)] if found[0].suffix == ".js" else []), str(found[0])]


def _node(folder: Path) -> str:
    """The Node.js that npm brought with a client, else the one on PATH."""
    brought = folder / "node_modules" / NODE / "bin/node"
    if brought.exists():
        return str(brought)
    program = shutil.which("node")
    if program is None:
        raise BrokenError("node is not on PATH. Install Node.js, and run this again.")
    return program


@contextlib.contextmanager
def one_at_a_time(place: Path) -> Iterator[None]:
    """A lock, so that parallel test workers do not install twice; the kernel frees it."""
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> int:
    """Exit with 0 also if the registry cannot be reached: the tests then skip."""
    try:
        for name in CLIENTS:
            print(" ".join(ready(name)))
    except UnreachableError as error:
        print(f"The registry of npm cannot be reached:\n{error}", file=sys.stderr)
    except BrokenError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
