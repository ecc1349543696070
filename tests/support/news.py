"""What an agent hears, for tests."""

import os
from pathlib import Path

from ghp_agents.core.ids import AgentName
from ghp_agents.sync import notifications
from ghp_agents.wiring import App
from tests.support.hooks import SILENT, call, context, payload

LEAD = "ghp-agents has news for this agent:\n"
PERSON = "«Test Person» (a person)"


def hear(folder: Path, agent: str) -> list[str]:
    """What the agent hears now, delivered to it."""
    app, name = App(folder, os.environ, name=agent), AgentName(agent)
    notices = notifications.gather(app, name)
    notifications.deliver(app, name, notices.ids)
    return notices.text.splitlines()


def step(folder: Path) -> str:
    """What the session of a worktree reads after its next batch of tools."""
    done = call("claude", payload("claude-PostToolBatch", folder), folder)
    return "" if done == SILENT else context(done)


def question(folder: Path) -> str:
    """The name of the last question."""
    questions = [x for x in App(folder, os.environ).store.ledger() if x.event == "escalate"]
    return questions[-1].object
