"""What an agent has used: the field `usage` of its presence, from what its client reports.

    {"model": "…", "context": 43, "spent": [{"issue": 12, "usd": 1.2, "inputTokens": 9000, …}]}

A client reports counters of its session, or of its process. What they have grown by belongs to the
issue that the agent has. So the amounts of an agent only grow, also over its sessions, and two
states of them can be compared. The counters themselves stay on the machine, in `local`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeGuard

FIELD = "usage"
COUNTERS = (
    "usd", "apiSeconds", "inputTokens", "cachedTokens", "outputTokens", "linesAdded",
    "linesRemoved", "turns", "runSeconds",
)  # fmt: skip
ISSUES = 4  # that have amounts of their own; those of older ones are joined under no issue
MOST = 1e12  # of a counter; more is not a count
NAME_LIMIT = 60  # characters of a model's name
A_CENT = 0.01
EVERY = 30.0  # seconds after which smaller changes are written


class Reading:
    """What a client reports at one moment; a plain class, as importing NamedTuple costs too much.

    `source` tells apart counters that are reported in different ways. With `of_process` they may
    continue in the next session of the same process, and start again in another process.
    """

    __slots__ = ("context", "counters", "model", "of_process", "place", "source")

    def __init__(
        self,
        source: str,
        counters: "Mapping[str, Any]",
        *,
        model: str = "",
        context: int | None = None,
        of_process: bool = False,
        place: "Mapping[str, Any] | None" = None,
    ) -> None:
        self.source = source
        self.counters = {
            name: _rounded(name, counters[name])
            for name in COUNTERS
            if is_count(counters.get(name))
        }
        self.model = shown(model)
        self.context = context if context is not None and 0 <= context <= 100 else None
        self.of_process = of_process
        self.place = place or {}  # how far a file was read; kept on the machine


def is_count(value: "Any") -> "TypeGuard[float]":
    """Whether a value from outside is an amount."""
    return type(value) in (int, float) and 0 <= value < MOST  # NaN is not below


def shown(model: str) -> str:
    """A model's name in printable characters, bounded."""
    return "".join([char for char in model[:NAME_LIMIT] if char.isprintable()])


def kept(local: "Mapping[str, Any]", source: str, session: str) -> "dict[str, Any]":
    """The last counters of a session on this machine; empty for a new session."""
    entry = _memory(local).get(source)
    is_known = isinstance(entry, dict) and entry.get("session") == session
    return entry if is_known and isinstance(entry, dict) else {}


def count(
    record: "dict[str, Any]",
    local: "dict[str, Any]",
    reading: Reading,
    session: str,
    pid: int | None,
    now: float,
    *,
    is_base: bool = False,
    every: float = EVERY,
) -> bool:
    """Add to `record` and `local` what the counters have grown by since they were last written.

    `is_base`: a new session's counters include what was used before, so count from here. Returns
    whether this is worth a write: a cent has been spent, or `every` seconds have passed.
    """
    memory = dict(_memory(local))
    before = memory.get(reading.source)
    before = before if isinstance(before, dict) else {}
    is_same = before.get("session") == session
    is_base = is_base and not is_same
    is_process = reading.of_process and before.get("pid") == pid
    after = {name: before[name] for name in COUNTERS if is_count(before.get(name))}
    after = after if is_same or is_process else {}
    grown: dict[str, float] = {}
    for name, value in reading.counters.items():
        base = after.get(name, 0)
        if value < base and not (is_same and (is_process or not reading.of_process)):
            base = 0  # the client began again; within a process it is an older report
        base = value if is_base else base
        grown[name] = _rounded(name, max(0, value - base))
        after[name] = max(value, base)
    usage = _with_growth(record, reading, grown)
    at, is_new = memory.get("at"), usage != record.get(FIELD, {})
    memory[reading.source] = {**after, **reading.place, "session": session, "pid": pid}
    local["usage"] = {**memory, "at": now}
    if is_new:
        record[FIELD] = usage
    is_late = not is_count(at) or not 0 <= now - at < every
    return (is_new and (is_late or grown.get("usd", 0) >= A_CENT)) or is_base


def _memory(local: "Mapping[str, Any]") -> "Mapping[str, Any]":
    counters = local.get("usage")
    return counters if isinstance(counters, dict) else {}


def _rounded(name: str, value: float) -> float:
    return round(value, 6) if name == "usd" else round(value, 1) if "Sec" in name else int(value)


def _with_growth(
    record: "Mapping[str, Any]", reading: Reading, grown: "Mapping[str, float]"
) -> "dict[str, Any]":
    """The field after the growth was added to the amounts of the record's issue."""
    previous = record.get(FIELD)
    usage = dict(previous) if isinstance(previous, dict) else {}
    if reading.model:
        usage["model"] = reading.model
    if reading.context is not None:
        usage["context"] = reading.context
    if not any(grown.values()):
        return usage
    issue = record.get("issue")
    entries = _by_issue(usage.get("spent"))
    mine = entries.pop(issue if type(issue) is int else None, {})
    entries[issue if type(issue) is int else None] = _sum(mine, grown)
    for oldest in [*filter(None, entries)][:-ISSUES]:
        entries[None] = _sum(entries.get(None, {}), entries.pop(oldest))
    usage["spent"] = [{"issue": issue, **entries[issue]} for issue in entries]
    return usage


def _by_issue(spent: "Any") -> "dict[int | None, dict[str, Any]]":
    amounts: dict[int | None, dict[str, Any]] = {}
    for entry in spent if isinstance(spent, list) else ():
        issue = entry.get("issue") if isinstance(entry, dict) else False
        if issue is None or type(issue) is int:
            amounts[issue] = {name: entry[name] for name in COUNTERS if is_count(entry.get(name))}
    return amounts


def _sum(left: "Mapping[str, Any]", right: "Mapping[str, Any]") -> "dict[str, Any]":
    return {
        name: _rounded(name, left.get(name, 0) + right.get(name, 0))
        for name in COUNTERS
        if name in left or name in right
    }
