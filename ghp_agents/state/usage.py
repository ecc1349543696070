"""The field `usage` of a presence: what an agent has used, as its client reports it.

What another clone wrote may be anything, so it is checked when it is read.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypedDict, cast

from ghp_agents.core.ids import NUMBERS_END
from ghp_agents.hotpath.usage import COUNTERS, FIELD, ISSUES, is_count, shown

__all__ = ["FIELD", "NOTHING", "SpentFields", "UsageFields", "Use", "decode", "total", "valid"]


class SpentFields(TypedDict, total=False):
    """What was used for an issue. Without a field, the client does not report it. `usd` is the
    client's own estimate; `apiSeconds` is how long the model answered; `inputTokens` include
    `cachedTokens`; `turns` and `runSeconds` are those of runs of `agent-work`."""

    issue: int | None
    usd: float
    apiSeconds: float
    inputTokens: int
    cachedTokens: int
    outputTokens: int
    linesAdded: int
    linesRemoved: int
    turns: int
    runSeconds: float


class UsageFields(TypedDict, total=False):
    """What an agent has used, over its sessions in a clone. `context` is the used part of the
    model's context window in percent."""

    model: str
    context: int
    spent: list[SpentFields]


class Use(NamedTuple):
    """What was used. Null: no client reports it. `usd` is the clients' own estimate, `apiSeconds`
    is how long models answered, and `inputTokens` include `cachedTokens`. `turns` and `runSeconds`
    are those of runs of `agent-work`."""

    usd: float | None = None
    api_seconds: float | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    lines_added: int | None = None
    lines_removed: int | None = None
    turns: int | None = None
    run_seconds: float | None = None

    @property
    def tokens(self) -> int | None:
        """Those that the model read, from the cache too, and those that it wrote."""
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)


NOTHING = Use()


def valid(value: Any) -> UsageFields:
    """The valid parts of the field in a record by any clone."""
    fields: UsageFields = {}
    if not isinstance(value, dict):
        return fields
    if isinstance(value.get("model"), str):
        fields["model"] = shown(value["model"])
    context = value.get("context")
    if type(context) is int and 0 <= context <= 100:
        fields["context"] = context
    spent = value.get("spent")
    entries = spent[: ISSUES + 1] if isinstance(spent, list) else ()
    decoded = [_valid_entry(entry) for entry in entries]
    if any(decoded):
        fields["spent"] = [entry for entry in decoded if entry]
    return fields


def _valid_entry(entry: Any) -> SpentFields | None:
    issue = entry.get("issue") if isinstance(entry, dict) else False
    if issue is not None and not (type(issue) is int and 0 < issue < NUMBERS_END):
        return None
    counts = {name: entry[name] for name in COUNTERS if is_count(entry.get(name))}
    broken = ("usd", "apiSeconds", "runSeconds")
    whole = {name: n if name in broken else int(n) for name, n in counts.items()}
    return cast(SpentFields, {"issue": issue, **whole})


def decode(presence: Mapping[str, Any]) -> dict[int | None, Use]:
    """What an agent used, by issue; None is for work without an issue, and for older issues."""
    by_issue: dict[int | None, Use] = {}
    for entry in valid(presence.get(FIELD)).get("spent", ()):
        counts: dict[str, Any] = {**entry}
        use = Use(*map(counts.get, COUNTERS))
        by_issue[entry.get("issue")] = total([by_issue.get(entry.get("issue"), NOTHING), use])
    return by_issue


def total(uses: Iterable[Use]) -> Use:
    """The sums of what is reported."""
    columns = zip(NOTHING, *uses, strict=True)
    return Use(*map(_sum, columns))


def _sum(column: Iterable[float | None]) -> Any:
    amounts = [amount for amount in column if amount is not None]
    return round(sum(amounts), 6) if amounts else None


def since(now: Use, before: Use) -> Use:
    """What was used between two states of the same amounts."""
    return Use(*(_growth(*pair) for pair in zip(now, before, strict=True)))


def _growth(now: float | None, before: float | None) -> Any:
    return None if now is None else max(0, round(now - (before or 0), 6))
