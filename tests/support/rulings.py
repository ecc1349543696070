"""Books to decide by, and cases, for tests of the decision."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ghp_agents.guard import compile_policy as rulemaking
from ghp_agents.hotpath.policy import LEASE, SCOPE, SHARED, EditRequest, Rule, UnsureError

NOW = 1_750_000_000.0
NOW_TEXT = "2025-06-15T15:06:40Z"
EARLIER = "2025-06-15T10:31:00Z"

Claims = Mapping[str, Sequence[Any]]


def book(
    *rules: tuple[Rule, Sequence[str]],
    claims: Claims | None = None,
    orchestrators: Sequence[str] = (),
    fold: bool = False,
) -> dict[str, Any]:
    """A book of these rules."""
    ready = [(rule, rulemaking.ready(patterns, fold)) for rule, patterns in rules]
    return {
        "fold": fold,
        "orchestrators": list(orchestrators),
        "claims": dict(claims or {}),
        "stops": {},
        "writes": {},
        **rulemaking.bind(ready, fold),
    }


def leased(holder: str, *patterns: str, **more: Any) -> tuple[Rule, Sequence[str]]:
    """A lease, of an agent unless it says `is_person`."""
    fields: dict[str, Any] = {"since": EARLIER, "label": "L-3f9a", "text": "new parser"} | more
    return Rule(LEASE, holder, **fields), patterns


def shared(*patterns: str) -> tuple[Rule, Sequence[str]]:
    """Paths that the settings share."""
    return Rule(SHARED, label="see `agents.shared`"), patterns


def scoped(holder: str, issue: int, *patterns: str, **more: Any) -> tuple[Rule, Sequence[str]]:
    """The scope of a claimed issue."""
    fields: dict[str, Any] = {"since": EARLIER, "epoch": 1, "text": "Parse it"} | more
    return Rule(SCOPE, holder, label=f"#{issue}", **fields), patterns


def case(
    agent: str = "worker-1",
    *,
    dead: Collection[str] = (),
    unknown: Collection[str] = (),
    **more: Any,
) -> EditRequest:
    """An agent that wants to edit, while all others live."""

    def lives(rule: Rule) -> bool:
        if rule.holder in unknown:
            raise UnsureError
        return rule.is_person or rule.holder not in dead

    is_person = more.pop("is_person", False)
    return EditRequest(agent, is_person, NOW, NOW_TEXT, lives, **more)
