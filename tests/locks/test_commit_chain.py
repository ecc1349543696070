"""The history of a right, as people find it with `git log` and `git show`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.locks.git import GitLocks
from tests.support.clock import ManualClock
from tests.support.git import git, refs
from tests.support.hosts import workspace

Clones = Callable[[int], list[Path]]


@pytest.fixture
def locks(clone: Path) -> GitLocks:
    clock = ManualClock()
    locks = GitLocks(workspace(clone, clock))
    taken = locks.acquire("issue/12", "worker-1", expected=None, epoch=2, reason="it is mine")
    clock.wait(60)
    locks.release("issue/12", expected=taken, reason="done")
    clock.wait(60)
    locks.acquire("issue/12", "Zoë <z@x>\u202e", expected=locks.read("issue/12"))
    return locks


def test_the_log_of_a_right_says_who_held_it_when_and_why(locks: GitLocks, remote: Path) -> None:
    shown = git(remote, "log", "--format=%an <%ae> %cI%n%B", "refs/ghp/lease/issue/12")
    nonces = git(remote, "log", "--format=%(trailers:key=Id,valueonly)", "refs/ghp/lease/issue/12")
    third, second, first = nonces.split()
    assert shown == (
        "ghp-agents <ghp-agents@invalid> 2025-06-15T15:08:40+00:00\n"
        "claim Zoë <z@x> issue/12\n\n"
        f"Event: claim\nAgent: Zoë <z@x>\nIssue: 12\nGeneration: 2\nId: {third}\n\n"
        "ghp-agents <ghp-agents@invalid> 2025-06-15T15:07:40+00:00\n"
        "release worker-1 issue/12\n\ndone\n\n"
        f"Event: release\nAgent: worker-1\nIssue: 12\nGeneration: 1\nId: {second}\n\n"
        "ghp-agents <ghp-agents@invalid> 2025-06-15T15:06:40+00:00\n"
        "claim worker-1 issue/12\n\nit is mine\n\n"
        f"Event: claim\nAgent: worker-1\nIssue: 12\nGeneration: 1\nId: {first}"
    )


def test_the_lease_is_one_readable_file(locks: GitLocks, remote: Path) -> None:
    ref = "refs/ghp/lease/issue/12"
    nonce = git(remote, "log", "-1", "--format=%(trailers:key=Id,valueonly)", f"{ref}~2").strip()
    assert git(remote, "ls-tree", "-r", "--name-only", f"{ref}~2") == "lease.json"
    assert git(remote, "show", f"{ref}~2:lease.json") == (
        "{\n"
        '  "acquiredAt": "2025-06-15T15:06:40Z",\n'
        '  "cause": {\n'
        '    "kind": "claim"\n'
        "  },\n"
        f'  "clone": "{locks.clone}",\n'
        '  "epoch": 2,\n'
        '  "generation": 1,\n'
        '  "holder": "worker-1",\n'
        '  "name": "issue/12",\n'
        f'  "nonce": "{nonce}",\n'
        '  "reason": "it is mine",\n'
        '  "schemaVersion": 1\n'
        "}"
    )


def test_what_is_not_an_issue_is_acquired_and_not_claimed(locks: GitLocks, remote: Path) -> None:
    locks.acquire("trunk", "worker-1", expected=None)
    shown = git(
        remote, "log", "--format=%s%n%(trailers:only,unfold,key=Issue)", "refs/ghp/lease/trunk"
    )
    assert shown == "acquire worker-1 trunk"


@pytest.mark.slow
def test_the_remote_has_one_ref_for_each_right_and_the_clone_no_other(
    locks: GitLocks, remote: Path, clone: Path
) -> None:
    on_remote = {ref for ref in refs(remote) if not ref.startswith("refs/heads/")}
    assert on_remote == {"refs/ghp/lease/issue/12"}
    private = clone / ".git/ghp/state.git"
    assert refs(private).keys() == {"refs/ghp/lease/issue/12"}
    assert refs(private)["refs/ghp/lease/issue/12"] == refs(remote)["refs/ghp/lease/issue/12"]
    assert git(private, "fsck", "--strict") == ""
