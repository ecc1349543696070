"""What another clone started is done bit by bit, and the wait is said once."""

import os
from pathlib import Path

from ghp_agents.core.ids import CloneId
from ghp_agents.wiring import App
from ghp_agents.workflows import limit
from ghp_agents.workflows.limit import Limited
from ghp_agents.workspace import open_workspace
from tests.support.context import make_context

OTHER = CloneId("3f9a")


def test_a_few_actions_are_done_at_once(repo: Path) -> None:
    snapshot = App(repo, os.environ).store.snapshot()
    assert limit.choose(snapshot, [], []) == Limited([])


def test_that_workflows_wait_is_said_once_until_none_does(repo: Path) -> None:
    ctx = make_context(open_workspace(repo, os.environ))
    said = limit.notes(ctx, {OTHER: 3})
    assert said == [
        "3 workflows that clone 3f9a started must wait: a sync does at most 10 steps for one "
        "clone, and 50 of its workflows run at a time."
    ]
    assert limit.notes(ctx, {OTHER: 2}) == []
    assert limit.notes(ctx, {}) == []
    assert len(limit.notes(ctx, {OTHER: 1})) == 1
