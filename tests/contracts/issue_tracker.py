"""What every issue tracker does. A test class inherits it and says how its tracker is made."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.ids import Actor, IssueNumber, Timestamp
from ghp_agents.core.metadata import NO_METADATA, Metadata
from ghp_agents.issues.issue import BODY_LIMIT, Closing, Comment, Issue, IssueChange
from ghp_agents.ports import IssueTracker
from tests.support.clock import ManualClock

ANN = Actor("Ann Example", is_person=True)
WORKER = Actor("worker-1")
BEGIN = Timestamp("2025-06-15T15:06:40Z")
LATER = Timestamp("2025-06-15T15:07:40Z")
METADATA = Metadata('{"to":"@copilot `a` </b> /gemini","n":[1,{"\\u00e9":null}]}')

MakeTracker = Callable[[], IssueTracker]

BAD_CHANGES = [
    (IssueChange(title=" \n\t"), "The title is empty."),
    (IssueChange(title="x" * 257), "The title has 257 characters; it needs 1 to 256."),
    (
        IssueChange(body="x" * (BODY_LIMIT + 1)),
        "The body has 65537 characters; the limit is 65536.",
    ),
    (IssueChange(priority="urgent"), "'urgent' is not a priority."),
    (IssueChange(state="done"), "'done' is not a state."),
    (IssueChange(add_labels=("",)), "The label is empty."),
    (IssueChange(add_labels=("x" * 51,)), "The label has 51 characters; it needs 1 to 50."),
    (IssueChange(add_assignees=("../../x",)), "'../../x' is not a valid agent name."),
]


def numbers(*values: int) -> tuple[IssueNumber, ...]:
    """Numbers as the records have them."""
    return tuple(IssueNumber(value) for value in values)


class IssueTrackerContract:
    """Inherit it, with a fixture `make` that answers a new tracker on the same issues each time,
    on the clock of the fixture `clock`.

    Where a server gives the times, `server_time` is True: they come in order then, and more cannot
    be said. The person ANN is who works in the clone.
    """

    server_time = False
    closing_comments = 1  # how often an issue whose work was merged says so

    def at(self, time: Timestamp, wanted: Timestamp) -> Timestamp:
        """The time that something has, if it is as it must be."""
        return time if self.server_time else wanted

    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock()

    @pytest.fixture
    def tracker(self, make: MakeTracker) -> IssueTracker:
        return make()

    @pytest.fixture
    def three(self, tracker: IssueTracker) -> list[Issue]:
        return [tracker.create(IssueChange(title=title), ANN) for title in ("One", "Two", "Three")]

    def test_a_new_tracker_has_no_issues(self, tracker: IssueTracker) -> None:
        assert tracker.list(closed=True) == []

    def test_the_first_issue_is_number_1_and_the_next_number_2(self, three: list[Issue]) -> None:
        assert [(issue.number, issue.title) for issue in three] == [
            (1, "One"),
            (2, "Two"),
            (3, "Three"),
        ]

    def test_a_new_issue_has_only_what_was_said(self, tracker: IssueTracker) -> None:
        created = tracker.create(IssueChange(title="Fix it"), WORKER)
        assert created == Issue(
            id=created.id,
            number=IssueNumber(1),
            title="Fix it",
            author="worker-1",
            created_at=self.at(created.created_at, BEGIN),
            updated_at=self.at(created.updated_at, BEGIN),
        )
        assert created.created_at
        assert created.created_at <= created.updated_at
        assert tracker.get(1) == created

    def test_a_new_issue_has_all_that_was_said(
        self, tracker: IssueTracker, three: list[Issue]
    ) -> None:
        created = tracker.create(
            IssueChange(
                title="  A title\x07 on\ntwo lines ",
                body="\nThe body\r\nhas lines.\n\n",
                priority="high",
                parent=IssueNumber(1),
                add_labels=("parser", "bug", "bug"),
                add_assignees=("worker-1", "Ann Example"),
                add_blockers=numbers(3, 2),
                metadata=METADATA,
            ),
            ANN,
        )
        assert created == Issue(
            id=created.id,
            number=IssueNumber(4),
            title="A title on two lines",
            body="The body\nhas lines.",
            labels=("bug", "parser"),
            assignees=("Ann Example", "worker-1"),
            blocked_by=numbers(2, 3),
            parent=IssueNumber(1),
            priority="high",
            metadata=METADATA,
            author="Ann Example",
            created_at=self.at(created.created_at, BEGIN),
            updated_at=self.at(created.updated_at, BEGIN),
        )
        assert tracker.list() == [*three, created]

    @pytest.mark.parametrize("form", ["2", "#2", " #2 ", "02", 2])
    def test_an_issue_goes_by_its_number(
        self, tracker: IssueTracker, three: list[Issue], form: str | int
    ) -> None:
        assert tracker.get(form) == three[1]

    def test_an_issue_goes_by_its_id_and_the_start_of_it(
        self, tracker: IssueTracker, three: list[Issue]
    ) -> None:
        two = three[1]
        rest = [issue.id for issue in three if issue != two]
        unique = next(n for n in range(1, 13) if not any(r.startswith(two.id[:n]) for r in rest))
        start = two.id[: max(unique, 4)]
        for form in (f"I-{two.id}", f"I-{start}", f"i-{start.upper()}"):
            assert tracker.get(form) == two

    @pytest.mark.parametrize("form", ["4", "#4", "0", "I-zzzz", "I-", "", "9" * 5000, "-1", "½"])
    def test_what_names_no_issue_is_not_found(
        self, tracker: IssueTracker, three: list[Issue], form: str
    ) -> None:
        calls: list[Callable[[], object]] = [
            lambda: tracker.get(form),
            lambda: tracker.change(form, IssueChange(title="Other"), ANN),
            lambda: tracker.comment(form, "Hello", ANN),
        ]
        for call in calls:
            with pytest.raises(NotFoundError) as caught:
                call()
            assert caught.value.hint.startswith("`ghp agent-issues --all` lists issues")
        assert tracker.list(closed=True) == three

    def test_a_change_changes_what_it_names_and_nothing_else(
        self, tracker: IssueTracker, clock: ManualClock
    ) -> None:
        created = tracker.create(
            IssueChange(title="Old", body="Text", add_labels=("bug", "ui"), priority="low"), ANN
        )
        clock.wait(60)
        change = IssueChange(title="New", add_labels=("api",), remove_labels=("ui", "unknown"))
        changed = tracker.change(1, change, WORKER)
        at = self.at(changed.updated_at, LATER)
        assert changed == created._replace(title="New", labels=("api", "bug"), updated_at=at)
        assert at >= created.updated_at
        assert tracker.get(1) == changed

    def test_every_field_can_be_changed_and_changed_back(
        self, tracker: IssueTracker, three: list[Issue]
    ) -> None:
        before = three[2]
        forth = IssueChange(
            title="T",
            body="B",
            state="closed",
            priority="critical",
            parent=IssueNumber(1),
            add_labels=("bug",),
            add_assignees=("worker-1",),
            add_blockers=numbers(2),
            metadata=METADATA,
        )
        back = IssueChange(
            title="Three",
            body="",
            state="open",
            priority="medium",
            no_parent=True,
            remove_labels=("bug",),
            remove_assignees=("worker-1",),
            remove_blockers=numbers(2),
            metadata=NO_METADATA,
        )
        changed = tracker.change(3, forth, ANN)
        assert changed == before._replace(
            title="T",
            body="B",
            state="closed",
            priority="critical",
            parent=IssueNumber(1),
            labels=("bug",),
            assignees=("worker-1",),
            blocked_by=numbers(2),
            metadata=METADATA,
            updated_at=self.at(changed.updated_at, before.updated_at),
        )
        restored = tracker.change(3, back, ANN)
        at = self.at(restored.updated_at, before.updated_at)
        assert restored == before._replace(updated_at=at)

    def test_what_is_already_so_changes_nothing(
        self, tracker: IssueTracker, three: list[Issue], clock: ManualClock
    ) -> None:
        change = IssueChange(
            body="B", parent=IssueNumber(1), add_labels=("bug",), add_blockers=numbers(2)
        )
        changed = tracker.change(3, change, ANN)
        clock.wait(60)
        assert tracker.change(3, change, WORKER) == changed
        assert tracker.change(3, IssueChange(remove_labels=("ui",), state="open"), ANN) == changed
        assert tracker.get(3) == changed

    def test_what_is_added_and_removed_at_once_is_not_there(
        self, tracker: IssueTracker, three: list[Issue]
    ) -> None:
        tracker.change(1, IssueChange(add_labels=("a", "b")), ANN)
        change = IssueChange(add_labels=("a", "c", "d"), remove_labels=("a", "c"))
        assert tracker.change(1, change, ANN).labels == ("b", "d")

    @pytest.mark.parametrize(("change", "why"), BAD_CHANGES)
    def test_what_no_tracker_takes_is_refused(
        self, tracker: IssueTracker, change: IssueChange, why: str
    ) -> None:
        created = tracker.create(IssueChange(title="Here"), ANN)
        with pytest.raises(UsageError) as on_change:
            tracker.change(1, change, ANN)
        with pytest.raises(UsageError) as on_create:
            tracker.create(change._replace(title=change.title or "New"), ANN)
        assert {str(on_change.value), str(on_create.value)} == {why}
        assert tracker.list(closed=True) == [created]

    def test_a_refused_creation_spends_no_number(self, tracker: IssueTracker) -> None:
        with pytest.raises(UsageError):
            tracker.create(IssueChange(), ANN)
        with pytest.raises(NotFoundError):
            tracker.create(IssueChange(title="T", add_blockers=numbers(7)), ANN)
        assert tracker.create(IssueChange(title="T"), ANN).number == 1

    def test_closed_issues_are_listed_only_when_asked_for(
        self, tracker: IssueTracker, three: list[Issue]
    ) -> None:
        tracker.change(2, IssueChange(state="closed"), ANN)
        assert [issue.number for issue in tracker.list()] == [1, 3]
        assert [issue.number for issue in tracker.list(closed=True)] == [1, 2, 3]
        two = tracker.change(2, IssueChange(state="open"), ANN)
        at = self.at(two.updated_at, three[1].updated_at)
        assert tracker.list() == [three[0], three[1]._replace(updated_at=at), three[2]]

    def test_comments_are_kept_in_order(self, tracker: IssueTracker, clock: ManualClock) -> None:
        tracker.create(IssueChange(title="T"), ANN)
        first = tracker.comment(1, "First\r\nline two\n", ANN)
        clock.wait(60)
        second = tracker.comment("#1", "Second", WORKER)
        issue = tracker.get(1)
        assert issue.comments == (first, second)
        assert issue.updated_at == self.at(issue.updated_at, LATER)
        begin, later = self.at(first.at, BEGIN), self.at(second.at, LATER)
        assert first == Comment(first.id, "Ann Example", begin, "First\nline two", by_person=True)
        assert second == Comment(second.id, "worker-1", later, "Second")
        assert begin <= later

    def test_what_is_only_shown_is_there_afterwards(self, tracker: IssueTracker) -> None:
        tracker.create(IssueChange(title="T"), ANN)
        with tracker.showing():
            comment = tracker.comment(1, "Shown", ANN)
        assert tracker.get(1).comments == (comment,)

    def test_the_same_comment_without_a_marker_is_said_twice(self, tracker: IssueTracker) -> None:
        tracker.create(IssueChange(title="T"), ANN)
        comments = tuple(tracker.comment(1, "Again", ANN) for _ in range(2))
        assert tracker.get(1).comments == comments
        assert comments[0].id != comments[1].id

    def test_a_comment_with_a_marker_is_said_once_for_each_issue(
        self, tracker: IssueTracker, three: list[Issue]
    ) -> None:
        comment = tracker.comment(1, "Once", WORKER, marker="escalation 3f9a")
        assert tracker.comment(1, "Once more", ANN, marker="escalation 3f9a") == comment
        other = tracker.comment(1, "Other", WORKER, marker="escalation 77aa")
        elsewhere = tracker.comment(2, "Once", WORKER, marker="escalation 3f9a")
        assert tracker.get(1).comments == (comment, other)
        assert tracker.get(2).comments == (elsewhere,)

    def test_several_are_closed_with_one_comment_each(
        self, tracker: IssueTracker, three: list[Issue]
    ) -> None:
        marks = [f"<!-- merged {issue.number} -->" for issue in three[:2]]
        closings = [
            Closing(issue.number, f"Merged.\n\n{mark}", mark)
            for issue, mark in zip(three, marks, strict=False)
        ]
        for _ in range(2):
            tracker.close_all(closings, ANN)
        shown = [tracker.get(issue.number) for issue in three]
        assert [issue.state == "closed" for issue in shown] == [True, True, False]
        assert [len(issue.comments) for issue in shown] == [*[self.closing_comments] * 2, 0]

    @pytest.mark.parametrize("body", ["", " \n\t ", "x" * (BODY_LIMIT + 1)])
    def test_an_empty_or_endless_comment_is_refused(self, tracker: IssueTracker, body: str) -> None:
        tracker.create(IssueChange(title="T"), ANN)
        with pytest.raises(UsageError):
            tracker.comment(1, body, ANN)
        assert tracker.get(1).comments == ()

    def test_half_a_surrogate_pair_does_not_get_in(self, tracker: IssueTracker) -> None:
        broken = b"caf\xe9".decode("utf-8", "surrogateescape")
        created = tracker.create(IssueChange(title=f"T {broken}", body=broken), ANN)
        tracker.comment(1, broken, ANN)
        assert created.body.encode() == b"caf?"
        assert tracker.get(1).comments[0].body == "caf?"
        assert created.title.encode()

    def test_an_issue_cannot_wait_for_itself(
        self, tracker: IssueTracker, three: list[Issue]
    ) -> None:
        with pytest.raises(UsageError) as caught:
            tracker.change(1, IssueChange(add_blockers=numbers(1)), ANN)
        assert str(caught.value) == "#1 cannot be blocked by itself."
        assert tracker.get(1) == three[0]

    def test_issues_cannot_wait_for_each_other(
        self, tracker: IssueTracker, three: list[Issue]
    ) -> None:
        tracker.change(1, IssueChange(add_blockers=numbers(2)), ANN)
        tracker.change(2, IssueChange(add_blockers=numbers(3)), ANN)
        with pytest.raises(UsageError) as caught:
            tracker.change(3, IssueChange(add_blockers=numbers(1)), ANN)
        assert str(caught.value) == (
            "That would be a cycle: #3 would be blocked by #1, which is blocked by #2, which "
            "is blocked by #3."
        )
        assert "`ghp agent-issue block 1 --by 2 --remove`" in caught.value.hint
        assert tracker.get(3) == three[2]

    def test_an_issue_cannot_be_a_part_of_its_part(
        self, tracker: IssueTracker, three: list[Issue]
    ) -> None:
        tracker.change(1, IssueChange(parent=IssueNumber(2)), ANN)
        with pytest.raises(UsageError) as caught:
            tracker.change(2, IssueChange(parent=IssueNumber(1)), ANN)
        assert str(caught.value) == (
            "That would be a cycle: #2 would be part of #1, which is part of #2."
        )
        assert "`ghp agent-issue edit 1 --no-parent`" in caught.value.hint

    def test_who_has_it_is_shown_and_who_has_it_no_longer(
        self, tracker: IssueTracker, three: list[Issue]
    ) -> None:
        assert tracker.set_holder(2, WORKER, add=("worker-1",)).assignees == ("worker-1",)
        shown = tracker.set_holder(2, WORKER, add=("worker-2",), remove=("worker-1", "worker-7"))
        assert shown.assignees == ("worker-2",)
        tracker.send()  # what could not be shown within some seconds
        sent = tracker.get(2)
        assert sent.assignees == ("worker-2",)
        assert tracker.set_holder(2, WORKER, add=("worker-2",)) == sent
        assert tracker.send() in ([], ())

    def test_what_is_known_needs_nobody_to_be_asked(
        self, tracker: IssueTracker, three: list[Issue]
    ) -> None:
        tracker.change(2, IssueChange(state="closed"), ANN)
        assert tracker.list(closed=True) == tracker.known(closed=True)
        assert [issue.number for issue in tracker.known()] == [1, 3]

    def test_many_at_once_get_numbers_of_their_own(self, make: MakeTracker) -> None:
        titles = [f"Issue {n}" for n in range(12)]
        with ThreadPoolExecutor(4) as pool:
            created = list(pool.map(lambda t: make().create(IssueChange(title=t), ANN), titles))
        assert sorted(issue.number for issue in created) == list(range(1, 13))
        assert sorted(issue.title for issue in make().list()) == sorted(titles)

    def test_many_at_once_lose_no_change(self, make: MakeTracker) -> None:
        make().create(IssueChange(title="T"), ANN)
        words = [f"word-{n}" for n in range(8)]

        def say(word: str) -> None:
            make().change(1, IssueChange(add_labels=(word,)), ANN)
            make().comment(1, word, ANN)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(say, words))
        issue = make().get(1)
        assert issue.labels == tuple(words)
        assert sorted(comment.body for comment in issue.comments) == words

    def test_many_at_once_say_a_marked_comment_once(self, make: MakeTracker) -> None:
        make().create(IssueChange(title="T"), ANN)
        with ThreadPoolExecutor(4) as pool:
            comments = set(pool.map(lambda n: make().comment(1, f"{n}", ANN, marker="m"), range(8)))
        assert set(make().get(1).comments) == comments
        assert len(comments) == 1
