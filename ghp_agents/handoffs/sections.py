"""An agent's own description of its work, in sections that its later checkpoints continue."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ghp_agents.core.fields import any_list, any_text
from ghp_agents.core.ids import count
from ghp_agents.handoffs.handoff import NO_WORDS, Handoff, Sections
from ghp_agents.hotpath.quoting import phrase

TEXT_LIMIT, ITEM_LIMIT = 2_000, 500  # characters
ITEMS = 50  # of each list; the oldest go first

_TITLES = {
    "goal": "Goal",
    "focus": "Current focus",
    "summary": "Summary",
    "decisions": "Key decisions",
    "findings": "Findings",
    "identifiers": "Identifiers",
    "artifacts": "Artifacts",
    "next": "Next steps",
}


def merge(earlier: Sections, new: Sections) -> Sections:
    """Return both: a new text replaces the earlier one, a list gets the new items."""
    return Sections(*(_merge(*pair) for pair in zip(earlier, new, strict=True)))


def _merge(earlier: Any, new: Any) -> Any:
    if isinstance(new, str):
        return new or earlier
    return tuple(dict.fromkeys((*(item for item in earlier if item not in new), *new)))[-ITEMS:]


def carried(handoffs: Sequence[Handoff], agent: str, branch: str | None) -> Sections:
    """Return the last sections of an agent, or of who handed over to it, from `handoffs` of one
    issue. Without an issue, the handoff must be about the same branch.
    """
    mine = [
        handoff
        for handoff in handoffs
        if agent in (handoff.by.name, handoff.to) and (handoff.issue or handoff.branch == branch)
    ]
    return mine[-1].sections if mine else NO_WORDS


def tidy(words: Sections, clean: Callable[[str], str]) -> tuple[Sections, list[str]]:
    """Return the sections on clean, bounded lines, and warnings about what was cut."""
    shortened = 0

    def line(text: str, limit: int) -> str:
        nonlocal shortened
        whole = " ".join(clean(text).split())
        shortened += len(whole) > limit
        return whole if len(whole) <= limit else whole[: limit - 1] + "…"

    def lines(value: str | Iterable[str]) -> Any:
        if isinstance(value, str):
            return line(value, TEXT_LIMIT)
        return tuple(dict.fromkeys(filter(None, (line(item, ITEM_LIMIT) for item in value))))

    kept = Sections(*map(lines, words))
    if not shortened:
        return kept, []
    limits = f"{TEXT_LIMIT} characters, each item of a list {ITEM_LIMIT}"
    return kept, [f"{count(shortened, 'text')} cut: a text has {limits}."]


def encode(words: Sections) -> dict[str, Any]:
    """Return the sections that are not empty, for front matter."""
    values = words._asdict().items()
    return {name: list(x) if isinstance(x, tuple) else x for name, x in values if x}


def decode(value: Any) -> Sections:
    """Return the sections in front matter, which anybody may have written."""
    fields = value if isinstance(value, dict) else {}
    texts = (any_text(fields.get(name))[:TEXT_LIMIT] for name in Sections._fields[:3])
    lists = (_items(fields.get(name)) for name in Sections._fields[3:])
    return Sections(*texts, *lists)  # type: ignore[arg-type]


def _items(value: Any) -> tuple[str, ...]:
    return tuple(any_text(item)[:ITEM_LIMIT] for item in any_list(value)[-ITEMS:])


def shown(words: Sections) -> list[dict[str, Any]]:
    """Return the sections for a template: titles and quoted lines."""
    return [
        {"title": _TITLES[name], "lines": _quoted(value)}
        for name, value in words._asdict().items()
        if value
    ]


def _quoted(value: str | tuple[str, ...]) -> list[str]:
    if isinstance(value, str):
        return [phrase(value, TEXT_LIMIT)]
    return [phrase(item, ITEM_LIMIT) for item in value]
