"""GitHub's issues in a clone without a token: read as published, written by request."""

import pytest

from ghp_agents.core.errors import UnknownError, UsageError
from ghp_agents.core.ids import Actor, IssueNumber
from ghp_agents.github.tokenless import request
from ghp_agents.github.tokenless.request import WriteRequest
from ghp_agents.github.tokenless.tracker import TokenlessTracker
from ghp_agents.issues.issue import PROVISIONAL, Closing, IssueChange
from ghp_agents.locks.git import GitLocks
from tests.github.tokenless.conftest import Clone, issue

ME = Actor("worker-1")


@pytest.fixture
def tracker(clone: Clone) -> TokenlessTracker:
    return TokenlessTracker(clone.ws, clone.store, GitLocks(clone.ws), clone.tracker)


def waiting(clone: Clone) -> list[WriteRequest]:
    return request.read_outgoing(clone.store.snapshot().files(request.FOLDER)).waiting


def test_issues_are_read_as_they_were_published(tracker: TokenlessTracker) -> None:
    assert [(issue.number, issue.title) for issue in tracker.list()] == [(1, "Blink"), (2, "Shine")]
    assert tracker.known() == tracker.list()
    assert tracker.get("#2").labels == ("bug",)
    assert tracker.get(1).body == "It blinks."


def test_closed_ones_are_listed_on_request(clone: Clone, tracker: TokenlessTracker) -> None:
    clone.publish(issue(1, "Blink", state="closed"), issue(2, "Shine"))
    assert [issue.number for issue in tracker.list()] == [2]
    assert [issue.number for issue in tracker.list(closed=True)] == [1, 2]


def test_an_issue_that_was_not_published_is_unknown(tracker: TokenlessTracker) -> None:
    with pytest.raises(UnknownError) as caught:
        tracker.get(7)
    assert str(caught.value) == (
        "This clone has no token for GitHub, and no other clone has published issue 7 of "
        "github.com/acme/widgets. It knows the open issues as of 2026-01-02T03:04:05Z."
    )
    assert caught.value.hint == (
        "Run `ghp agent-sync` for newer ones. To ask GitHub from here, give this clone a token: "
        "`gh auth login`, or set GITHUB_TOKEN."
    )


def test_a_comment_counts_at_once_and_waits(clone: Clone, tracker: TokenlessTracker) -> None:
    comment = tracker.comment(1, "Hello", ME)
    assert tracker.get(1).comments == (comment,)
    (entry,) = waiting(clone)
    assert (entry.id, entry.kind, entry.issue, entry.body) == (comment.id, "comment", 1, "Hello")


def test_a_comment_with_a_marker_is_asked_for_once(clone: Clone, tracker: TokenlessTracker) -> None:
    first = tracker.comment(1, "Hello", ME, marker="E-1")
    assert tracker.comment(1, "Hello", ME, marker="E-1") == first
    assert tracker.comment(2, "Hello", ME, marker="E-1") != first
    assert len(waiting(clone)) == 2


def test_a_change_counts_at_once_and_waits(clone: Clone, tracker: TokenlessTracker) -> None:
    changed = tracker.change(1, IssueChange(add_labels=("x",), priority="high"), ME)
    assert (changed.labels, changed.priority) == (("x",), "high")
    assert tracker.get(1) == changed
    assert tracker.change(1, IssueChange(add_labels=("x",)), ME) == changed
    assert [entry.change.add_labels for entry in waiting(clone)] == [("x",)]


def test_the_holder_is_shown_by_request(clone: Clone, tracker: TokenlessTracker) -> None:
    assert tracker.set_holder(1, ME, add=("worker-1",)).assignees == ("worker-1",)
    assert tracker.set_holder(1, ME, remove=("worker-1",)).assignees == ()
    assert len(waiting(clone)) == 2


def test_issues_are_closed_by_request_with_a_comment(
    clone: Clone, tracker: TokenlessTracker
) -> None:
    tracker.close_all([Closing(1, "Done.", "merged")], ME)
    tracker.close_all([Closing(1, "Done.", "merged")], ME)
    assert [entry.kind for entry in waiting(clone)] == ["comment", "change"]
    assert [issue.number for issue in tracker.list()] == [2]


def test_a_cycle_is_refused(tracker: TokenlessTracker) -> None:
    tracker.change(1, IssueChange(add_blockers=(IssueNumber(2),)), ME)
    with pytest.raises(UsageError):
        tracker.change(2, IssueChange(add_blockers=(IssueNumber(1),)), ME)


def test_a_new_issue_has_no_number_that_github_could_give_another(
    clone: Clone, tracker: TokenlessTracker
) -> None:
    created = tracker.create(IssueChange(title="New", add_labels=("x",)), ME)
    assert created.number >= PROVISIONAL
    assert tracker.get(f"I-{created.id}")._replace(updated_at=created.updated_at) == created
    with pytest.raises(UnknownError) as caught:
        tracker.comment(created.number, "Hello", ME)
    assert str(caught.value) == (
        f"I-{created.id[:6]} is not on GitHub yet: it waits for a clone with a token."
    )
    (entry,) = waiting(clone)
    assert (entry.id, entry.kind, entry.change.title) == (created.id, "create", "New")


def test_nothing_is_sent_from_here(tracker: TokenlessTracker) -> None:
    assert tracker.send() == ()
    assert tracker.accepts_comment_commands
