"""Refuse agents that act as a person. An agent learns what a person must do, but not how.

Any process of this user can change the environment, so this is not access control. It stops an
agent from acting as a person by mistake, or because a text asks for it.
"""

from collections.abc import Collection, Mapping

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import Actor
from ghp_agents.core.person import agent_here
from ghp_agents.settings import rights
from ghp_agents.workspace import MYSELF


def refuse(
    environ: Mapping[str, str], name: str, mine: str | None, orchestrators: Collection[str]
) -> None:
    """Refuse an agent that acts as a person, or as an orchestrator other than itself (`mine`).
    Raises RefusedError."""
    actor = Actor(name, is_person=name == MYSELF)
    if agent_here(environ) is None or rights.may_act_as(actor, mine, orchestrators):
        return
    who = "a person" if name == MYSELF else f"the orchestrator {name}"
    raise RefusedError(
        f"This is an agent's session. It cannot act as {who}.",
        hint=f"Ask your user: {who} must do this.",
    )


def instead(environ: Mapping[str, str], does: str) -> str:
    """The hint when a person has to act: with the option for people, without it for agents."""
    if agent_here(environ) is not None:
        return f"Only a person or an orchestrator {does}."
    return f"A person {does} with `--as {MYSELF}`."
