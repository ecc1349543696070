"""Whose account writes on GitHub: a person's name, or nobody's."""

from pathlib import Path

import pytest

from ghp_agents.github.account import person
from ghp_agents.github.api.repository import GitHubRepository
from tests.support import hubs
from tests.support.clock import ManualClock
from tests.support.hubs import Script, says


@pytest.mark.parametrize(
    ("login", "name"),
    [("ada", "Ada Example"), ("eve", "eve"), ("bot-1", ""), ("helper[bot]", ""), (None, "")],
)
def test_a_person_is_named_and_a_program_is_not(repo: Path, login: str | None, name: str) -> None:
    accounts = {"Ada Example": "ada", "worker-1": "bot-1"}
    script = Script()
    ws = hubs.workspace(repo, ManualClock())
    hub = GitHubRepository(ws, hubs.access(script.address))
    if login:
        script.then(says(200, {"login": login}))
        hub.viewer()
    assert person(hub, accounts) == name
    script.close()
