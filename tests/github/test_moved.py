"""A renamed repository goes on, and people read it once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.github import moved
from tests.support import hubs
from tests.support.clock import ManualClock
from tests.support.hubs import Script, says


@pytest.fixture
def script() -> Iterator[Script]:
    scripted = Script()
    yield scripted
    scripted.close()


def test_a_new_name_is_told_once(repo: Path, script: Script) -> None:
    hub, ws = hubs.hub(repo, script, ManualClock()), hubs.workspace(repo)
    assert moved.notes(ws, hub) == []
    new = f"{script.address}/repositories/7"
    script.then(says(301, {}, location=new), says(200, {"full_name": "acme/gadgets"}))
    assert hub.present_name() == hub.moved_to == "acme/gadgets"
    assert script.lines == ["GET /repos/acme/widgets", "GET /repositories/7"]
    assert moved.notes(ws, hub) == [
        "acme/widgets is now acme/gadgets on GitHub, which redirects. Correct the remote's address "
        "(`git remote set-url`), or `agents.github.repository`: the old name stops working when "
        "somebody creates a repository with it."
    ]
    assert moved.notes(ws, hub) == []


def test_the_same_name_in_other_letters_is_no_news(repo: Path, script: Script) -> None:
    hub = hubs.hub(repo, script, ManualClock())
    script.then(says(200, {"full_name": "Acme/Widgets"}))
    assert hub.present_name() == "Acme/Widgets"
    assert moved.words(hub) == ""
