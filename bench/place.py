"""A temporary place to measure in: a home of its own, the installed wheel, repositories."""

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

GIT_CONFIG = (
    "[user]\n\tname = Bench\n\temail = bench@example.invalid\n[init]\n\tdefaultBranch = main\n"
)


@dataclass(frozen=True)
class Place:
    """A folder that is taken away at the end, and what is made in it once for all rows."""

    folder: Path
    quick: bool  # fewer rounds and smaller numbers: shows that all runs, proves no bound

    @cached_property
    def installed(self) -> installing.Installed:
        """The program as its users have it: its wheel in an environment of its own."""
        self.say("building the wheel and installing it into an environment of its own …")
        return installing.install(self.folder / "installed")

    def say(self, text: str) -> None:
        """Progress, for whoever waits."""
        print(text, file=sys.stderr, flush=True)

    def new(self, name: str) -> Path:
        """A folder that was not there before."""
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
        """A bare repository, each push to which takes `delay` seconds longer."""
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
    """A place; meanwhile this process and all it starts have an environment of their own."""
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
    # Started by a person: no session of an agent, no settings of theirs, no background processes
    # beside those that a row starts itself.
    return {
        "PATH": before.get("PATH", os.defpath),
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GHP_BACKGROUND": "0",
    }


def open_app(cwd: Path, name: str | None = None) -> App:
    """The program's parts for one command in `cwd`, in this process."""
    return App(cwd, dict(os.environ), name=name)


def git(cwd: Path, *args: str) -> str:
    """What git prints, without the last line end."""
    done = subprocess.run(["git", *args], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"git {' '.join(args)} in {cwd}: {done.stderr}")
    return done.stdout.rstrip("\n")


def size(folder: Path) -> tuple[int, int]:
    """The bytes in all files below `folder`, and what they and the folders take on the disk."""
    content, blocks = 0, 0
    for path in folder.rglob("*"):
        status = path.lstat()
        content += 0 if path.is_dir() else status.st_size
        blocks += status.st_blocks * 512
    return content, blocks
