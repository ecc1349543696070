"""Programs that manage git's hooks take our guard away; the next hook or command puts it back."""

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ghp_agents.hotpath.locate import guard_is_current
from ghp_agents.workspace import open_workspace
from tests.support import outside
from tests.support.ghp import invoke
from tests.support.git import commit, git, run_git
from tests.support.hooks import call, payload
from tests.support.hosts import executable
from tools import hook_programs
from tools.hook_programs import HookPrograms

pytestmark = pytest.mark.slow

OTHER = {"GHP_AGENT": "worker-2"}
OWN = "echo own >>own.log"
# The files of a project, and how its people install its hooks.
PROJECTS: dict[str, tuple[dict[str, str], Callable[[HookPrograms], Sequence[str]]]] = {
    "husky": (
        {".husky/pre-commit": f"{OWN}\n", "package.json": "{}\n"},
        lambda programs: programs.husky,
    ),
    "lefthook": (
        {"lefthook.yml": f"pre-commit:\n  commands: {{own: {{run: {OWN}}}}}\n"},
        lambda programs: [*programs.lefthook, "install"],
    ),
    "pre-commit": (
        {
            ".pre-commit-config.yaml": "repos: [{repo: local, hooks: [{id: own, name: own, "
            f"language: system, always_run: true, entry: sh -c '{OWN}'}}]}}]\n"
        },
        lambda programs: [*programs.framework, "install", "--overwrite"],
    ),
}


@pytest.fixture
def guarded(repo: Path) -> Path:
    """A repository with git's guard, where worker-1 leased leased.txt."""
    assert invoke("agent-init --no-agents-md --hooks git", repo).code == 0
    assert invoke("agent-lease leased.txt --as worker-1", repo).code == 0
    return repo


def is_refused(top: Path) -> bool:
    """Whether worker-2 may not commit what worker-1 leased."""
    (top / "leased.txt").write_text("2\n")
    git(top, "add", "leased.txt")
    done = run_git(top, "commit", "-qm", "Two", env=OTHER)
    git(top, "reset", "--quiet", *(() if done.returncode else ("--hard", "HEAD^")))
    assert done.returncode == 0 or "leased.txt is leased by worker-1" in done.stderr, done.stderr
    return done.returncode != 0


@pytest.mark.parametrize("name", PROJECTS)
def test_the_guard_comes_back_beside_the_hooks_of_the_project(
    guarded: Path, name: str, worktree: Callable[[Path, str], Path]
) -> None:
    programs = outside.need("programs for git's hooks", hook_programs.ready)
    files, command = PROJECTS[name]
    commit(guarded, {**files, ".gitignore": "own.log\n"})
    path = os.pathsep.join([str(Path(programs.lefthook[0]).parent), os.environ["PATH"]])
    installed = subprocess.run(
        command(programs), cwd=guarded, capture_output=True, env={**os.environ, "PATH": path}
    )
    assert installed.returncode == 0, installed.stderr
    assert not guard_is_current(str(guarded / ".git"), os.environ)
    said = invoke("agent-whoami --as worker-2", guarded).err
    assert "Another program changed git's hooks." in said
    top = worktree(guarded, "147")
    assert is_refused(top)
    (top / "free.txt").write_text("1\n")
    git(top, "add", "free.txt")
    made = run_git(top, "commit", "-qm", "Mine", env={**OTHER, "PATH": path})
    assert made.returncode == 0, made.stderr
    assert (top / "own.log").read_text().startswith("own\n"), "the project's hook runs, too"
    assert git(top, "log", "-1", "--format=%B").endswith("\n\nAgent: worker-2")
    assert git(guarded, "status", "--porcelain", "--untracked-files=no") == ""
    assert guard_is_current(str(guarded / ".git"), os.environ), "and the next look costs nothing"


def test_hooks_of_clients_and_heartbeats_put_it_back_and_say_it(guarded: Path) -> None:
    for name in ("SessionStart-startup", "UserPromptSubmit", "PostToolBatch", "heartbeat"):
        (guarded / ".git/hooks/pre-commit").write_text("#!/bin/sh\nexit 0\n")
        if name == "heartbeat":
            said = invoke("agent-heartbeat --status testing --as worker-2", guarded).err
        else:
            message = payload(f"claude-{name}", guarded)
            said = call("claude", message, guarded, OTHER).out.decode()
        assert "changed git's hooks. Put a block into .git/hooks/pre-commit." in said, name
    assert is_refused(guarded)


def test_a_hooks_path_of_one_worktree_is_no_way_around_the_guard(
    guarded: Path, worktree: Callable[[Path, str], Path]
) -> None:
    top = worktree(guarded, "147")
    git(guarded, "config", "extensions.worktreeConfig", "true")
    before = (guarded / ".git/config").read_bytes()
    git(top, "config", "--worktree", "core.hooksPath", "/dev/null")
    own = Path(git(top, "rev-parse", "--git-dir"), "config.worktree")
    theirs = own.read_bytes()
    assert "config.worktree, which names that folder" in invoke("agent-status", top).err
    assert is_refused(top)
    assert is_refused(guarded)
    assert "Put" not in invoke("agent-init --no-agents-md --hooks git", top).err
    assert invoke("agent-init --no-agents-md --hooks git --remove", guarded).code == 0
    assert (own.read_bytes(), (guarded / ".git/config").read_bytes()) == (theirs, before)


def test_where_nobody_installed_the_guard_nothing_is_put_anywhere(repo: Path) -> None:
    assert guard_is_current(str(repo / ".git"), os.environ)
    assert invoke("agent-init --no-agents-md --hooks git", repo).code == 0
    assert invoke("agent-init --no-agents-md --hooks git --remove", repo).code == 0
    hook = executable(repo / ".git/hooks/pre-commit", "exit 0\n")
    before = hook.read_bytes()
    invoke("agent-status", repo)
    assert hook.read_bytes() == before


def test_a_hook_that_cannot_be_put_back_ends_no_command(guarded: Path) -> None:
    hook = guarded / ".git/hooks/pre-commit"
    hook.unlink()
    hook.symlink_to("elsewhere")
    (guarded / ".git/hooks/pre-commit.before-ghp-agents").write_text("in the way")
    assert invoke("agent-status", guarded).code == 0
    log = guarded / ".git/ghp/log.jsonl"
    assert "already exists" in log.read_text()
    assert not guard_is_current(str(guarded / ".git"), open_workspace(guarded, {}).environ)
