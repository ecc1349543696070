"""What decides whether an entry concerns an agent. What agents then hear is in test_others_news."""

import os
from pathlib import Path

from ghp_agents.core.ids import AgentName
from ghp_agents.sync.news_view import NewsView
from ghp_agents.wiring import App
from tests.support.ghp import succeed


def test_an_agent_manages_an_epic_that_it_holds_from_its_claim_on(repo: Path) -> None:
    succeed(
        repo,
        "agent-init",
        "agent-issue new Parser",
        "agent-issue comment 1 Before",
        "agent-claim 1 --as lead",
        "agent-issue comment 1 After",
    )
    app = App(repo, os.environ)
    entries = app.store.ledger()
    view = NewsView(app, app.store.snapshot(), AgentName("lead"), entries)
    epic = view.issues[1]
    comments = [entry for entry in entries if entry.event == "issue-comment"]
    assert [view.manages(epic, entry) for entry in comments] == [False, True]
    assert view.is_managed(epic)
    other = NewsView(app, app.store.snapshot(), AgentName("worker-1"), entries)
    assert not other.manages(epic, comments[1])
