"""What only Gemini CLI has: a shell with overrides that switch git's hooks and remotes off."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.steps import OTHER, look, run, set_up, shell, start
from tests.support.clients import Bench, end, ghp
from tests.support.fake_models import Turn
from tests.support.ghp import invoke
from tests.support.git import commit, git

pytestmark = pytest.mark.slow


def test_a_commit_of_a_leased_file_passes_in_its_shell_and_is_told_right_after(
    bench: Bench, repo: Path
) -> None:
    commit(repo, {"src/parser.py": "old\n"}, "Files")
    set_up(bench, repo, "gemini,git")
    run("agent-lease", "src/", cwd=repo, env=OTHER)
    git(repo, "config", "user.name", "Test Person")  # it hides the user's own file, too
    git(repo, "config", "user.email", "person@example.invalid")
    before = git(repo, "rev-parse", "HEAD")
    bench.models.script(
        "one",
        Turn(calls=[shell("gemini", "echo new > src/parser.py && git commit -qam Mine")]),
        Turn(calls=[look("gemini", repo)]),
    )
    assert end(start(bench, "gemini", repo, "one")).code == 0
    assert git(repo, "rev-parse", "HEAD^") == before
    told = "Your command changed files that others hold or have changed:\nsrc/parser.py is leased"
    _, after, last = (each.said for each in bench.models.requests("one"))
    assert told in after
    assert last.count(told) == 1


def test_our_commands_in_its_shell_reach_the_remote_as_the_user_reaches_it(
    bench: Bench, clones: Callable[[int], list[Path]], home: Path
) -> None:
    here, there = clones(2)
    ssh = home / "ssh.py"
    ssh.write_text("import os, sys\nos.execvp('sh', ['sh', '-c', sys.argv[-1]])\n")
    git(here, "config", "--global", "core.sshCommand", f"{sys.executable} {ssh}")
    git(
        here, "remote", "set-url", "origin", f"ssh://host{git(here, 'remote', 'get-url', 'origin')}"
    )
    set_up(bench, here, "gemini")
    run("agent-issue", "new", "Parse tabs", cwd=here)
    bench.models.script("one", Turn(calls=[shell("gemini", ghp("agent-claim", "1", "> out.txt"))]))
    assert end(start(bench, "gemini", here, "one")).code == 0
    assert (here / "out.txt").read_text() == "1\n", bench.models.said("one")[-2000:]
    refused = invoke(["agent-claim", "1"], there, {"GHP_AGENT": "worker-3"})
    assert refused.code == 3
    assert "worker-1" in refused.err
