"""What status and doctor say about clones without a token."""

from ghp_agents.core.ids import Actor
from ghp_agents.github.tokenless import overview, request
from ghp_agents.github.tokenless.request import RequestResult, WriteRequest
from ghp_agents.github.tokenless.tracker import TokenlessTracker
from ghp_agents.locks.git import GitLocks
from ghp_agents.state.codec import seconds
from tests.github.tokenless.conftest import Clone

ME = Actor("worker-1")
HERE = (
    "Issues are on GitHub: https://github.com/acme/widgets. This clone has no token: it reads what "
    "other clones published 5 min ago."
)
WAITS = "Waiting for a clone with a token: 2 writes for GitHub; first: a comment on #1 by worker-1."


def ask(clone: Clone, *numbers: int) -> list[WriteRequest]:
    tracker = TokenlessTracker(clone.ws, clone.store, GitLocks(clone.ws), clone.tracker)
    for number in numbers:
        tracker.comment(number, "Hello", ME)
    return request.read_outgoing(clone.store.snapshot().files(request.FOLDER)).waiting


def lines(clone: Clone, *, has_token: bool) -> list[tuple[str, str]]:
    now = seconds(clone.tracker.at) + 300
    return list(overview.in_short(clone.store.snapshot(), now, has_token=has_token))


def test_status_says_where_issues_are_how_old_that_is_and_what_waits(clone: Clone) -> None:
    assert lines(clone, has_token=False) == [(HERE, "")]
    assert lines(clone, has_token=True) == []
    ask(clone, 1, 2)
    assert lines(clone, has_token=False) == [
        (HERE, ""),
        (WAITS, "Run `ghp agent-sync` in a clone with a token."),
    ]
    assert lines(clone, has_token=True) == [(WAITS, "Run `ghp agent-sync` to send it.")]


def test_a_refusal_is_told(clone: Clone) -> None:
    (entry,) = ask(clone, 1)
    snapshot = clone.store.snapshot()
    clock = snapshot.clock + 1
    result = RequestResult(
        entry.id, ME, entry.at, clock, snapshot.clone, "refused", "It is locked.", 0
    )
    clone.store.commit([request.result_record(result, entry)], expected=snapshot.revision)
    assert lines(clone, has_token=True) == [
        (
            "Not sent to GitHub: a comment on #1 by worker-1: It is locked.",
            "Run `ghp agent-doctor` for all of them.",
        )
    ]


def test_where_nobody_published_anything_nothing_is_said(clone: Clone) -> None:
    assert overview.TokenlessOverview().waits == ""
