"""What the project offers to users of pre-commit stops a commit by a decision and nothing else."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.ghp import run_ghp
from tests.support.git import git
from tests.support.house import CHECKOUT

(HOOK,) = yaml.safe_load((CHECKOUT / ".pre-commit-hooks.yaml").read_text())


def enter(folder: Path, agent: str) -> "subprocess.CompletedProcess[str]":
    """Run the hook's command as pre-commit does: split like a shell's line, in an environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        shlex.split(HOOK["entry"]),
        cwd=folder,
        env={**os.environ, "PATH": path, "GHP_AGENT": agent},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_a_commit_of_a_file_that_another_agent_holds_is_stopped(repo: Path) -> None:
    run_ghp(["agent-lease", "parser.py", "--reason", "the grammar"], repo, {"GHP_AGENT": "one"})
    (repo / "parser.py").write_text("parse\n")
    git(repo, "add", "parser.py")
    refused = enter(repo, "two")
    assert refused.returncode == 1
    assert "parser.py is leased by one" in refused.stdout + refused.stderr
    assert enter(repo, "one").returncode == 0


@pytest.mark.slow
def test_a_check_that_cannot_be_made_stops_nothing(tmp_path: Path) -> None:
    assert enter(tmp_path, "one").returncode == 0


def test_pre_commit_runs_it_once_for_each_commit() -> None:
    assert (HOOK["language"], HOOK["stages"]) == ("python", ["pre-commit"])
    assert (HOOK["pass_filenames"], HOOK["always_run"]) == (False, True)
