"""An agent's card in words and as JSON."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ghp_agents.cli import output
from ghp_agents.core.ids import count, listed
from ghp_agents.hotpath.quoting import clean, file, named, phrase
from ghp_agents.presence import capabilities
from ghp_agents.presence.service import AgentView
from ghp_agents.workspace import Workspace

if TYPE_CHECKING:
    from ghp_agents.cards.card import AgentCard

WHOLE = 2_000
SHOWN = 20  # names of agents on one line


def page(card: "AgentCard") -> Iterator[str]:
    """The lines of a card below an agent's name."""
    if card.description:
        yield f"  described: {phrase(card.description, WHOLE)}"
    client = " ".join(filter(None, (card.client, card.model)))
    where = f" on {card.machine}" if card.machine else ""
    for label, text in (
        ("role", card.role), ("kind", card.kind), ("runs", f"{client}{where}".strip()),
    ):  # fmt: skip
        if text:
            yield f"  {label}: {text}"
    for skill in card.skills:
        about = f": {phrase(skill.description, WHOLE)}" if skill.description else ""
        yield f"  can do {skill.id}{about}"
    if card.permissions is not None:
        yield f"  may use: {_rights(card) or 'nothing but ghp and git'}"
    if card.broken:
        yield f"  card does not count: {clean(card.broken)}"
    yield f"  card: {file(card.path)}"


def _rights(card: "AgentCard") -> str:
    return "; ".join(
        f"{permission.tool} {', '.join(map(file, permission.scope))}".strip()
        for permission in card.permissions or ()
    )


def able(ws: Workspace, agents: Sequence[AgentView], word: str) -> list[AgentView]:
    """The agents that declare a capability."""
    return [x for x in agents if word.casefold() in capabilities.of(ws, x.name, x.presence)]


def idle(ws: Workspace, agents: Collection[str], word: str | None = None) -> "list[AgentCard]":
    """The cards of agents that have never run here, with a capability if one is named."""
    names = [name for name in ws.settings.cards if name not in agents]
    can = ws.settings.capabilities
    wanted = [n for n in names if word is None or word.casefold() in can.get(n, ())]
    return [card for name in wanted if (card := ws.settings.card(name))]


def tell_idle(cards: "Sequence[AgentCard]") -> None:
    """Name the agents that could be started."""
    if cards:
        names = listed([named(card.name) for card in cards], SHOWN)
        agents = count(len(cards), "agent")
        output.say(f"{agents} could be started with `ghp agent-work --agent NAME`: {names}.")


def join(agents: dict[str, Any], ws: Workspace, others: "Sequence[AgentCard]") -> None:
    """Add the cards to a JSON of agents, and the agents that have never run."""
    cards: Mapping[str, Any] = ws.settings.cards
    for name, entry in agents.items():
        card = ws.settings.card(name) if name in cards else None
        if card:
            entry["card"] = card
    for card in others:
        agents[card.name] = {"card": card}
