"""An agent with an issue brings its work to main by the queue, and not by git."""

from pathlib import Path

import pytest

from tests.support.ghp import invoke
from tests.support.git import commit, git, run_git

WORKER = {"GHP_AGENT": "worker-1"}
REFUSED = "worker-1 has an issue or a worktree of its own, so it does not move main itself."

pytestmark = pytest.mark.slow


@pytest.fixture
def place(repo: Path, tmp_path: Path) -> Path:
    """The worktree of worker-1, with a commit; git's guard is installed."""
    git(repo, "clone", "--quiet", "--bare", str(repo), str(tmp_path / "origin.git"))
    git(repo, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(repo, "fetch", "--quiet", "origin")
    assert invoke("agent-init --no-agents-md --hooks git", repo).code == 0
    assert invoke("agent-issue new Parse", repo).code == 0
    assert invoke("agent-start 1 --as worker-1", repo).code == 0
    top = Path(invoke("agent-where 1", repo).out.strip())
    commit(top, {"a.txt": "one\n"})
    return top


def tips(repo: Path) -> tuple[str, str]:
    return git(repo, "rev-parse", "main"), git(repo, "ls-remote", "origin", "main")[:40]


@pytest.mark.parametrize(
    "command",
    [
        ("commit", "--allow-empty", "-m", "On main"),
        ("merge", "--ff-only", "agent/worker-1/1-parse"),
        ("merge", "--no-ff", "--no-edit", "agent/worker-1/1-parse"),
        ("cherry-pick", "agent/worker-1/1-parse"),
        ("update-ref", "refs/heads/main", "agent/worker-1/1-parse"),
        ("branch", "--force", "main", "agent/worker-1/1-parse"),
        ("fetch", ".", "agent/worker-1/1-parse:main"),
        ("push", "origin", "agent/worker-1/1-parse:main"),
        ("push", "origin", ":main"),
    ],
)
def test_no_git_command_of_its_moves_main(
    repo: Path, place: Path, command: tuple[str, ...]
) -> None:
    if command[0] in ("branch", "fetch"):
        git(repo, "switch", "--quiet", "--detach")
    before = tips(repo)
    done = run_git(repo, *command, env=WORKER)
    assert (done.returncode != 0, REFUSED in done.stderr) == (True, True)
    assert tips(repo) == before


def test_in_its_worktree_it_needs_no_name(repo: Path, place: Path) -> None:
    before = tips(repo)
    done = run_git(place, "push", "origin", "HEAD:main")
    assert (done.returncode, REFUSED in done.stderr) == (1, True)
    assert tips(repo) == before
    assert run_git(place, "push", "origin", "HEAD").returncode == 0


def test_the_variable_of_a_trial_only_refuses(repo: Path, place: Path) -> None:
    before = tips(repo)
    empty = ("commit", "--allow-empty", "-m", "x")
    for top, command, why in (
        (place, empty, "GHP_TRIAL is set, so nothing was committed."),
        (repo, (*empty, "--no-verify"), REFUSED),
        (place, ("push", "origin", "HEAD:main"), REFUSED),
    ):
        done = run_git(top, *command, env=WORKER | {"GHP_TRIAL": "1"})
        assert (done.returncode != 0, why in done.stderr) == (True, True)
    assert tips(repo) == before


def test_the_queue_passes_and_so_does_what_it_merged(repo: Path, place: Path) -> None:
    assert invoke("agent-finish --as worker-1", place).code == 0
    merged = invoke("agent-merge 2 --unchecked --as worker-1", repo)
    assert merged.code == 0
    head = tips(repo)
    assert head[0] == head[1]
    git(repo, "reset", "--quiet", "--hard", "HEAD~1")
    invoke("agent-issue new More", repo)
    assert invoke("agent-claim 3 --as worker-1", repo).code == 0
    git(repo, "merge", "--quiet", "--ff-only", "origin/main", env=WORKER)  # as `git pull` does
    assert tips(repo) == head


def test_people_and_sessions_without_an_issue_work_on_main(repo: Path, place: Path) -> None:
    for env in ({}, {"GHP_AGENT": "worker-9"}):
        git(repo, "commit", "--quiet", "--allow-empty", "-m", "On main", env=env)
        git(repo, "push", "--quiet", "origin", "main", env=env)
    assert len(set(tips(repo))) == 1


def test_the_command_that_hooks_call_says_the_same(repo: Path, place: Path) -> None:
    head = git(place, "rev-parse", "HEAD")
    refused = invoke(f"agent-check --main {head} --as worker-1", repo)
    assert (refused.code, REFUSED in refused.err) == (3, True)
    assert invoke(f"agent-check --main {head} --as @me", repo).code == 0
