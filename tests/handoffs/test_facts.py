"""What a handoff is made from is read once, and only what exists."""

from pathlib import Path

import pytest

from ghp_agents.handoffs import evidence
from ghp_agents.handoffs.facts import HandoffFacts, gather
from tests.support.git import commit
from tests.support.handoffs import Station, begin_work, make_team


@pytest.fixture
def here(repo: Path) -> Station:
    """worker-1 on its branch for #2."""
    begin_work(repo)
    return make_team().at(repo)


def read(here: Station, *, ask_rights: bool = False) -> HandoffFacts:
    ctx = here.team.parts(here.ws)
    return gather(ctx, evidence.topic(ctx, ctx.ws.actor(), "2"), ask_rights=ask_rights)


def test_commits_questions_and_uncommitted_work_are_facts(here: Station) -> None:
    question = here.ask("Which colour?").escalation
    commit(here.folder, {"dash.py": "x = 1\n"}, "Begin the dashboard")
    (here.folder / "dash.py").write_text("x = 2\n")
    facts = read(here)
    assert facts.about.number == 2
    assert [entry.subject for entry in facts.branch.history.commits] == ["Begin the dashboard"]
    assert [entry.id for entry in facts.topic_facts.escalations] == [question.id]
    assert [change.path for change in facts.work.patch.changes] == ["dash.py"]
    assert facts.learnt == ()


def test_locks_are_read_only_if_they_are_asked_for(here: Station) -> None:
    here.team.locks.acquire("issue/2", "worker-1", expected=None)
    assert read(here).locks == ()
    assert [lock.name for lock in read(here, ask_rights=True).locks] == ["issue/2"]
