"""The typed API: the same services as the commands, for programs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.api import Project, connect
from ghp_agents.core.errors import NotSetUpError, RefusedError, UsageError
from ghp_agents.issues.issue import IssueChange
from tests.support.consent import anyone_steals
from tests.support.git import commit
from tests.support.leases import furnish


@pytest.fixture
def workers(repo: Path) -> Callable[[int], Project]:
    furnish(repo)
    return lambda number: connect(repo / "src", agent=f"worker-{number}")


def test_a_program_leases_lists_and_gives_back(workers: Callable[[int], Project]) -> None:
    one, two = workers(1), workers(2)
    got = one.lease("./a.py", "gen/", reason="parser", ttl=60.0)
    assert got.covered == ("src/a.py", "src/gen/x.py")
    assert two.leases() == [got.hold]
    with pytest.raises(RefusedError, match=r"src/a\.py is leased by worker-1"):
        two.lease("a.py")
    assert two.lease(name="staging-db", strict=True).hold.strict
    assert one.release_lease("./a.py", "gen/").holds == (got.hold,)
    assert [hold.name for hold in one.leases()] == ["staging-db"]
    assert two.release_lease(name="staging-db").holds[0].name == "staging-db"
    with pytest.raises(UsageError):
        one.lease()


@pytest.mark.slow
def test_a_program_claims_and_gives_back(workers: Callable[[int], Project]) -> None:
    anyone_steals()
    one, two = workers(1), workers(2)
    for title in ("Parse files", "Write docs"):
        one.new_issue(IssueChange(title=title))
    assert one.claim(1).how == "claim"
    with pytest.raises(RefusedError, match="#1 is claimed by worker-1 since"):
        two.claim(1)
    assert [issue.number for issue in two.ready()] == [2]
    assert two.claim_next().issue.number == 2
    assert two.claim(1, steal=True, reason="It is urgent").previous == "worker-1"
    given = two.release(1, to="worker-1")
    assert given.lock
    assert (given.lock.holder, given.lock.generation) == ("worker-1", 3)
    assert one.release(1).changed
    assert not one.release(1).changed


def test_outside_of_a_repository_there_is_no_project(tmp_path: Path) -> None:
    with pytest.raises(NotSetUpError):
        connect(tmp_path)


@pytest.mark.slow
def test_a_program_tells_notes_and_asks_for_them(workers: Callable[[int], Project]) -> None:
    one, two = workers(1), workers(2)
    note = one.remember("Staging drops OPTIONS requests", kind="gotcha")
    assert two.remember("staging drops OPTIONS requests.") == note
    assert two.recall("which requests are dropped on staging", limit=1) == [note]


@pytest.mark.slow
def test_a_program_starts_finishes_merges_and_sweeps(
    workers: Callable[[int], Project], home: Path
) -> None:
    one = workers(1)
    one.new_issue(IssueChange(title="Parse files"))
    place = one.start().path
    assert place == home / ".ghp/worktrees/repo/1-parse-files"
    commit(place, {"new.txt": "new\n"})
    finished = connect(place).finish(draft=True)
    assert (finished.pull.issue, finished.pull.draft) == (1, True)
    assert one.merge_queue() == []  # it is a draft
    with pytest.raises(RefusedError, match="draft"):
        one.merge(1)
    assert one.sweep(policy="alert", dry_run=True).policy == "alert"
