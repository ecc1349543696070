"""What a change of cards gives to agents, or takes from what people wrote about them. Pure."""

from collections.abc import Iterator, Sequence

from ghp_agents.cards import manifest
from ghp_agents.cards.card import AgentCard
from ghp_agents.cards.manifest import ALL, NETWORK, READ, RUN
from ghp_agents.cards.read_cards import Cards
from ghp_agents.hotpath.quoting import file

LIMITS = ("turns", "cost", "minutes")


def widened(before: Cards, after: Cards) -> list[str]:
    """Which agents may do more after a change, or lose their card; one sentence for each."""
    names = sorted({*before.by_agent, *after.by_agent})
    reasons = (
        (name, _wider(before.by_agent.get(name), after.by_agent.get(name))) for name in names
    )
    return [f"{file(name)} {why}" for name, why in reasons if why]


def _wider(before: AgentCard | None, after: AgentCard | None) -> str:
    """Why an agent may do more than before; empty if it may not."""
    if before is not None and after is None:
        return "loses its card"
    old, new = before or AgentCard(""), after or AgentCard("")
    if new.broken:
        return "" if old.broken or before is None else "gets a card that cannot be read"
    if old.broken:
        return "had a card that could not be read"
    return next(_reasons(old, new), "") or ("" if before is None else _other_program(old, new))


def _reasons(old: AgentCard, new: AgentCard) -> Iterator[str]:
    if old.permissions is not None and new.permissions is None:
        yield "loses its permissions"
    if old.permissions is not None and new.permissions is not None:
        for tool in dict.fromkeys(right.tool for right in (*new.permissions, *_READING)):
            scopes = (_scope(old, tool), _scope(new, tool))
            if not _covers(tool, *scopes):
                yield f"may do more with {file(tool)}"
    if new.autonomous == "true" != old.autonomous:
        yield "no longer asks a person"
    if new.github and not old.github:
        yield "gets the person's GitHub token"
    if new.url != old.url:
        yield "works with another address"
    for key in LIMITS:
        was, now = getattr(old, key), getattr(new, key)
        if was and (not now or now > was):
            yield f"has a higher limit of {key}"


def _other_program(old: AgentCard, new: AgentCard) -> str:
    """What else works as the agent: not every client keeps the same rules, or costs the same."""
    if new.client != old.client:
        return f"runs with {file(new.client)}" if new.client else "runs with another client"
    if new.model != old.model:
        return f"gets the model {file(new.model)}" if new.model else "gets another model"
    return ""


_READING = (manifest.Permission(READ),)  # without a word about it, all may be read


def _scope(card: AgentCard, tool: str) -> tuple[str, ...] | None:
    scope = manifest.scope_of(card.permissions or (), tool)
    return () if scope is None and tool == READ else scope


def _covers(tool: str, old: Sequence[str] | None, new: Sequence[str] | None) -> bool:
    """Whether a scope allows all that another one does; empty is everything, None nothing."""
    if new is None or old == ():
        return True
    if old is None or new == ():
        return False
    return all(any(_holds(tool, have, item) for have in old) for item in new)


def _holds(tool: str, have: str, item: str) -> bool:
    if have == item or (tool in (RUN, NETWORK) and have == ALL):
        return True
    if tool == RUN:
        return item.startswith(f"{have} ")
    if tool == NETWORK:
        return have.startswith("*.") and item.endswith(have[1:])
    return have == "**"  # of patterns, only the same one and the widest are compared
