"""What only Gemini CLI has: a shell with overrides that switch git's hooks and remotes off."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.steps import OTHER, edit, look, run, set_up, shell, start
from tests.clients.test_permissions import Other
from tests.clients.test_work import KEY
from tests.support.client_starts import GEMINI_TRUST
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


def test_a_run_works_guarded_in_a_worktree_that_nobody_trusted(bench: Bench, repo: Path) -> None:
    commit(repo, {"src/parser.py": "old\n"}, "Files")
    run("agent-init", "--hooks", "gemini", cwd=repo)
    run("agent-lease", "src/", cwd=repo, env=OTHER)
    other = Other(bench, repo, "gemini")
    bench.models.script(
        KEY,
        lambda _: Turn(calls=[edit("gemini", other.tree() / "src/parser.py", "mine")]),
        lambda _: Turn(calls=[edit("gemini", other.tree() / "new.py", "new")]),
        Turn("I stop."),
    )
    _, lines = other.work("--once", "--tries", "1")
    other.shift.end_all()
    assert "does not trust" not in lines
    assert "src/parser.py is leased by worker-2" in bench.models.said(KEY), lines
    assert (other.tree() / "src/parser.py").read_text() == "old\n"
    assert (other.tree() / "new.py").exists()


def test_where_nobody_trusts_the_folder_a_start_and_the_doctor_say_that_no_hook_runs(
    bench: Bench, repo: Path
) -> None:
    run("agent-init", "--hooks", "gemini", cwd=repo)
    run("agent-issue", "new", "Parse tabs", cwd=repo)
    started = invoke(["agent-start", "1", "--as", "w1"], repo)
    assert "Warning: Gemini CLI does not trust " in started.err
    doctor = invoke(["agent-doctor"], repo).out
    assert f"Gemini CLI does not trust {repo}: it runs none of the hooks" in doctor
    assert "Gemini CLI has hooks" not in doctor
    (bench.home / ".gemini").mkdir(exist_ok=True)
    (bench.home / GEMINI_TRUST).write_text("{}")
    ended = end(start(bench, "gemini", repo, "one"))
    assert (ended.code, "not running in a trusted directory" in ended.err) == (55, True)
