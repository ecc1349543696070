"""The page of a handoff is a function of its facts."""

from pathlib import Path

import pytest

from ghp_agents.core import front_matter
from ghp_agents.handoffs import evidence
from ghp_agents.handoffs.facts import gather
from ghp_agents.handoffs.page import page
from tests.support.git import commit
from tests.support.handoffs import Station, begin_work, make_team


@pytest.fixture
def here(repo: Path) -> Station:
    """worker-1 on its branch for #2."""
    begin_work(repo)
    return make_team().at(repo)


def test_the_recorded_document_has_this_page(here: Station) -> None:
    commit(here.folder, {"dash.py": "x = 1\n"}, "Begin the dashboard")
    ctx = here.team.parts(here.ws)
    facts = gather(ctx, evidence.topic(ctx, ctx.ws.actor(), "2"), ask_rights=False)
    handed = here.hand_over(checkpoint=True)
    recorded = front_matter.parse(handed.document.encode()).body
    assert page(here.ws, facts, handed.handoff).strip() == recorded.strip()


def test_a_secret_of_the_environment_is_in_no_page(
    here: Station, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "s3cr3t-and-long-enough")
    handed = make_team().at(here.folder).hand_over(note="Use s3cr3t-and-long-enough.")
    assert "s3cr3t-and-long-enough" not in handed.document
