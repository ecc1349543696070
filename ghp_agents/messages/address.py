"""To whom a message goes: an agent by its name, or a group that begins with @.

`@all`, `@orchestrator`, `@capability:tests`, and any other word is a topic: `@code.completed`.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import Actor, agent_name, one_line
from ghp_agents.messages.topics.subscription import hears
from ghp_agents.messages.topics.topic import REST, is_topic

ALL = "@all"
ORCHESTRATOR = "@orchestrator"
CAPABILITY = "@capability:"
_CAPABILITY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
MOST = 50  # recipients of one message; more are a group


class Roles(NamedTuple):
    """What an agent is, as far as it decides which groups it belongs to."""

    name: str
    is_orchestrator: bool = False
    capabilities: tuple[str, ...] = ()
    listens: tuple[str, ...] = ()  # patterns of topics
    ignores: tuple[str, ...] = ()


def checked(text: str) -> str:
    """An address as it is written in a message: `worker-1`, `@all`. Raises UsageError."""
    word = text.strip()
    if not word.startswith("@"):
        return agent_name(word)
    if word in (ALL, ORCHESTRATOR) or is_topic(word):
        return word
    if word.startswith(CAPABILITY) and _CAPABILITY.fullmatch(word[len(CAPABILITY) :]):
        return word
    raise UsageError(
        f"{one_line(word, 40)!r} is not a group of agents.",
        hint=f"Use {ALL}, {ORCHESTRATOR}, {CAPABILITY}NAME, a topic like @code.completed, or the "
        "name of an agent: `ghp agent-status` lists them.",
    )


def checked_all(texts: Iterable[str]) -> tuple[str, ...]:
    """The recipients of a message, each once, in the given order. Raises UsageError."""
    recipients = tuple(dict.fromkeys(checked(part) for text in texts for part in text.split(",")))
    if len(recipients) > MOST:
        raise UsageError(
            f"A message has at most {MOST} recipients; these are {len(recipients)}.",
            hint=f"Send it to {ALL}, or in several messages.",
        )
    return recipients


def of_author(by: Actor) -> str:
    """The recipient of a reply: who asked, maybe a person."""
    return one_line(by.name, 60).replace(",", " ")


def is_group(address: str) -> bool:
    """Whether several agents may receive what is sent to an address."""
    return address.startswith("@")


def reaches(to: Collection[str], roles: Roles) -> bool:
    """Whether a message with these recipients goes to an agent."""
    return roles.name in to or any(_belongs(roles, name) for name in to if is_group(name))


def _belongs(roles: Roles, group: str) -> bool:
    if REST in roles.ignores:
        return False  # it hears only what names it
    if group == ALL:
        return True
    if group == ORCHESTRATOR:
        return roles.is_orchestrator
    if group.startswith(CAPABILITY):
        return group[len(CAPABILITY) :] in roles.capabilities
    return hears(roles.listens, roles.ignores, group[1:])


def named(to: Sequence[str]) -> list[str]:
    """The agents that a message names."""
    return [address for address in to if not is_group(address)]
