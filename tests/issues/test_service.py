"""Issues, as the commands use them: saying a thing twice changes nothing."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from ghp_agents.core.errors import NotFoundError, UnknownError, UsageError
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.issues import service as services
from ghp_agents.issues.issue import PROVISIONAL, Issue, IssueChange, provisional
from ghp_agents.issues.record import FOLDER
from ghp_agents.issues.service import IssueResult
from ghp_agents.locks.lock import Lock
from ghp_agents.state.cause import CLAIMED, Cause
from ghp_agents.state.record import Record
from tests.issues.places import Place, Team, meet
from tests.support.context import make_context
from tests.support.twins.locks import MemoryLocks


@pytest.fixture
def team() -> Team:
    return Team()


@pytest.fixture
def place(team: Team) -> Place:
    return team.clone("c1")


def make(place: Place, title: str, **fields: object) -> Issue:
    change = IssueChange(title=title)._replace(**fields)  # type: ignore[arg-type]
    return services.new(place.parts, change).issue


def titles(issues: list[Issue]) -> list[str]:
    return [issue.title for issue in issues]


# ---------------------------------------------------------------------------------- choosing


@pytest.fixture
def some(place: Place) -> Place:
    make(place, "Free", priority="low", add_labels=("bug", "ui"))
    make(place, "Taken", add_assignees=("worker-2",), add_labels=("bug",))
    make(place, "Mine", add_assignees=("worker-1",))
    services.new(place.parts, IssueChange(title="Waiting"), blocked_by=["3"])
    services.new(place.parts, IssueChange(title="Mine too"), blocked_by=["#1"])
    services.assign(place.parts, "5", ["@me"])
    make(place, "Done", add_labels=("bug",))
    services.close(place.parts, "6")
    make(place, "Urgent", priority="critical")
    return place


def choose(place: Place, **wishes: object) -> list[str]:
    return titles(services.select(place, **wishes).issues)  # type: ignore[arg-type]


def test_open_issues_are_listed_in_the_order_in_which_they_are_to_be_done(some: Place) -> None:
    assert choose(some) == ["Urgent", "Mine", "Free", "Mine too", "Taken", "Waiting"]


def test_closed_ones_can_be_listed_alone_or_too(some: Place) -> None:
    assert choose(some, states=("closed",)) == ["Done"]
    assert len(choose(some, states=("open", "closed"))) == 7


def test_wishes_add_up(some: Place) -> None:
    assert choose(some, labels=["bug"]) == ["Free", "Taken"]
    assert choose(some, labels=["bug", "ui"]) == ["Free"]
    assert choose(some, mine=True) == ["Mine", "Mine too"]
    assert choose(some, mine=True, labels=["bug"]) == []


def test_ready_is_what_can_be_taken_most_urgent_first(some: Place) -> None:
    assert choose(some, ready=True) == ["Urgent", "Free"]
    assert titles(services.ready(some.ws, some.tracker.list(closed=True))) == ["Urgent", "Free"]


def test_what_a_blocker_held_back_is_ready_once_it_is_closed(some: Place) -> None:
    services.close(some.parts, "3")
    assert choose(some, ready=True) == ["Urgent", "Waiting", "Free"]
    services.reopen(some.parts, "3")
    assert choose(some, ready=True) == ["Urgent", "Free"]


def test_ready_ones_of_mine_are_those_that_nothing_blocks(some: Place) -> None:
    assert choose(some, mine=True, ready=True) == ["Mine"]


def test_who_looks_for_work_hears_of_issues_that_wait_in_a_circle(team: Team) -> None:
    one, two = team.clone("c1"), team.clone("c2")
    make(one, "A"), make(one, "B")
    meet(one, two)
    services.block(one.parts, "1", ["2"])
    services.block(two.parts, "2", ["1"])
    meet(one, two)
    assert titles(services.select(one.parts, ready=True).circle) == ["A", "B"]
    assert services.select(one.parts).circle == []


def test_a_view_shows_an_issue_among_the_open_ones(some: Place) -> None:
    services.edit(some.parts, "7", IssueChange(), parent="1")
    view = services.view(some.tracker, "#1")
    assert view.issue.title == "Free"
    assert (titles(view.blocks), titles(view.parts)) == (["Mine too"], ["Urgent"])


# ------------------------------------------------------------------------------------ making


def test_a_new_issue_names_others_by_any_of_their_names(place: Place) -> None:
    first, second = make(place, "First"), make(place, "Second")
    created = services.new(
        place.parts,
        IssueChange(title="Third", add_assignees=("@me", "Ann Example")),
        blocked_by=["#1", f"I-{second.id}"],
        parent="2",
    ).issue
    assert created.blocked_by == (first.number, second.number)
    assert created.parent == second.number
    assert created.assignees == ("Ann Example", "worker-1")
    assert created.author == "worker-1"


def test_a_command_that_is_repeated_makes_no_second_issue(place: Place) -> None:
    change = IssueChange(title=" Fix  it ", body="Body\n")
    first = services.new(place.parts, change)
    assert services.new(place.parts, change) == IssueResult(first.issue, changed=False)
    assert services.new(place.parts, change, again=True).issue.number == 2


def test_another_body_author_or_a_closed_twin_is_another_issue(place: Place, team: Team) -> None:
    change = IssueChange(title="Fix it", body="Body")
    services.new(place.parts, change)
    other = replace(place, ws=team.clone("c2", "worker-2").ws)
    assert services.new(other.parts, change).issue.number == 2
    assert services.new(place.parts, change._replace(body="")).issue.number == 3
    services.close(place.parts, "1")
    assert services.new(place.parts, change).issue.number == 4


def test_an_unknown_blocker_or_parent_makes_nothing(place: Place) -> None:
    for wrong in ({"blocked_by": ["9"]}, {"parent": "9"}):
        with pytest.raises(NotFoundError, match="There is no issue 9"):
            services.new(place.parts, IssueChange(title="T"), **wrong)
    assert place.tracker.list() == []


# ---------------------------------------------------------------------------------- changing

CHANGES: list[Callable[[Place], IssueResult]] = [
    lambda p: services.edit(p.parts, "1", IssueChange(title="New", add_labels=("x",))),
    lambda p: services.edit(p.parts, "1", IssueChange(), parent="2"),
    lambda p: services.close(p.parts, "1"),
    lambda p: services.close(p.parts, "1", "Done in abc"),
    lambda p: services.assign(p.parts, "1", ["worker-2", "Ann Example"]),
    lambda p: services.assign(p.parts, "3", ["worker-1"], remove=True),
    lambda p: services.block(p.parts, "1", ["2"]),
    lambda p: services.block(p.parts, "3", ["2"], remove=True),
    lambda p: services.comment(p.parts, "1", "Said\n"),
    lambda p: services.reopen(p.parts, "4"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_the_same_command_again_changes_nothing(
    place: Place, team: Team, change: Callable[[Place], IssueResult]
) -> None:
    make(place, "One"), make(place, "Two")
    make(place, "Three", add_assignees=("worker-1",))
    services.block(place.parts, "3", ["2"])
    make(place, "Four", state="closed")
    first = change(place)
    ledger = place.store.ledger()
    team.clock.wait(60)
    again = change(place)
    assert (first.changed, again.changed) == (True, False)
    assert place.store.ledger() == ledger
    assert place.tracker.get(first.issue.number) == again.issue


def test_a_change_by_another_word_is_a_change(place: Place) -> None:
    make(place, "One")
    for number in (1, 2, 1):
        services.comment(place.parts, "1", f"Try {number}")
    assert [c.body for c in place.tracker.get(1).comments] == ["Try 1", "Try 2", "Try 1"]


def test_the_last_words_of_another_are_not_mine(place: Place, team: Team) -> None:
    make(place, "One")
    services.comment(place.parts, "1", "Agreed")
    other = team.clone("c2", "worker-2").ws
    assert services.comment(make_context(other, tracker=place.tracker), "1", "Agreed").changed
    assert [c.author for c in place.tracker.get(1).comments] == ["worker-1", "worker-2"]


def test_a_message_is_said_before_the_issue_closes(place: Place) -> None:
    make(place, "One")
    outcome = services.close(place.parts, "1", "Fixed")
    assert outcome.comment == outcome.issue.comments[0]
    assert [e.event for e in place.store.ledger()] == ["issue-new", "issue-comment", "issue-close"]


def test_a_closed_issue_takes_another_message(place: Place) -> None:
    make(place, "One")
    services.close(place.parts, "1", "Fixed")
    outcome = services.close(place.parts, "1", "Really")
    assert not outcome.changed
    assert [c.body for c in outcome.issue.comments] == ["Fixed", "Really"]


def test_an_edit_that_says_nothing_is_a_mistake(place: Place) -> None:
    make(place, "One")
    with pytest.raises(UsageError, match="No change was given"):
        services.edit(place.parts, "1", IssueChange())


def test_only_a_checked_name_is_assigned_as_an_agent(place: Place) -> None:
    make(place, "One")
    with pytest.raises(UsageError, match=r"'\.\./x' is not a valid agent name"):
        services.assign(place.parts, "1", ["worker-1", "../x"])
    assert place.tracker.get(1).assignees == ()
    assert not services.assign(place.parts, "1", ["../x"], remove=True).changed


def test_taking_away_a_blocker_that_does_not_exist_is_not_found(place: Place) -> None:
    make(place, "One")
    with pytest.raises(NotFoundError):
        services.block(place.parts, "1", ["9"], remove=True)


# ----------------------------------------------------------------------------------- numbers


def name(place: Place) -> list[int]:
    return list(services.name_provisional(place.parts))


def test_issues_made_offline_get_numbers_in_the_order_they_were_made(
    team: Team, place: Place
) -> None:
    make(place, "Online")
    team.offline()
    created = [make(place, title) for title in ("First", "Second")]
    services.block(place.parts, str(created[1].number), [f"I-{created[0].id}"])
    team.offline(online=True)
    assert name(place) == [2, 3]
    first, second = (place.tracker.get(issue.number) for issue in created)
    assert (first.number, first.title) == (2, "First")
    assert (second.number, second.blocked_by) == (3, (2,))
    assert second.other_numbers == (provisional(second.id),)
    assert place.store.ledger()[-1].event == "issue-number"
    assert place.store.ledger()[-1].issue == 3


def test_naming_again_does_nothing(team: Team, place: Place) -> None:
    team.offline()
    make(place, "T")
    team.offline(online=True)
    assert name(place) == [1]
    ledger = place.store.ledger()
    assert name(place) == []
    assert place.store.ledger() == ledger
    assert team.board.leases["numbers"].generation == 1


def test_naming_waits_until_numbers_can_be_had(team: Team, place: Place) -> None:
    team.offline()
    created = make(place, "T")
    assert name(place) == []
    assert place.tracker.list() == [created]


def test_naming_that_breaks_off_goes_on_next_time(team: Team, place: Place) -> None:
    class Breaking(MemoryLocks):
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
            if expected is not None:
                raise UnknownError("The connection broke.", hint="Try again.")
            return super().acquire(name, holder, expected=expected, reason=reason)

    team.offline()
    make(place, "First"), make(place, "Second")
    team.offline(online=True)
    breaking = Breaking(team.clock, team.board)
    assert services.name_provisional(make_context(place.ws, place.store, breaking)) == [1]
    assert name(place) == [2]


def test_a_clone_names_only_its_own(team: Team) -> None:
    one, two = team.clone("c1"), team.clone("c2")
    make(two, "So that c2 has said something")
    team.board.reachable = False
    created = make(one, "T")
    team.board.reachable = True
    meet(one, two)
    assert name(two) == []
    assert two.tracker.get(created.number).number >= PROVISIONAL
    assert name(one) == [2]
    meet(one, two)
    assert two.tracker.get(created.number).number == 2


def test_what_a_clone_left_behind_that_is_gone_is_named_by_who_is_there(team: Team) -> None:
    gone, here = team.clone("gone"), team.clone("here")
    team.board.reachable = False
    make(gone, "T")
    team.board.reachable = True
    left = tuple(gone.store.snapshot().files(FOLDER).items())
    absorbed = Record("absorb", Actor("sweeper"), "gone", "aaaaaaaa", Timestamp(""), 5, left)
    here.store.commit([absorbed], expected=here.store.snapshot().revision)
    assert name(here) == [1]


def test_two_processes_that_name_at_once_leave_a_gap_and_no_second_number(
    team: Team, place: Place
) -> None:
    class Overtaken(MemoryLocks):
        """While this one gets its number, another process names the issue."""

        overtaken = False

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
            if not self.overtaken:
                self.overtaken = True
                assert services.name_provisional(place.parts) == [1]
            return super().acquire(name, holder, expected=expected, reason=reason)

    team.offline()
    created = make(place, "T")
    team.offline(online=True)
    overtaken = Overtaken(team.clock, team.board)
    assert services.name_provisional(make_context(place.ws, place.store, overtaken)) == []
    assert place.tracker.get(created.number).numbers == (1, created.number)
    assert make(place, "Next").number == 3


def test_who_lost_a_number_to_an_earlier_issue_gets_another(team: Team) -> None:
    one, two = team.clone("c1"), team.clone("c2")
    two.locks = MemoryLocks(team.clock)
    mine, other = make(one, "Mine"), make(two, "Other")
    two.locks = one.locks
    meet(one, two)
    assert (name(one), name(two)) == ([], [2])
    meet(one, two)
    for place in (one, two):
        assert [(i.title, i.number) for i in place.tracker.list()] == [("Mine", 1), ("Other", 2)]
    assert (mine.number, other.number) == (1, 1)
