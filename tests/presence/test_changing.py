"""Whose reports of changed files count."""

from typing import Any

from ghp_agents.core.ids import Timestamp
from ghp_agents.locks.lock import Lock
from ghp_agents.presence import changing
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView


def view(name: str, liveness: Liveness = Liveness.ACTIVE, **fields: Any) -> AgentView:
    presence = {"changes": [{"path": "a.py", "added": True}], **fields}
    return AgentView(name, presence, liveness, 0.0, False)


def claim(holder: str) -> Lock:
    return Lock("issue/1", holder, 1, 1, Timestamp("2026-01-05T12:00:00Z"), "nonce")


def test_they_are_those_of_living_agents_that_still_have_their_issue() -> None:
    views = [
        view("w-1", issue=1), view("w-2", issue=2), view("w-3"), view("w-4", Liveness.DEAD),
        view("w-5", branch="agent/w-5/2-parse"), AgentView("w-6", {}, Liveness.ACTIVE, 0.0, False),
    ]  # fmt: skip
    found = list(changing.reporters(views, {1: claim("w-1"), 2: claim("w-9")}))
    assert [view.name for view in found] == ["w-1", "w-3"]
    assert changing.files(found[0]) == ["a.py"]
