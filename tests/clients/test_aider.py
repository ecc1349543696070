"""aider has no hooks, so only git's check what it commits, if it is told to run them."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.runs import processes
from tests.clients.steps import OTHER, run
from tests.support import outside
from tests.support.clients import TIMEOUT_S
from tests.support.fake_models import FakeModels, Turn
from tests.support.git import git
from tools import aider

pytestmark = pytest.mark.slow

QUIET = (
    *("--yes-always", "--no-stream", "--no-pretty", "--no-fancy-input", "--no-gitignore"),
    *("--no-check-update", "--no-show-release-notes", "--no-show-model-warnings"),
    *("--analytics-disable", "--no-suggest-shell-commands", "--map-tokens", "0"),
    *("--edit-format", "whole", "--model", "openai/m"),
)
VERIFY = "--git-commit-verify"
CHANGE = "parser.py\n```\nchanged by aider\n```\n"


@pytest.fixture
def work(models: FakeModels, repo: Path) -> Callable[..., str]:
    """A session of aider as worker-1 that changes and commits parser.py; what it prints."""
    command = outside.need("the client aider", aider.ready)
    run("agent-init", "--hooks", "git", cwd=repo)
    (repo / "parser.py").write_text("as it was\n")
    git(repo, "add", "parser.py")
    git(repo, "commit", "-qm", "A parser")

    def session(*options: str) -> str:
        models.without_tools.add("one")
        models.script("one", Turn(CHANGE), Turn("parser: changed by aider"))
        where = ("--openai-api-base", f"{models.url}/v1", "--openai-api-key", "one")
        done = subprocess.run(
            [*command, *QUIET, *where, *options, "--message", "Change it.", "parser.py"],
            cwd=repo,
            env={**os.environ, "GHP_AGENT": "worker-1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        assert (repo / "parser.py").read_text() == "changed by aider\n", done.stdout + done.stderr
        return done.stdout + done.stderr

    return session


def test_a_run_of_agent_work_ends_with_a_pull_request_and_its_commit_has_its_agents_trailer(
    models: FakeModels, repo: Path, tmp_path: Path
) -> None:
    command = outside.need("the client aider", aider.ready)
    (repo / "parser.py").write_text("as it was\n")
    git(repo, "add", "parser.py")
    git(repo, "commit", "-qm", "A parser")
    run("agent-init", "--hooks", "git", cwd=repo)
    run("agent-issue", "new", "Change parser.py", "--as", "@me", cwd=repo)
    program = tmp_path / "bin/aider"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    program.chmod(0o755)
    models.without_tools.add("one")
    models.script("one", Turn(CHANGE), Turn("parser: changed by aider"))
    env = {
        **os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True", "GHP_BACKGROUND": "0", "OPENAI_API_KEY": "one",
    }  # fmt: skip
    work = ("agent-work", "--agent", "night", "--runner", "aider", "--once", "--tries", "1", "--")
    options = (*QUIET, VERIFY, "--openai-api-base", f"{models.url}/v1", "--file", "parser.py")
    done = subprocess.run(
        [sys.executable, "-m", "ghp_agents", *work, *options],
        cwd=repo, env=env, capture_output=True, text=True, timeout=TIMEOUT_S,
    )  # fmt: skip
    (kept,) = json.loads(run("agent-logs", "--json", cwd=repo))
    assert (kept["outcome"], kept["why"]) == ("finished", "pull request #2"), done.stderr
    assert processes.marked(kept["id"].removeprefix("R-")) == []
    commit = last(repo, kept["branch"])
    assert commit.startswith("parser: changed by aider")
    assert "Agent: night" in commit


def last(repo: Path, branch: str = "HEAD") -> str:
    return git(repo, "log", "-1", "--format=%B", branch).strip()


def test_its_commit_of_a_file_that_another_holds_is_refused_where_it_runs_gits_hooks(
    work: Callable[..., str], repo: Path
) -> None:
    run("agent-lease", "parser.py", cwd=repo, env=OTHER)
    said = work(VERIFY)
    assert last(repo) == "A parser"
    assert "worker-2" in said


def test_without_the_option_it_commits_past_the_check_as_our_pages_say_and_under_its_name(
    work: Callable[..., str], repo: Path
) -> None:
    run("agent-lease", "parser.py", cwd=repo, env=OTHER)
    work()
    assert last(repo).startswith("parser: changed by aider")
    assert "Agent: worker-1" in last(repo)  # git skips only the hooks that could refuse
