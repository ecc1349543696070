"""A temporary folder for measurements: its own home, the installed wheel, repositories."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bench import installing
from ghp_agents.wiring import App
from tests.support import guard

GIT_CONFIG = (
    "[user]\n\tname = Bench\n\temail = bench@example.invalid\n[init]\n\tdefaultBranch = main\n"
)


@dataclass(frozen=True)
class Place:
    """A temporary folder, and what all rows share in it."""

    folder: Path
    quick: bool  # fewer rounds and smaller numbers: a smoke test that proves no bound

    @cached_property
    def installed(self) -> installing.Installed:
        """The program as users have it: its wheel in its own environment."""
        self.say("building the wheel and installing it into an environment of its own …")
        return installing.install(self.folder / "installed")

    def say(self, text: str) -> None:
        """Print progress to standard error."""
        print(text, file=sys.stderr, flush=True)

    def new(self, name: str) -> Path:
        """A new folder."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))

    def repository(self, name: str) -> Path:
        """A repository with one commit and no remote."""
        path = self.new(name) / "project"
        git(self.folder, "init", "-q", str(path))
        (path / "README.md").write_text("# A project\n")
        git(path, "add", "README.md")
        git(path, "commit", "-q", "-m", "Begin")
        return path

    def remote(self, name: str, *, delay: float = 0.0) -> Path:
        """A bare repository; each push to it takes `delay` seconds longer."""
        source = self.repository(name)
        bare = source.parent / "remote.git"
        git(self.folder, "clone", "-q", "--bare", str(source), str(bare))
        if delay:
            hook = bare / "hooks/pre-receive"
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(f"#!/bin/sh\nsleep {delay}\n")
            hook.chmod(0o755)
        return bare

    def clones(self, remote: Path, number: int) -> list[Path]:
        """Clones of `remote`."""
        paths = [remote.parent / f"clone-{index + 1}" for index in range(number)]
        for path in paths:
            git(remote.parent, "clone", "-q", str(remote), str(path))
        return paths


@contextlib.contextmanager
def temporary(*, quick: bool) -> Iterator[Place]:
    """A place; in this block, this process and its children have a clean environment."""
    before = dict(os.environ)
    folder = Path(tempfile.mkdtemp(prefix="ghp-bench-")).resolve()
    try:
        os.environ.clear()
        os.environ.update(_environment(folder / "home", before))
        yield Place(folder, quick)
    finally:
        os.environ.clear()
        os.environ.update(before)
        shutil.rmtree(folder, ignore_errors=True)


def _environment(home: Path, before: Mapping[str, str]) -> dict[str, str]:
    home.mkdir()
    (home / ".gitconfig").write_text(GIT_CONFIG)
    # As started by a person: no agent's session, no user settings, no background processes except
    # those that a row starts itself.
    return {
        "PATH": before.get("PATH", os.defpath),
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GHP_ANCESTORS": "0",
        "GHP_BACKGROUND": "0",
        guard.RUN: str(home.parent),  # the stand-in for GitHub keeps its templates there
    }


def open_app(cwd: Path, name: str | None = None) -> App:
    """The app for a command in `cwd`, in this process."""
    return App(cwd, dict(os.environ), name=name)


def git(cwd: Path, *args: str) -> str:
    """Git's output without the last newline."""
    done = subprocess.run(["git", *args], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"git {' '.join(args)} in {cwd}: {done.stderr}")
    return done.stdout.rstrip("\n")


def size(folder: Path) -> tuple[int, int]:
    """The bytes in all files below `folder`, and the disk space of files and folders."""
    content, blocks = 0, 0
    for path in folder.rglob("*"):
        status = path.lstat()
        content += 0 if path.is_dir() else status.st_size
        blocks += status.st_blocks * 512
    return content, blocks
