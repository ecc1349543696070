"""The fold: whoever holds the same records sees the same issues."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.ids import Actor, CloneId, IssueNumber, Timestamp
from ghp_agents.issues.issue import PROVISIONAL, Comment, Issue, provisional
from ghp_agents.issues.record import IssueEvent, encode
from ghp_agents.issues.replay import IssueEvents, fold, incomplete, read_events, settled, unnumbered
from ghp_agents.state.join import join_files
from ghp_agents.state.record import Problem

AT = Timestamp("2026-01-02T03:04:05Z")
ONE, TWO = "aaaaaaaa0001", "aaaaaaaa0002"
IDS = count(1)


def say(kind: str, clock: int, clone: str = "c1", issue: str = ONE, **fields: object) -> IssueEvent:
    event = IssueEvent(
        issue=issue,
        id=f"{next(IDS):012x}",
        kind=kind,
        clock=clock,
        clone=CloneId(clone),
        at=Timestamp(f"2026-01-02T03:04:{clock:02}Z"),
        by=Actor(f"worker-{clone}"),
    )
    return event._replace(**fields)  # type: ignore[arg-type]


def create(clock: int, number: int | None, clone: str = "c1", issue: str = ONE) -> IssueEvent:
    return say("create", clock, clone, issue, number=number, texts={"title": f"Title {issue[-1]}"})


def files(*sayings: IssueEvent) -> dict[str, bytes]:
    return {event.path: encode(event) for event in sayings}


def folded(*sayings: IssueEvent) -> list[Issue]:
    return fold(read_events(files(*sayings)))


def test_an_issue_is_all_that_was_said_about_it() -> None:
    blocker = create(1, 1, issue=TWO)
    created = create(2, 2)
    change = say(
        "change",
        3,
        texts={"body": "B", "priority": "high", "parent": TWO},
        added={"labels": ("x", "a"), "assignees": ("worker-2",), "blockedBy": (TWO,)},
    )
    comment = say("comment", 4, body="Hello", by=Actor("Ann", is_person=True))
    assert folded(comment, change, created, blocker) == [
        Issue(TWO, IssueNumber(1), "Title 2", author="worker-c1", created_at=blocker.at,
              updated_at=blocker.at),
        Issue(
            id=ONE,
            number=IssueNumber(2),
            title="Title 1",
            body="B",
            labels=("a", "x"),
            assignees=("worker-2",),
            blocked_by=(IssueNumber(1),),
            parent=IssueNumber(1),
            priority="high",
            author="worker-c1",
            created_at=created.at,
            updated_at=comment.at,
            comments=(Comment(comment.id, "Ann", comment.at, "Hello", by_person=True),),
        ),
    ]  # fmt: skip


def test_the_last_word_on_a_text_holds_by_clock_then_clone_then_record() -> None:
    early = say("change", 5, "c9", texts={"title": "by clock 5"})
    late = say("change", 6, "c1", texts={"title": "by c1"})
    rival = say("change", 6, "c2", texts={"title": "by c2"})
    last = say("change", 6, "c2", texts={"title": "by c2, later record"})
    created = create(1, 1)
    assert folded(late, created, early)[0].title == "by c1"
    assert folded(rival, created, late)[0].title == "by c2"
    assert folded(last, rival, late, early, created)[0].title == "by c2, later record"


def test_each_field_has_its_own_last_word() -> None:
    one = say("change", 2, "c1", texts={"title": "New", "priority": "low"})
    two = say("change", 3, "c2", texts={"priority": "high"})
    issue = folded(create(1, 1), one, two)[0]
    assert (issue.title, issue.priority) == ("New", "high")


def test_each_element_of_a_set_has_its_own_last_word() -> None:
    issue = folded(
        create(1, 1),
        say("change", 2, "c1", added={"labels": ("a", "b")}),
        say("change", 3, "c2", removed={"labels": ("a",)}, added={"labels": ("c",)}),
        say("change", 4, "c1", added={"labels": ("a",)}, removed={"labels": ("d",)}),
        say("change", 3, "c1", added={"labels": ("d",)}),
    )[0]
    assert issue.labels == ("a", "b", "c")


def test_a_parent_can_be_taken_away() -> None:
    gone = say("change", 3, texts={"parent": None})
    assert folded(create(1, 1), say("change", 2, texts={"parent": TWO}), gone)[0].parent is None


def test_comments_of_two_clones_under_one_marker_are_one() -> None:
    first = say("comment", 2, "c1", body="first", marker="m")
    second = say("comment", 2, "c2", body="second", marker="m")
    other = say("comment", 2, "c2", body="other", marker="n")
    plain = [say("comment", 3, "c1", body="plain") for _ in range(2)]
    comments = folded(*plain, other, second, first, create(1, 1))[0].comments
    assert [comment.body for comment in comments] == ["first", "other", "plain", "plain"]


def test_an_issue_without_a_number_goes_by_a_provisional_one_for_ever() -> None:
    created = create(1, None)
    assert folded(created)[0].number == provisional(ONE) >= PROVISIONAL
    named = folded(created, say("number", 2, number=4), say("number", 3, number=9))[0]
    assert named.number == 4
    assert named.other_numbers == (9, provisional(ONE))
    assert named.updated_at == created.at


def test_a_number_that_two_were_given_belongs_to_the_first() -> None:
    first, second = create(3, 1, "c1"), create(3, 1, "c2", TWO)
    winner, loser = folded(second, first)
    assert (winner.id, winner.number, winner.other_numbers) == (ONE, 1, ())
    assert (loser.id, loser.number, loser.other_numbers) == (TWO, provisional(TWO), ())
    assert unnumbered(read_events(files(first, second))) == [second]
    renamed = folded(first, second, say("number", 4, issue=TWO, number=2))[1]
    assert (renamed.number, renamed.other_numbers) == (2, (provisional(TWO),))


def test_nobody_gets_a_provisional_number_as_their_own() -> None:
    assert folded(create(1, PROVISIONAL + 5))[0].number == provisional(ONE)


def test_creations_without_a_number_come_oldest_first() -> None:
    late, early = create(5, None), create(2, None, issue=TWO)
    assert unnumbered(read_events(files(late, early))) == [early, late]
    assert unnumbered(read_events(files(late, early, say("number", 6, number=1)))) == [early]


def test_an_unreadable_record_is_a_problem_and_hides_nothing_else() -> None:
    created = create(1, 1)
    torn = f".ghp/issues/{ONE}/ffffffff.json"
    deep = f".ghp/issues/{ONE}/eeeeeeee.json"
    bad = {torn: b'{"kind": "cha', deep: b'{"kind":' * 100_000}
    log = read_events(files(created) | bad | {".ghp/issues/README.md": b"Hello"})
    assert fold(log) == folded(created)
    elsewhere, unread = "its path is not .ghp/issues/<issue>/<record>.json", "Unterminated string"
    assert log.problems[1:] == (
        Problem(deep, "not a record of an issue: nested too deep"),
        Problem(".ghp/issues/README.md", f"not a record of an issue: {elsewhere}"),
    )
    assert log.problems[0].place == torn
    assert log.problems[0].reason.startswith(f"not a record of an issue: {unread}")


def test_an_issue_whose_creation_cannot_be_read_is_there_without_a_title() -> None:
    comment = say("comment", 2, body="Hello")
    unread = {f".ghp/issues/{TWO}/ffffffff.json": b"\xff"}
    titled, untitled = fold(read_events(files(comment) | unread))
    assert (titled.id, titled.title, titled.comments[0].body) == (ONE, "", "Hello")
    assert untitled == Issue(TWO, provisional(TWO), "")
    assert unnumbered(read_events(files(comment) | unread)) == []


def test_what_newer_versions_say_changes_nothing() -> None:
    newer = create(2, 2)._replace(kind="vote")
    assert folded(create(1, 1), newer) == folded(
        create(1, 1)._replace(at=Timestamp("2026-01-02T03:04:01Z"))
    )


def test_an_issue_neither_waits_for_itself_nor_belongs_to_itself() -> None:
    own = say("change", 2, texts={"parent": ONE}, added={"blockedBy": (ONE,)})
    issue = folded(create(1, 1), own)[0]
    assert (issue.parent, issue.blocked_by) == (None, ())


def test_what_waits_for_an_issue_that_is_not_here_says_so() -> None:
    waiting = say("change", 2, added={"blockedBy": (TWO,)})
    assert folded(create(1, 1), waiting)[0].blocked_by == (provisional(TWO),)


def test_the_next_clock_is_above_all_that_was_said() -> None:
    assert read_events(files(create(41, 1), say("comment", 7))).clock == 41
    assert IssueEvents().clock == 0


SAYINGS = st.lists(
    st.builds(
        say,
        kind=st.sampled_from(["create", "change", "comment", "number"]),
        clock=st.integers(0, 4),
        clone=st.sampled_from(["c1", "c2"]),
        issue=st.sampled_from([ONE, TWO, "aaaaaaaa0003"]),
        id=st.integers(0, 99).map("{:012x}".format),
        number=st.none() | st.integers(1, 4),
        texts=st.dictionaries(st.sampled_from(["title", "state", "body"]), st.sampled_from("xyz")),
        added=st.dictionaries(
            st.just("labels"), st.lists(st.sampled_from("abc"), min_size=1).map(tuple)
        ),
        removed=st.dictionaries(
            st.just("labels"), st.lists(st.sampled_from("abc"), min_size=1).map(tuple)
        ),
        body=st.sampled_from(["", "b"]),
        marker=st.sampled_from(["", "m"]),
    ),
    max_size=12,
    unique_by=lambda said: said.id,
)


@pytest.mark.slow
@given(SAYINGS, st.data())
def test_any_order_and_any_portions_of_records_give_the_same_issues(
    sayings: list[IssueEvent], data: st.DataObject
) -> None:
    whole = fold(read_events(files(*sayings)))
    shuffled = data.draw(st.permutations(sayings))
    cut = data.draw(st.integers(0, len(sayings)))
    overlap = data.draw(st.integers(0, len(sayings)))
    portions = [files(*shuffled[cut:]), files(*shuffled[: cut + overlap])]
    assert fold(read_events(files(*shuffled))) == whole
    assert fold(read_events(join_files(portions))) == whole
    one_by_one: IssueEvents = IssueEvents()
    for event in shuffled:
        one_by_one = one_by_one.with_one(event)
    assert fold(one_by_one) == whole


@pytest.mark.slow
@given(SAYINGS)
def test_no_two_issues_ever_share_a_number(sayings: list[IssueEvent]) -> None:
    numbers = [number for issue in folded(*sayings) for number in issue.numbers]
    assert len(numbers) == len(set(numbers))


@pytest.mark.slow
@given(SAYINGS, st.integers(0, 12))
def test_what_is_known_of_an_issue_only_grows(sayings: list[IssueEvent], count: int) -> None:
    earlier = sayings[:count]
    before, after = folded(*earlier), folded(*sayings)
    later = {issue.id: issue for issue in after}
    for issue in before:
        unmarked = {event.id for event in earlier if event.kind == "comment" and not event.marker}
        kept = {comment.id for comment in later[issue.id].comments}
        assert {comment.id for comment in issue.comments} & unmarked <= kept


@pytest.mark.parametrize("latest", [5, 2**40])
def test_a_record_from_far_ahead_is_overruled_by_what_is_said_next(latest: int) -> None:
    ahead = say("change", 1, texts={"title": "Ahead"})._replace(clock=latest)
    log = read_events(files(create(1, 1), ahead))
    after = say("change", 1, texts={"title": "After"})._replace(clock=log.clock + 1)
    assert fold(log.with_one(after))[0].title == "After"


CLOSED, OPEN = {"state": "closed"}, {"state": "open"}
LATE = to_seconds(AT) + 86_400


def test_an_issue_is_settled_when_it_was_closed_long_ago() -> None:
    created, closed, word = (
        create(1, 1),
        say("change", 2, texts=CLOSED),
        say("comment", 3, body="Well."),
    )
    (ended,) = settled(files(created, closed, word), LATE)
    assert [*sorted(ended.paths), *ended.last] == [created.path, word.path, closed.path]
    assert settled(files(created, closed, word), to_seconds(word.at)) == []
    assert settled(files(created, closed, say("change", 4, texts=OPEN)), LATE) == []
    assert settled(files(closed), LATE) == []


def test_an_issue_is_not_settled_if_it_cannot_be_read_or_shares_its_number() -> None:
    created, closed = create(1, 1), say("change", 2, texts=CLOSED)
    records = files(created, closed)
    assert settled(records | {f".ghp/issues/{ONE}/00000000.json": b"?"}, LATE) == []
    assert settled(records | files(create(3, 1, issue=TWO)), LATE) == []
    assert len(settled(records | files(create(3, 2, issue=TWO)), LATE)) == 1


def test_an_open_issue_needs_what_it_refers_to_and_what_left_when_it_was_closed() -> None:
    whole = create(1, 1)
    blocked = say("change", 2, added={"blockedBy": (TWO,)})
    assert incomplete(read_events(files(whole))) == set()
    assert incomplete(read_events(files(whole, blocked))) == {TWO}
    assert incomplete(read_events(files(whole, blocked, create(3, 2, issue=TWO)))) == set()
    assert incomplete(read_events(files(say("comment", 4, body="Well.")))) == {ONE}
    again = say("change", 5, texts=CLOSED), say("change", 6, texts=OPEN)
    assert incomplete(read_events(files(whole, *again))) == {ONE}
    assert incomplete(read_events(files(whole, blocked, again[0]))) == set()
