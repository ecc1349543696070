"""To whom a message goes: an agent by its name, or a group that begins with @."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import agent_name, one_line

ALL = "@all"
ORCHESTRATOR = "@orchestrator"
GROUPS = (ALL, ORCHESTRATOR)
MOST = 50  # recipients of one message; more are a group


class Roles(NamedTuple):
    """What an agent is, as far as it decides which groups it belongs to."""

    name: str
    is_orchestrator: bool = False


def checked(text: str) -> str:
    """An address as it is written in a message: `worker-1`, `@all`. Raises UsageError."""
    word = text.strip()
    if not word.startswith("@"):
        return agent_name(word)
    if word not in GROUPS:
        raise UsageError(
            f"{one_line(word, 40)!r} is not a group of agents.",
            hint=f"Use {', '.join(GROUPS)}, or the name of an agent: `ghp agent-status` lists "
            "them.",
        )
    return word


def checked_all(texts: Iterable[str]) -> tuple[str, ...]:
    """The recipients of a message, each once, in the given order. Raises UsageError."""
    found = tuple(dict.fromkeys(checked(part) for text in texts for part in text.split(",")))
    if len(found) > MOST:
        raise UsageError(
            f"A message has at most {MOST} recipients; these are {len(found)}.",
            hint=f"Send it to {ALL}, or in several messages.",
        )
    return found


def is_group(address: str) -> bool:
    """Whether several agents may receive what is sent to an address."""
    return address.startswith("@")


def reaches(to: Collection[str], roles: Roles) -> bool:
    """Whether a message with these recipients goes to an agent."""
    return roles.name in to or any(_belongs(roles, each) for each in to if is_group(each))


def _belongs(roles: Roles, group: str) -> bool:
    return group == ALL or (group == ORCHESTRATOR and roles.is_orchestrator)


def named(to: Sequence[str]) -> list[str]:
    """The agents that a message names."""
    return [address for address in to if not is_group(address)]
