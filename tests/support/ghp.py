"""The program itself, as its users start it, and in this process where a test makes many calls."""

import contextlib
import io
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from ghp_agents.ports import Clock
from tests.support import fork_server

CHECKOUT = Path(__file__).parents[2]


class Result(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def run_ghp(
    args: str | Sequence[str],
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    timeout: float = 60,
) -> Result:
    """`ghp ARGS` in a process of its own; `env` is put over the environment."""
    done = fork_server.run(_words(args), cwd, env, stdin.encode(), timeout)
    return Result(done.returncode, *(stream.decode() for stream in (done.stdout, done.stderr)))


def start(where: Path, args: str, env: Mapping[str, str]) -> subprocess.Popen[str]:
    """A command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "ghp_agents", *args.split()],
        cwd=where,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def invoke(
    args: str | Sequence[str],
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    clock: Clock | None = None,
) -> Result:
    """`ghp ARGS` in this process: ten times as fast, for tests of what a command does."""
    from ghp_agents.cli.app import run
    from ghp_agents.sync import push_now
    from ghp_agents.wiring import App

    streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8") for name in ("stdout", "stderr")}
    streams["stdin"] = io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")
    with contextlib.chdir(cwd), pytest.MonkeyPatch.context() as patch:
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        patch.setattr(push_now, "SPAWN_PAUSE", 0.0)  # hosts want pauses, a folder needs none
        code = run(_words(args), App(cwd, os.environ, clock=clock) if clock else None)
    done = Result(code, _written(streams["stdout"]), _written(streams["stderr"]))
    if "--json" in args:
        from tests.support.schemas import check_output

        check_output(_words(args), done.out)
    return done


def succeed(cwd: Path, *lines: str, clock: Clock | None = None) -> None:
    """Commands that must end with 0."""
    for line in lines:
        done = invoke(line, cwd, clock=clock)
        assert done.code == 0, (line, done)


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def _words(args: str | Sequence[str]) -> list[str]:
    return shlex.split(args) if isinstance(args, str) else list(args)
