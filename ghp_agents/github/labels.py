"""The labels on GitHub that have a meaning here, and their looks.

`agent:worker-1` assigns an issue to an agent, `priority:high` sets its priority. A few labels begin
like an agent's but name no agent: they show the issue's status.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import AgentName
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.issues.dependencies import EPIC, NEEDS_HUMAN
from ghp_agents.issues.issue import LABEL_LIMIT, PRIORITIES
from ghp_agents.jobs.job_state import JobState

AGENT = "agent:"
PRIORITY = "priority:"
STALE = "agent:stale"
SIGNS = frozenset({STALE, NEEDS_HUMAN})  # begin like an agent's label but name no agent

_LOOKS = {
    STALE: ("e99695", "The agent that holds this issue has been silent for a while"),
    NEEDS_HUMAN: ("d876e3", "An agent is waiting for a person's answer"),
    "priority:critical": ("b60205", "Before everything else"),
    "priority:high": ("d93f0b", "Before most issues"),
    "priority:medium": ("fbca04", "Normal priority, whatever the issue's form says"),
    "priority:low": ("c2e0c6", "When there is nothing else to do"),
    EPIC: ("3e4b9e", "Consists of other issues"),
}
_JOB_LOOKS = {
    JobState.QUEUED: ("ededed", "Waits for an agent"),
    JobState.ASSIGNED: ("c5def5", "An agent is to begin"),
    JobState.IN_PROGRESS: ("1d76db", "An agent or a person works on it"),
    JobState.REVIEW: ("fbca04", "Its pull request is open"),
    JobState.COMPLETED: ("0e8a16", "It is closed"),
    JobState.FAILED: ("b60205", "Agents failed at it, and a person decides"),
}
_AGENT_LOOK = "1d76db"
_NEEDS_LOOK = "bfdadc"


class Label(NamedTuple):
    """A label as GitHub's API takes it."""

    name: str
    color: str
    description: str


def appearance(name: str) -> Label | None:
    """The look of one of our labels; None for any other label."""
    if name in _LOOKS:
        return Label(name, *_LOOKS[name])
    job = next((label for label in of_jobs() if label.name == name), None)
    if job:
        return job
    agent = agent_of(name)
    if agent:
        return Label(name, _AGENT_LOOK, f"For {agent}; set by people with write access")
    if name.startswith("needs:"):
        return Label(name, _NEEDS_LOOK, "For agents with this capability")
    return None


def standard() -> list[Label]:
    """The labels that every repository gets at first."""
    return [Label(name, *look) for name, look in _LOOKS.items()]


def of_jobs() -> list[Label]:
    """The labels of the states of issues; a repository has them if its settings say so."""
    return [Label(state.label, *look) for state, look in _JOB_LOOKS.items()]


def agent_of(label: str, signs: Iterable[str] = SIGNS) -> AgentName | None:
    """The agent that a label assigns an issue to, or None; `agent:@worker-1` is one, too."""
    name = label.lower()  # GitHub ignores case in labels
    if not name.startswith(AGENT) or name in SIGNS or name in signs:
        return None
    agent = name.removeprefix(AGENT).removeprefix("@")
    return AgentName(agent) if is_name(agent) else None


def of_agent(agent: str, signs: Iterable[str] = SIGNS) -> str:
    """The label that assigns an issue to an agent. Raises UsageError if there can be none."""
    label = f"{AGENT}{agent}"
    if label in SIGNS or label in signs:
        raise UsageError(
            f"The label {label} on GitHub has another meaning, so no agent can be called {agent} "
            "there.",
            hint="Give the agent another name: `ghp agent-whoami --set worker-1`.",
        )
    if len(label) > LABEL_LIMIT:
        raise UsageError(
            f"The label of {agent[:20]}… would be too long for GitHub: at most "
            f"{LABEL_LIMIT - len(AGENT)} characters.",
            hint="Give the agent a shorter name: `ghp agent-whoami --set worker-1`.",
        )
    return label


def priority_of(labels: Iterable[str]) -> str | None:
    """The highest priority among labels, or None."""
    named = {label.lower().removeprefix(PRIORITY) for label in labels if is_priority(label)}
    return next((priority for priority in PRIORITIES if priority in named), None)


def is_priority(label: str) -> bool:
    """Whether a label sets a priority."""
    name = label.lower()
    return name.startswith(PRIORITY) and name.removeprefix(PRIORITY) in PRIORITIES
