"""The doctor on this machine: git and the repository."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.core.finding import Finding, error, ok
from ghp_agents.doctor import machine_checks as machine
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock


def at(folder: Path, name: str | None = "worker-1", **environ: str) -> Workspace:
    return open_workspace(folder, {**os.environ, **environ}, ManualClock(), name)


def one(findings: Iterator[Finding]) -> Finding:
    (finding,) = findings
    return finding


def test_a_git_that_is_too_old_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\necho git version 2.30.9\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert one(machine.check_git()) == error(
        "git", "git 2.30.9 is too old.", "Install git 2.31 or newer."
    )


def test_the_kind_of_repository_is_told(repo: Path, remote: Path) -> None:
    assert one(machine.check_repository(at(repo))) == ok("repository", f"{repo}: main worktree")
    assert one(machine.check_repository(at(remote))) == ok("repository", f"{remote}: bare")
