"""Find leases by a resource's name or by patterns."""

from collections.abc import Sequence

from ghp_agents.core.errors import NotFoundError
from ghp_agents.core.ids import Actor
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.record import what


def named(holds: Sequence[Hold], by: Actor, name: str) -> list[Hold]:
    """The leases of a named resource; only mine, if I have any. Raises NotFoundError."""
    matches = [hold for hold in holds if hold.name == name]
    mine = [hold for hold in matches if _is_of(hold, by)]
    if not matches:
        raise NotFoundError(
            f"Nobody has leased {name}.", hint="`ghp agent-leases` lists all leases."
        )
    return mine or matches


def leased(holds: Sequence[Hold], by: Actor, patterns: tuple[str, ...]) -> list[Hold]:
    """The leases of exactly these patterns, or of each alone; only mine, if I have any."""
    whole = _of_patterns(holds, by, patterns)
    if whole:
        return whole
    matches: list[Hold] = []
    for pattern in patterns:
        alone = _of_patterns(holds, by, (pattern,))
        if not alone:
            shown = what((pattern,), None)
            among = [hold for hold in holds if pattern in hold.patterns]
            raise NotFoundError(
                f"No lease covers exactly {shown}.",
                hint=(
                    f"{among[0].short} covers it together with other paths: `ghp agent-release "
                    f"{among[0].short}`."
                )
                if among
                else "`ghp agent-leases` lists the leases; use the same patterns.",
            )
        matches += alone
    return matches


def _of_patterns(holds: Sequence[Hold], by: Actor, patterns: tuple[str, ...]) -> list[Hold]:
    matches = [hold for hold in holds if hold.patterns and set(hold.patterns) == set(patterns)]
    return [hold for hold in matches if _is_of(hold, by)] or matches


def _is_of(hold: Hold, by: Actor) -> bool:
    return (hold.holder, hold.is_person) == (by.name, by.is_person)
