"""Local issues do what every tracker does, and what only issues without a server have to."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError, UnknownError
from ghp_agents.core.ids import Actor, IssueNumber, Timestamp
from ghp_agents.issues.issue import PROVISIONAL, IssueChange, provisional, short
from ghp_agents.issues.local import LocalTracker
from ghp_agents.issues.record import FOLDER
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import IssueTracker
from ghp_agents.state.cause import CLAIMED, Cause
from ghp_agents.state.record import Record
from ghp_agents.wiring import App
from tests.contracts.issue_tracker import ANN, WORKER, IssueTrackerContract, MakeTracker, numbers
from tests.issues.places import Place, Team, meet
from tests.support.clock import ManualClock
from tests.support.git import git
from tests.support.twins.locks import MemoryLocks
from tests.support.twins.state import MemoryStore


class TestLocalTrackerInMemory(IssueTrackerContract):
    @pytest.fixture
    def make(self, clock: ManualClock) -> MakeTracker:
        place = Team(clock).clone("c1")
        return lambda: place.tracker


class TestLocalTrackerInGit(IssueTrackerContract):
    @pytest.fixture
    def make(self, clock: ManualClock, repo: Path) -> MakeTracker:
        return lambda: App(repo, os.environ, clock=clock).tracker


@pytest.mark.slow
@pytest.mark.cases(10)
class TestLocalTrackerInGitWithARemote(IssueTrackerContract):
    @pytest.fixture
    def make(self, clock: ManualClock, clone: Path) -> MakeTracker:
        return lambda: App(clone, os.environ, clock=clock).tracker


def title(text: str) -> IssueChange:
    return IssueChange(title=text)


def records(place: Place) -> list[dict[str, object]]:
    files = place.store.snapshot().files(FOLDER)
    return sorted((json.loads(data) for data in files.values()), key=lambda r: r["clock"])


# ------------------------------------------------------------------------------- what is kept


def test_each_thing_said_is_one_record_and_one_entry_of_the_ledger() -> None:
    place = Team().clone("c1")
    tracker = place.tracker
    tracker.create(title("Fix it")._replace(priority="high"), ANN)
    tracker.create(title("Then this")._replace(add_blockers=numbers(1)), WORKER)
    tracker.change(1, IssueChange(add_assignees=("worker-1",)), ANN)
    tracker.change(1, IssueChange(add_labels=("bug",), body="B"), WORKER)
    tracker.comment(1, "Found\nit", WORKER, marker="m")
    tracker.change(1, IssueChange(state="closed"), WORKER)
    tracker.change(1, IssueChange(state="open"), ANN)
    tracker.change(2, IssueChange(remove_blockers=numbers(1)), WORKER)
    entries = [(e.event, e.actor, e.object, e.issue, e.text) for e in place.store.ledger()]
    assert entries == [
        ("issue-new", "Ann Example", "#1", 1, "Fix it"),
        ("issue-new", "worker-1", "#2", 2, "Then this"),
        ("issue-assign", "Ann Example", "#1", 1, "+worker-1"),
        ("issue-edit", "worker-1", "#1", 1, "body, +bug"),
        ("issue-comment", "worker-1", "#1", 1, "Found it"),
        ("issue-close", "worker-1", "#1", 1, ""),
        ("issue-reopen", "Ann Example", "#1", 1, ""),
        ("issue-block", "worker-1", "#2", 2, "not blocked by #1"),
    ]
    kept = records(place)
    assert [record["clock"] for record in kept] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert {record["clone"] for record in kept} == {"c1"}
    assert kept[0] == {
        "schemaVersion": 1,
        "kind": "create",
        "clock": 1,
        "clone": "c1",
        "at": "2025-06-15T15:06:40Z",
        "by": "Ann Example",
        "person": True,
        "number": 1,
        "set": {"title": "Fix it", "priority": "high"},
    }


def test_what_is_so_already_says_nothing() -> None:
    place = Team().clone("c1")
    created = place.tracker.create(title("T"), ANN)
    ledger = place.store.ledger()
    place.tracker.change(1, IssueChange(title="T", remove_labels=("x",), state="open"), ANN)
    assert place.store.ledger() == ledger
    assert place.tracker.get(1) == created


# -------------------------------------------------------------------------------- many clones


def test_clones_share_issues_and_numbers() -> None:
    team = Team()
    one, two = team.clone("c1"), team.clone("c2")
    one.tracker.create(title("First"), ANN)
    two.tracker.create(title("Second"), WORKER)
    meet(one, two)
    two.tracker.change("#1", IssueChange(add_blockers=numbers(2)), WORKER)
    meet(one, two)
    assert one.tracker.list() == two.tracker.list()
    assert [(i.number, i.title, i.blocked_by) for i in one.tracker.list()] == [
        (1, "First", (2,)),
        (2, "Second", ()),
    ]


def test_changes_made_apart_are_all_there_after_a_sync() -> None:
    team = Team()
    one, two = team.clone("c1"), team.clone("c2")
    one.tracker.create(title("T")._replace(add_labels=("old",)), ANN)
    meet(one, two)
    one.tracker.change(1, IssueChange(title="By one", add_labels=("a",)), ANN)
    two.tracker.change(1, IssueChange(priority="high", remove_labels=("old",)), WORKER)
    one.tracker.comment(1, "one", ANN)
    two.tracker.comment(1, "two", WORKER)
    two.tracker.change(1, IssueChange(title="By two"), WORKER)
    meet(one, two)
    issue = one.tracker.get(1)
    assert issue == two.tracker.get(1)
    assert (issue.title, issue.priority, issue.labels) == ("By two", "high", ("a",))
    assert {comment.body for comment in issue.comments} == {"one", "two"}


def test_a_marked_comment_that_two_clones_made_apart_is_one() -> None:
    team = Team()
    one, two = team.clone("c1"), team.clone("c2")
    one.tracker.create(title("T"), ANN)
    meet(one, two)
    first = one.tracker.comment(1, "asked", WORKER, marker="E-3f9a")
    two.tracker.comment(1, "asked", WORKER, marker="E-3f9a")
    meet(one, two)
    assert one.tracker.get(1).comments == two.tracker.get(1).comments == (first,)
    assert two.tracker.comment(1, "asked", WORKER, marker="E-3f9a") == first


def test_a_circle_that_two_clones_made_apart_is_kept_and_can_be_undone() -> None:
    team = Team()
    one, two = team.clone("c1"), team.clone("c2")
    one.tracker.create(title("A"), ANN)
    one.tracker.create(title("B"), ANN)
    meet(one, two)
    one.tracker.change(1, IssueChange(add_blockers=numbers(2)), ANN)
    two.tracker.change(2, IssueChange(add_blockers=numbers(1)), ANN)
    meet(one, two)
    assert [issue.blocked_by for issue in one.tracker.list()] == [(2,), (1,)]
    two.tracker.change(1, IssueChange(remove_blockers=numbers(2)), ANN)
    assert [issue.blocked_by for issue in two.tracker.list()] == [(), (1,)]


# ------------------------------------------------------------------------------------ numbers


def test_an_issue_made_offline_has_a_provisional_number() -> None:
    team = Team()
    place = team.clone("c1")
    place.tracker.create(title("Online"), ANN)
    team.offline()
    created = place.tracker.create(title("Offline")._replace(add_blockers=numbers(1)), ANN)
    assert created.number == provisional(created.id) >= PROVISIONAL
    assert place.tracker.get(str(created.number)) == created
    assert place.tracker.get(short(created)) == created
    other = place.tracker.create(title("Other")._replace(add_blockers=(created.number,)), ANN)
    assert place.tracker.get(other.number).blocked_by == (created.number,)


class LockServices:
    """Lock services in which something happens at the worst moment."""

    class Rival(MemoryLocks):
        """Somebody else is faster, `times` times."""

        times = 3

        def acquire(
            self,
            name: str,
            holder: str,
            *,
            expected: Lock | None,
            epoch: int = 0,
            reason: str = "",
            patterns: Sequence[str] = (),
            cause: Cause = CLAIMED,
            clone: str | None = None,
            until: Timestamp | None = None,
        ) -> Lock:
            if self.times:
                self.times -= 1
                super().acquire(name, "rival", expected=super().read(name))
            return super().acquire(name, holder, expected=expected, epoch=epoch, reason=reason)

    class Faster(Rival):
        """Somebody else is always faster."""

        times = -1

    class Refusing(MemoryLocks):
        """The remote can be read and not written."""

        def acquire(
            self,
            name: str,
            holder: str,
            *,
            expected: Lock | None,
            epoch: int = 0,
            reason: str = "",
            patterns: Sequence[str] = (),
            cause: Cause = CLAIMED,
            clone: str | None = None,
            until: Timestamp | None = None,
        ) -> Lock:
            raise GhpError("The remote does not let us change numbers.", hint="Ask for access.")


def with_locks(place: Place, make: Callable[[ManualClock], MemoryLocks]) -> IssueTracker:
    return LocalTracker(place.ws, place.store, make(ManualClock()))


def test_a_number_that_somebody_else_got_first_is_theirs() -> None:
    tracker = with_locks(Team().clone("c1"), LockServices.Rival)
    assert tracker.create(title("T"), ANN).number == 4


@pytest.mark.parametrize("make", [LockServices.Faster, LockServices.Refusing])
def test_an_issue_is_not_lost_where_no_number_can_be_had(
    make: Callable[[ManualClock], MemoryLocks],
) -> None:
    place = Team().clone("c1")
    created = with_locks(place, make).create(title("T"), ANN)
    assert created.number == provisional(created.id)
    assert place.tracker.list() == [created]


def test_an_answer_that_never_came_leaves_a_gap_and_no_double_number() -> None:
    team = Team()
    place = team.clone("c1")
    team.board.breaks_after_write = True
    first = place.tracker.create(title("First"), ANN)
    team.offline(online=True)
    second = place.tracker.create(title("Second"), ANN)
    assert (first.number >= PROVISIONAL, second.number) == (True, 2)


def test_a_process_that_dies_with_its_number_leaves_a_gap() -> None:
    class Dying(MemoryStore):
        def commit(self, records: object, expected: str) -> None:
            raise KeyboardInterrupt

    team = Team()
    place = team.clone("c1")
    dying = LocalTracker(place.ws, Dying(team.clock), place.locks)
    with pytest.raises(KeyboardInterrupt):
        dying.create(title("Lost before it was said"), ANN)
    assert place.tracker.create(title("T"), ANN).number == 2


def test_a_rival_that_writes_while_an_issue_is_made_costs_no_second_number() -> None:
    class Contended(MemoryStore):
        rivals = 2

        def commit(self, records: Sequence[Record], expected: str) -> None:
            if self.rivals:
                self.rivals -= 1
                LocalTracker(place.ws, self, place.locks).comment(1, "rival", WORKER)
            super().commit(records, expected)

    team = Team()
    place = team.clone("c1")
    store = Contended(team.clock, "c1")
    store.rivals = 0
    tracker = LocalTracker(place.ws, store, place.locks)
    tracker.create(title("First"), ANN)
    store.rivals = 2
    assert tracker.create(title("Second"), ANN).number == 2
    assert len(tracker.get(1).comments) == 2
    assert tracker.create(title("Third"), ANN).number == 3


def test_numbers_that_were_given_elsewhere_are_passed_over() -> None:
    alone, team = Team().clone("c1"), Team()
    for text in ("One", "Two"):
        alone.tracker.create(title(text), ANN)
    joined = LocalTracker(alone.ws, alone.store, team.clone("c2").locks)
    assert joined.create(title("Three"), ANN).number == 3


def test_the_numbers_go_on_when_a_repository_gets_a_remote(repo: Path, remote: Path) -> None:
    house = App(repo, os.environ)
    house.tracker.create(title("One"), ANN)
    house.tracker.create(title("Two"), ANN)
    git(repo, "remote", "add", "origin", str(remote))
    assert App(repo, os.environ).tracker.create(title("Three"), ANN).number == 3


@pytest.mark.slow
def test_clones_of_one_remote_never_give_a_number_twice(
    clones: Callable[[int], list[Path]],
) -> None:
    houses = [App(clone, os.environ) for clone in clones(2)]
    created = [house.tracker.create(title("T"), ANN).number for house in houses * 2]
    assert created == [1, 2, 3, 4]


def test_a_remote_that_is_not_there_costs_no_issue(clone: Path, remote: Path) -> None:
    remote.rename(remote.with_name("away"))
    house = App(clone, os.environ)
    created = house.tracker.create(title("T"), ANN)
    assert created.number == provisional(created.id)
    assert App(clone, os.environ).tracker.list() == [created]


def test_two_that_were_numbered_apart_are_told_apart_once_they_meet() -> None:
    team = Team()
    one, two = team.clone("c1"), team.clone("c2")
    two.locks = MemoryLocks(team.clock)  # as if each had decided alone, before there was a remote
    mine, other = one.tracker.create(title("Mine"), ANN), two.tracker.create(title("Other"), ANN)
    assert mine.number == other.number == 1
    meet(one, two)
    assert one.tracker.list() == two.tracker.list()
    assert one.tracker.get(1) == mine
    assert one.tracker.get(f"I-{other.id}") == other._replace(number=provisional(other.id))


# ---------------------------------------------------------------------------------- bad input


def test_a_record_that_cannot_be_read_hides_no_other() -> None:
    place = Team().clone("c1")
    created = place.tracker.create(title("T"), ANN)
    broken = Record(
        event="issue-edit",
        actor=Actor("worker-9"),
        object="#1",
        id="ffffffff",
        at=created.created_at,
        clock=9,
        files=((f"{FOLDER}{created.id}/ffffffff.json", b'{"kind": "change", "set": '),),
    )
    place.store.commit([broken], expected=place.store.snapshot().revision)
    assert place.tracker.list() == [created]
    assert place.tracker.change(1, title("New"), ANN).title == "New"
    assert len(place.store.snapshot().files(FOLDER)) == 3


def test_an_unknown_number_never_reaches_the_locks() -> None:
    team = Team()
    place = team.clone("c1")
    for change in (title(""), title("T")._replace(parent=IssueNumber(5))):
        with pytest.raises(GhpError):
            place.tracker.create(change, ANN)
    assert team.board.leases == {}


def test_reading_needs_nobody() -> None:
    team = Team()
    place = team.clone("c1")
    created = place.tracker.create(title("T"), ANN)
    team.offline()
    with pytest.raises(UnknownError):
        place.locks.read("numbers")
    assert place.tracker.list() == [created]
    assert place.tracker.comment(1, "Hello", ANN).body == "Hello"


def test_all_issues_are_read_once_for_all_that_a_command_asks_and_afresh_after_a_change(
    repo: Path,
) -> None:
    tracker = App(repo, os.environ, clock=ManualClock()).tracker
    tracker.create(title("One"), ANN)
    tracker.change(1, IssueChange(state="closed"), ANN)
    (one,) = tracker.list(closed=True)
    assert tracker.get(1) is one
    tracker.create(title("Two"), ANN)
    assert [issue.title for issue in tracker.list(closed=True)] == ["One", "Two"]
