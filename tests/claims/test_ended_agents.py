"""An orchestrator hears of each agent with a claim that does not go on, whatever a sweep does."""

import os
from pathlib import Path

from ghp_agents.core.ids import AgentName
from ghp_agents.sync import notifications
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.consent import configure
from tests.support.ghp import succeed


def news(repo: Path, clock: ManualClock, agent: str) -> list[str]:
    """What an agent hears now and not again."""
    app = App(repo, os.environ, name=agent, clock=clock)
    notices = notifications.gather(app, AgentName(agent))
    notifications.deliver(app, AgentName(agent), notices.ids)
    return notices.text.splitlines()


def pass_by(repo: Path, clock: ManualClock, seconds: float) -> None:
    """Time without a heartbeat: the files are as old as the clock says."""
    now = clock.now()
    for path in (repo / ".git/ghp/agents").glob("*.json"):
        os.utime(path, (now, now))
    clock.wait(seconds)


def test_it_is_told_of_a_stale_and_of_a_dead_agent_once_each(repo: Path) -> None:
    clock = ManualClock()
    configure(repo, {"agents": {"orchestrators": ["lead"]}})
    succeed(repo, "agent-issue new Parse", "agent-claim 1 --as worker-1", clock=clock)
    succeed(repo, "agent-heartbeat --as lead", "agent-heartbeat --as worker-2", clock=clock)
    assert news(repo, clock, "lead") == []
    pass_by(repo, clock, 700)
    said = "worker-1 has #1, and it is stale. Next: `ghp agent-explain 1`."
    assert [news(repo, clock, "lead"), news(repo, clock, "lead")] == [[said], []]
    clock.wait(1_200)
    assert news(repo, clock, "lead") == [
        "worker-1 has #1, and it is dead. Next: `ghp agent-sweep`."
    ]
    assert news(repo, clock, "worker-2") == [], "it is no orchestrator"
