"""Open issues are whole, whatever left the tips."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor, CloneId, IssueNumber, Timestamp
from ghp_agents.issues.open_issues import read_open
from ghp_agents.issues.record import FOLDER, IssueEvent, encode
from ghp_agents.issues.replay import fold, read_events, settled
from ghp_agents.ports import Snapshot
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from tests.state.clones import GitField

AT = Timestamp("2026-01-02T03:04:05Z")
ONE, TWO = "aaaaaaaa0001", "aaaaaaaa0002"


@pytest.fixture
def field(remote: Path, clones: Callable[[int], list[Path]], repo: Path) -> GitField:
    return GitField(remote, clones, repo)


def say(store: GitRefsStore, issue: str, kind: str, **fields: object) -> None:
    """Commit one record of an issue."""

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        clock = snapshot.clock + 1
        by, clone = Actor("Ada", is_person=True), CloneId(snapshot.clone)
        event = IssueEvent(issue, f"{clock:012x}", kind, clock, clone, AT, by)
        event = event._replace(**fields)  # type: ignore[arg-type]
        files = ((event.path, encode(event)),)
        return None, [Record("issue-edit", by, issue, event.id, AT, clock, files)]

    transact(store, decide)


def test_an_open_issue_is_read_with_what_it_refers_to(field: GitField) -> None:
    store = field.store(0)
    say(store, ONE, "create", number=IssueNumber(1), texts={"title": "Parse"})
    say(store, TWO, "create", number=IssueNumber(2), texts={"title": "Show"})
    say(store, TWO, "change", added={"blockedBy": (ONE,)})
    say(store, ONE, "change", texts={"state": "closed"})
    before = fold(read_events(store.snapshot().files(FOLDER)))
    assert store.compact(settled(store.snapshot().files(FOLDER), math.inf)) == 2
    assert [path.split("/")[2] for path in store.snapshot().present(FOLDER)] == [TWO, TWO]
    assert fold(read_open(store.snapshot())) == before
    say(store, ONE, "change", texts={"state": "open"})
    assert fold(read_open(store.snapshot())) == fold(read_events(store.snapshot().files(FOLDER)))
