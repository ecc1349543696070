"""What agents bring to main around git's guard is named; what people and the queue do, is not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.consent import mine
from tests.support.ghp import invoke
from tests.support.git import commit, git, run_git
from tests.support.hooks import call, payload, set_up

BARE = ("-c", "core.hooksPath=/dev/null")
BRANCH = "agent/worker-1/1-parse"

pytestmark = pytest.mark.slow


@pytest.fixture
def clone(repo: Path, tmp_path: Path) -> Path:
    """A clone with a remote, in use."""
    git(repo, "clone", "--quiet", "--bare", str(repo), str(tmp_path / "origin.git"))
    git(repo, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(repo, "fetch", "--quiet", "origin")
    return set_up(repo, None)


@pytest.fixture
def own(clone: Path, worktree: Callable[[Path, str], Path]) -> Path:
    """The worktree of worker-1."""
    return set_up(worktree(clone, "147"), "worker-1")


def warnings(repo: Path) -> list[str]:
    said = invoke("agent-status", repo).err.splitlines()
    return [line for line in said if "past the queue" in line]


def expected(*commits: tuple[str, str]) -> list[str]:
    words = ", ".join(f"{oid[:12]} «{subject}»" for oid, subject in commits)
    return [f"Warning: worker-1 brought commits to the default branch past the queue: {words}."]


def test_what_an_agent_moves_from_its_worktree_is_named(clone: Path, own: Path) -> None:
    git(clone, "switch", "--quiet", "--detach")
    named: list[tuple[str, str]] = []
    for number, way in enumerate(
        [
            ("push", "--no-verify", "origin", "HEAD:main"),
            (*BARE, "update-ref", "refs/heads/main", "HEAD"),
            (*BARE, "push", ".", "HEAD:main"),
        ]
    ):
        named.append((commit(own, {"a.txt": f"{number}\n"}, f"Work {number}"), f"Work {number}"))
        assert run_git(own, *way).returncode == 0
        assert sorted(warnings(clone)[0].split()) == sorted(expected(*named)[0].split())
    git(clone, "switch", "--quiet", "main")
    git(clone, "worktree", "remove", "--force", str(own))
    assert len(warnings(clone)) == 1, "it outlives its traces"
    git(clone, "reset", "--quiet", "--hard", "origin/main")
    assert warnings(clone) == expected(named[0]), "the others are gone from main"


def test_a_commit_under_an_agents_name_is_named_by_the_doctor_too(clone: Path, own: Path) -> None:
    git(clone, *BARE, "-c", "user.name=worker-1", "commit", "--quiet", "--allow-empty", "-m", "One")
    named = expected((git(clone, "rev-parse", "HEAD"), "One"))
    assert warnings(clone) == named
    assert named[0].removeprefix("Warning: ") in invoke("agent-doctor", clone).out


def test_what_a_clients_hook_saw_an_agent_do_is_named(clone: Path, own: Path) -> None:
    def step(line: str) -> None:
        message = payload("claude-PostToolBatch", own)
        call_ = {"tool_name": "Bash", "tool_input": {"command": line}, "tool_response": ""}
        message["tool_calls"] = [call_]
        call("claude", message, own)

    step("git status")
    git(clone, "commit", "--quiet", "--allow-empty", "-m", "By the person")
    step("git commit -m Work")  # in its own worktree
    assert warnings(clone) == []
    line = "git -c core.hooksPath=/dev/null commit --allow-empty -m Two"
    git(clone, *line.split()[1:])
    step(f"cd {clone} && {line}")
    assert "«Two»" in warnings(clone)[0]


def test_what_an_agent_pushes_from_a_worktree_without_its_name_is_named(
    clone: Path, worktree: Callable[[Path, str], Path]
) -> None:
    other = worktree(clone, "9")  # as clients make them
    env = {"GHP_AGENT": "worker-2"}
    assert invoke("agent-issue new Parse", clone).code == 0
    assert invoke("agent-claim 1 --as worker-2", other).code == 0

    def step(line: str) -> None:
        message = payload("claude-PostToolBatch", other)
        call_ = {"tool_name": "Bash", "tool_input": {"command": line}, "tool_response": ""}
        message["tool_calls"] = [call_]
        call("claude", message, other, env)

    step("git status")
    git(other, "commit", "--quiet", "--allow-empty", "-m", "Three")
    git(other, "push", "--quiet", "--no-verify", "origin", "HEAD")
    step("git commit -m Three && git push origin HEAD")
    assert warnings(clone) == []
    git(other, "push", "--quiet", "--no-verify", "origin", "HEAD:main")
    step("git push --no-verify origin HEAD:main")
    assert "worker-2 brought" in warnings(clone)[0]


def test_people_the_queue_and_a_host_are_not_named(repo: Path, clone: Path, tmp_path: Path) -> None:
    assert invoke("agent-issue new Parse", repo).code == 0
    assert invoke("agent-start 1 --as worker-1", repo).code == 0
    place = Path(invoke("agent-where 1", repo).out.strip())
    commit(place, {"a.txt": "1\n"}, "One")
    git(repo, "merge", "--quiet", "--ff-only", BRANCH)  # a person merges by hand
    git(repo, "push", "--quiet", "origin", "main")
    commit(place, {"b.txt": "1\n"}, "Two")
    git(repo, "merge", "--quiet", "--no-ff", "--no-edit", BRANCH)
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "Mine")
    git(repo, "push", "--quiet", "origin", "main")
    git(place, "merge", "--quiet", "main")
    head = commit(place, {"c.txt": "1\n"}, "Three")
    mine({"agents": {"mergeMethod": "rebase"}})
    assert invoke("agent-finish --as worker-1", place).code == 0
    assert invoke("agent-merge 2 --unchecked --as worker-1", repo).code == 0
    assert git(repo, "rev-parse", "main") == head, "the queue moved main to the agent's commit"
    git(tmp_path, "clone", "--quiet", str(tmp_path / "origin.git"), "host")
    host = tmp_path / "host"
    git(host, "commit", "--quiet", "--allow-empty", "-m", "Four (#3)\n\nAgent: worker-1")
    git(host, "push", "--quiet", "origin", "main")
    git(repo, "pull", "--quiet", "origin", "main")
    assert warnings(repo) == []
