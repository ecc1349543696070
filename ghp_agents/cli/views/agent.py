"""Agents in words: as rows of plain text, as a page for one agent, and as JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ghp_agents.core import metadata
from ghp_agents.core.clock import ago, brief
from ghp_agents.core.ids import count
from ghp_agents.hotpath.quoting import file, named, phrase
from ghp_agents.presence.service import WAITS_FOR
from ghp_agents.reports.overview import AgentRow, Need, NeedKind
from ghp_agents.state import usage
from ghp_agents.state.presence import METADATA

COLUMNS = (
    "AGENT", "STATE", "STATUS", "ISSUE", "SEEN", "NEEDS", "PULL", "BRANCH", "LAST ACTION", "TITLE",
)  # fmt: skip
ACTION_SHOWN, TITLE_SHOWN = 80, 60  # characters in the table; one agent's page has all
WHOLE = 2_000
WORDS = {
    NeedKind.UNFINISHED: "attention: it has ended unfinished",
    NeedKind.QUESTION: "an answer",
    NeedKind.PERMISSION: "a permission",
    NeedKind.CONFLICT: "a conflict solved",
    NeedKind.CHECKS: "a failed check fixed",
    NeedKind.CHANGES: "requested changes made",
    NeedKind.DEAD: "attention: it is dead",
    NeedKind.ENDED: "attention: its client has ended",
    NeedKind.LEFT: "attention: it left",
    NeedKind.PULL: "a merge",
    NeedKind.MESSAGE: "attention: a request is overdue,",
    NeedKind.BUDGET: "a higher budget",
    NeedKind.INPUT: "a prompt: its turn ended",
}
NEXT = {  # what to type about a need
    NeedKind.QUESTION: "ghp agent-answer {0} TEXT",
    NeedKind.CHANGES: "ghp agent-pull show {0}",
    NeedKind.DEAD: "ghp agent-sweep",
    NeedKind.PULL: "ghp agent-merge {0}",
    NeedKind.MESSAGE: "ghp agent-thread {0}",
}
# Fields of a presence that the page says in other words, or that mean nothing to people.
SAID = frozenset(
    ("status", "issue", "lastAction", "branch", "worktree", "pull", "kind", "session", "timestamp",
     METADATA, usage.FIELD)
)  # fmt: skip
LABELS = {"startedAt": "started", "lastProgress": "last progress"}
HIDDEN = frozenset(
    ("epoch", "seq", "generation", "changes", "processRunsFor", "silentFor", WAITS_FOR)
)


def cells(row: AgentRow) -> tuple[str, ...]:
    """An agent as a row under COLUMNS, in words only."""
    return (
        row.name,
        row.state,
        file(row.shown_status),
        row.issue_words,
        "" if row.last_seen is None else brief(row.last_seen),
        need_words(row.needs[0]) if row.needs else "",
        f"#{row.pull}" if row.pull else "",
        file(row.branch) if row.branch else "",
        phrase(row.action, ACTION_SHOWN) if row.action else "",
        phrase(row.title, TITLE_SHOWN) if row.title else "",
    )


def need_words(need: Need, *, with_command: bool = True) -> str:
    """What a person should give it: `an answer (high) E-3f9a, 12m`."""
    urgency = f" ({need.urgency})" if need.urgency not in ("", "normal") else ""
    about = f" {need.short}" if need.short else ""
    age = f", {brief(need.age)}" if need.age else ""
    command = need.command or (NEXT[need.kind] if need.kind is NeedKind.DEAD else "")
    then = f": {command}" if command and with_command else ""
    return f"{WORDS[need.kind]}{urgency}{about}{age}{then}"


def state_words(row: AgentRow) -> str:
    """Its liveness and its own status, once if both are the same word."""
    words = dict.fromkeys((row.state, file(row.status)))
    return ", ".join(words)


def page(row: AgentRow, presence: Mapping[str, Any], held: Iterable[int] = ()) -> Iterator[str]:
    """One agent with everything that is known of it, in lines. `held` are the issues it holds."""
    yield f"{named(row.name)}: {state_words(row)}"
    others = [number for number in held if number != row.issue]
    for label, text in (*_needs(row), *_facts(row, presence, others).items()):
        if text:
            yield f"  {label}: {text}"
    for key, value in presence.items():
        if value not in (None, "", [], "idle") and key not in SAID | HIDDEN:
            shown = map(str, value if isinstance(value, list) else [value])
            yield f"  {LABELS.get(key) or file(key)}: {', '.join(_quoted(text) for text in shown)}"


def _needs(row: AgentRow) -> Iterator[tuple[str, str]]:
    for need in row.needs:
        text = need.text and f": {_phrase(need.text)}"
        command = _command(need)
        words = need_words(need, with_command=False)
        yield "needs", f"{words}{text}" + (f" → {command}" if command else "")


def _command(need: Need) -> str:
    return need.command or NEXT.get(need.kind, "").format(need.short.removeprefix("#"))


def _facts(row: AgentRow, presence: Mapping[str, Any], others: Sequence[int]) -> dict[str, str]:
    """The facts by their labels; what is unknown is empty."""
    reported = usage.valid(presence.get(usage.FIELD))
    client = [str(presence[key]) for key in ("kind", "session") if presence.get(key)]
    how = "" if row.is_here else " (when that arrived here)"
    return {
        "issue": _issue(row),
        "also holds": ", ".join(f"#{number}" for number in others),
        "unblocked": row.unblocked_words,
        "pull request": f"#{row.pull}" if row.pull else "",
        "last heartbeat": "" if row.last_seen is None else f"{ago(row.last_seen)} ago{how}",
        "last action": _phrase(row.action),
        "last error": _phrase(row.error),
        "branch": row.branch and file(row.branch),
        "worktree": row.worktree and file(row.worktree),
        "clone": f"{row.clone} (this one)" if row.clone and row.is_here else row.clone,
        "leases": f"{count(row.leases, 'lease')} → ghp agent-leases" if row.leases else "",
        "client": " ".join(map(_quoted, client)),
        "model": _quoted(reported.get("model", "")),
        "context window": f"{reported['context']}% used" if "context" in reported else "",
        "used": _used(row),
        "metadata": metadata.shown(metadata.any_metadata(presence.get(METADATA))),
    }


def _issue(row: AgentRow) -> str:
    number = row.issue or row.reported
    if number is None:
        return ""
    if row.is_unknown:
        return f"#{number}, which no issue has: `ghp agent-issues --all`"
    title = f"#{number} {_phrase(row.title)}".rstrip()
    return title if row.issue else f"{title}, not claimed"


def _phrase(text: str) -> str:
    return phrase(text, WHOLE) if text else ""


def _used(row: AgentRow) -> str:
    if row.used == usage.NOTHING:
        return "not reported"
    from ghp_agents.cli.views import costs  # reads more than a status needs

    return costs.words(row.used)


def _quoted(text: str) -> str:
    """A single word as it is, any other text quoted."""
    return text if file(text) == text else _phrase(text)


def fields(row: AgentRow) -> dict[str, Any]:
    """What the JSON has besides the presence, without unknown facts."""
    facts = {
        "issueTitle": row.title,
        "worktreePath": row.worktree if row.worktree.startswith("/") else "",
        "openQuestion": row.question,
        "leaseCount": row.leases,
        "lastError": row.error,
        "clone": row.clone,
    }
    needs = [
        {
            "kind": need.kind.value,
            "text": need.text,
            "urgency": need.urgency or None,
            "ageSeconds": None if need.age is None else round(need.age),
            "id": need.id or None,
            "command": _command(need) or None,
        }
        for need in row.needs
    ]
    return {
        "liveness": row.liveness.value,
        "group": row.group.value,
        **{name: value for name, value in facts.items() if value},
        **({"clientEnded": True} if row.has_no_client else {}),
        **({"unblockedBy": [*row.unblocked_by]} if row.unblocked_by else {}),
        **({"needs": needs} if needs else {}),
    }
