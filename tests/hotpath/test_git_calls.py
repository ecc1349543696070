"""Git commands that run at once, and end in time."""

import os
from pathlib import Path
from time import monotonic

import pytest

from ghp_agents.hotpath.git_calls import GitCall, SlowGitError, in_worktree, run_all
from tests.support.git import git


def test_each_command_has_its_code_and_output(repo: Path) -> None:
    words = (("rev-parse", "HEAD"), ("rev-parse", "--verify", "-q", "none"), ("version",))
    calls = [in_worktree(str(repo), os.environ, *args) for args in words]
    head, none, version = run_all(calls, monotonic() + 60)
    assert head == (0, git(repo, "rev-parse", "HEAD").encode() + b"\n")
    assert none == (1, b"")
    assert version[1].startswith(b"git version")
    assert run_all([], 0.0) == []


def test_large_outputs_of_several_commands_are_read(repo: Path) -> None:
    (repo / "large").write_bytes(b"x" * 1_000_000)
    oid = git(repo, "hash-object", "-w", "large")
    calls = [in_worktree(str(repo), os.environ, "cat-file", "blob", oid)] * 3
    assert [len(out) for _, out in run_all(calls, monotonic() + 60)] == [1_000_000] * 3


def test_variables_of_a_hook_name_no_other_repository(repo: Path, tmp_path: Path) -> None:
    env = os.environ | {"GIT_DIR": str(tmp_path), "GIT_INDEX_FILE": "/nowhere"}
    ((code, out),) = run_all(
        [in_worktree(str(repo), env, "rev-parse", "--show-toplevel")], monotonic() + 60
    )
    assert (code, out) == (0, f"{repo}\n".encode())


def test_what_takes_too_long_is_killed(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "git").write_text('#!/bin/sh\necho $$ > "$PLACE"\nexec sleep 60\n')
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    env = os.environ | {"PLACE": str(tmp_path / "pid")}
    with pytest.raises(SlowGitError):
        run_all([GitCall(("x",), env)] * 2, monotonic() + 0.5)
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_an_impossible_argument_is_an_error_of_the_system(repo: Path) -> None:
    with pytest.raises(OSError, match="null"):
        run_all([GitCall(("a\0b",), os.environ)], monotonic() + 60)
