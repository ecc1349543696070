"""A clone without a token, whose state has what another clone published; GitHub is not there."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.github.tokenless import place, published
from ghp_agents.github.tokenless.place import Tracker
from ghp_agents.github.tokenless.published import BUCKETS, PublishedIssue
from ghp_agents.github.tracker.mapping import MirroredIssue
from ghp_agents.ports import StateStore
from ghp_agents.state import ledger
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.state.record import Record
from ghp_agents.workspace import Workspace, now_text
from tests.support import hubs


def issue(number: int, title: str, **fields: Any) -> PublishedIssue:
    at = "2026-01-02T03:04:05Z"
    plain = MirroredIssue(number, 1_000 + number, title, "", "open", (), (), "ada", at, at)
    return PublishedIssue(plain._replace(**fields))


class Clone(NamedTuple):
    """The clone's parts."""

    ws: Workspace
    store: StateStore
    tracker: Tracker

    def publish(self, *issues: PublishedIssue) -> None:
        """Other clones published exactly these issues."""
        snapshot = self.store.snapshot()
        tracker = self.tracker._replace(clock=snapshot.clock + 1)
        files = [place.tracker_file(tracker)]
        for bucket in range(BUCKETS):
            inside = [row for row in issues if row.issue.number % BUCKETS == bucket]
            files.append(published.bucket_file(tracker, bucket, inside))
        at = Timestamp(now_text(self.ws))
        record = Record(
            ledger.PRESENCE, Actor("x"), "", "0" * 12, at, snapshot.clock + 1, tuple(files)
        )
        self.store.commit([record], expected=snapshot.revision)


@pytest.fixture
def clone(repo: Path) -> Clone:
    ws = hubs.workspace(repo)
    store = GitRefsStore(ws)
    at = Timestamp("2026-01-02T03:04:05Z")
    tracker = Tracker("github.com", "acme/widgets", at, at, 1, store.snapshot().clone)
    new_clone = Clone(ws, store, tracker)
    new_clone.publish(issue(1, "Blink", body="It blinks."), issue(2, "Shine", labels=("bug",)))
    return new_clone
