"""People and agents at one keyboard: an agent is told what a person must do, and not how to be one.

Whoever runs as this user can set the environment as they like, so this keeps nobody out. It keeps
an agent from taking a person's part by mistake, or because a text told it to.
"""

from collections.abc import Collection, Mapping

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.person import agent_here
from ghp_agents.workspace import MYSELF


def refuse(
    environ: Mapping[str, str], name: str, mine: str | None, orchestrators: Collection[str]
) -> None:
    """Refuse that an agent acts as a person, or as an orchestrator whose name is not `mine`, its
    own. Raises RefusedError."""
    if (
        agent_here(environ) is None
        or (name != MYSELF and name not in orchestrators)
        or name == mine
    ):
        return
    who = "a person" if name == MYSELF else f"the orchestrator {name}"
    raise RefusedError(
        f"This is an agent's session, and it may not act as {who}.",
        hint=f"Tell your user what is needed: {who} must do this.",
    )


def instead(environ: Mapping[str, str], does: str) -> str:
    """What next, where a person has to do something: people are told how, agents that."""
    if agent_here(environ) is not None:
        return f"A person {does}, or an orchestrator."
    return f"A person {does} as themselves: add `--as {MYSELF}`."
