"""`agent-where` finds the worktree of an issue by its branch."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ghp import Result, invoke, succeed
from tests.support.git import git

MakeWorktree = Callable[[Path, str], Path]
MISSING = Result(
    1,
    "",
    "Error: Issue #1 has no worktree in this clone.\n"
    "Hint: Create one: `ghp agent-start 1 --as NAME`.\n",
)


@pytest.mark.parametrize("number", ["12", "#12"])
def test_it_prints_the_path_of_the_worktree(
    repo: Path, worktree: MakeWorktree, number: str
) -> None:
    worktree(repo, "worker-1/1-lexer")
    path = worktree(repo, "worker-1/12-parser")
    assert invoke(["agent-where", number], repo) == Result(0, f"{path}\n", "")
    assert invoke(["agent-where", number], path) == Result(0, f"{path}\n", "")


def test_as_json_it_prints_the_branch_too(repo: Path, worktree: MakeWorktree) -> None:
    path = worktree(repo, "worker-1/12-parser")
    result = invoke("agent-where 12 --json", repo)
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out) == {
        "schemaVersion": 1, "issue": 12, "path": str(path), "branch": "agent/worker-1/12-parser",
    }  # fmt: skip


def test_without_a_worktree_it_names_the_command_that_makes_one(
    repo: Path, worktree: MakeWorktree
) -> None:
    invoke("agent-issue new 'Parse the input'", repo)
    assert invoke("agent-where 1", repo) == MISSING
    place = worktree(repo, "worker-1/1-parser")
    shutil.rmtree(place)
    assert invoke("agent-where 1 --json", repo).err == (
        f"Error: The folder of the worktree {place} is missing.\n"
        "Hint: Create it again, with what was committed: `ghp agent-start 1 --as NAME`.\n"
    )


def test_an_issue_that_nobody_created_is_named(repo: Path) -> None:
    result = invoke("agent-where 12", repo)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("Error: There is no issue 12.\nHint: ")


def test_it_prints_the_path_of_an_agents_worktree(repo: Path, worktree: MakeWorktree) -> None:
    path = worktree(repo, "worker-1/12-parser")
    assert invoke("agent-whoami --set worker-1", path).code == 0
    assert invoke("agent-where worker-1", repo) == Result(0, f"{path}\n", "")
    assert json.loads(invoke("agent-where worker-1 --json", repo).out) == {
        "schemaVersion": 1,
        "agent": "worker-1", "issue": 12, "path": str(path), "branch": "agent/worker-1/12-parser",
    }  # fmt: skip


def test_of_an_agent_without_a_worktree_it_says_how_it_gets_one(repo: Path) -> None:
    assert invoke("agent-where worker-1", repo) == Result(
        1,
        "",
        "Error: worker-1 has no worktree in this clone.\n"
        "Hint: Start on an issue as worker-1: `ghp agent-start --next --as worker-1`, or name it "
        "in its worktree: `ghp agent-whoami --set worker-1`.\n",
    )


@pytest.mark.slow
def test_of_what_is_in_another_clone_it_says_who_has_it(
    clones: Callable[[int], list[Path]],
) -> None:
    here, there = clones(2)
    invoke("agent-issue new 'Parse the input'", here)
    invoke("agent-sync", here)
    assert invoke("agent-claim 1 --as worker-2", there).code == 0
    invoke("agent-sync", there)
    invoke("agent-sync", here)
    hint = "Hint: worker-2 works in another clone: `ghp agent-status worker-2`.\n"
    assert invoke("agent-where 1", here) == Result(
        1, "", f"Error: Issue #1 has no worktree in this clone.\n{hint}"
    )
    assert invoke("agent-where worker-2", here) == Result(
        1, "", f"Error: worker-2 has no worktree in this clone.\n{hint}"
    )


DETACHED = "No branch is checked out there (detached HEAD)."


@pytest.mark.parametrize("name", [[], ["agent-whoami --set worker-1"]])
def test_in_a_plain_checkout_on_no_branch_it_finds_the_holder(repo: Path, name: list[str]) -> None:
    git(repo, "checkout", "-q", "--detach")
    succeed(repo, "agent-issue new Parse", "agent-claim 1 --as worker-1", *name)
    there = Result(0, f"{repo}\n", f"{DETACHED} `git switch main` there goes back.\n")
    assert invoke("agent-where 1", repo) == invoke("agent-where worker-1", repo) == there
    git(repo, "switch", "-q", "main")
    assert invoke("agent-where 1", repo) == Result(0, f"{repo}\n", "")


def test_a_worktree_that_left_the_branch_of_its_issue_is_still_the_issues(
    repo: Path, worktree: MakeWorktree
) -> None:
    place = worktree(repo, "worker-1/1-parse")
    git(repo, "checkout", "-q", "--detach")
    succeed(place, "agent-issue new Parse", "agent-whoami --set worker-1")
    git(place, "switch", "-q", "agent/worker-1/1-parse")
    git(place, "checkout", "-q", "--detach")
    back = "`git switch agent/worker-1/1-parse` there goes back."
    assert invoke("agent-where 1", repo) == Result(0, f"{place}\n", f"{DETACHED} {back}\n")
    assert json.loads(invoke("agent-where 1 --json", repo).out)["branch"] is None


def test_a_holder_that_works_for_another_issue_or_in_no_worktree_is_not_shown(
    repo: Path, worktree: MakeWorktree
) -> None:
    place = worktree(repo, "worker-1/2-print")
    succeed(place, "agent-issue new Parse", "agent-whoami --set worker-1", "agent-claim 1")
    assert "`ghp agent-start 1 --as worker-1`" in invoke("agent-where 1", repo).err
    succeed(repo, "agent-issue new Print", "agent-claim 2 --as @me", "agent-issue close 1 --as @me")
    assert "It is closed: `ghp agent-issue show 1`." in invoke("agent-where 1", repo).err
    git(place, "switch", "-q", "-c", "mine")
    assert "«Test Person» (a person) has claimed it" in invoke("agent-where 2", repo).err


def test_a_word_that_is_neither_is_wrong_usage(repo: Path) -> None:
    error = (
        "Error: 'the parser' is not an issue number or an agent's name.\n"
        "Hint: Example: `ghp agent-where 12`.\n"
    )
    assert invoke(["agent-where", "the parser"], repo) == Result(2, "", error)
