"""The ledger: who recorded what, in the same order on every machine.

Each commit on a clone's ref is an entry; a presence commit is one entry per agent that changed.
Entries are ordered by Lamport clock, then by clone id. So causes come before effects, whatever the
machines' clocks show.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ghp_agents.core.ids import Actor, CloneId, Timestamp, one_line
from ghp_agents.state import legacy_causes
from ghp_agents.state.record import Movement, Record

PRESENCE = "presence"
PRESENCE_SUBJECT = f"{PRESENCE} "  # begins the subject of a commit without a record
BEGAN = "began"  # the cause of an entry of presence: the agent's life began
# The events of this version. Events of other versions are kept and shown, too.
EVENTS = (
    PRESENCE, "claim", "takeover", "steal", "release", "restore", "lease", "lease-wait",
    "lease-renew", "lease-release", "escalate", "answer", "decide", "handoff", "checkpoint",
    "resume-apply",
    "issue-new", "issue-number", "issue-assign", "issue-block", "issue-edit", "issue-comment",
    "issue-close", "issue-reopen", "stop", "override", "send", "ack", "done", "failed",
    "subscribe", "dispatch",
)  # fmt: skip
# Events that may concern another agent, which hears of them at its next step.
HEARD = frozenset((
    "claim", "takeover", "steal", "release", "handoff", "issue-new", "issue-assign", "issue-edit",
    "issue-block", "issue-comment", "issue-close", "issue-reopen", "lease-wait", "escalate",
    "answer", "decide", "override",
))  # fmt: skip


class LedgerEntry(NamedTuple):
    """An entry; sorts in ledger order."""

    clock: int
    clone: CloneId
    id: str
    event: str
    actor: str
    object: str
    at: Timestamp
    is_person: bool = False
    issue: int | None = None
    generation: int | None = None
    text: str = ""
    cause: str = ""  # of a claim or release: the kind of its cause; of presence: BEGAN
    via: str = ""  # the session that wrote it: "claude 1a2b3c4d"


def message(record: Record, clock: int, clone: CloneId) -> str:
    """The commit message of a record. Every part is one line, so none can imitate another."""
    who, event = one_line(record.actor.name, 80), one_line(record.event, 80)
    trailers = [
        ("Event", event),
        ("Person" if record.actor.is_person else "Agent", who),
        ("Issue", record.issue),
        ("Generation", record.generation),
        ("Id", one_line(record.id, 200)),
        ("Cause", one_line(record.cause, 40) or None),
        ("Clock", clock),
        ("Clone", clone),
        ("Via", one_line(record.via, 40) or None),
    ]
    text = one_line(record.text, 200)
    return _message(f"{event} {who} {one_line(record.object, 80)}", text, trailers)


def presence_message(movements: Sequence[Movement], count: int, clock: int, clone: CloneId) -> str:
    """The commit message of a presence fold: `count` agents sent heartbeats, some changed."""
    if len(movements) == 1:
        only = movements[0]
        subject = f"{PRESENCE} {only.agent} {only.status}"
    else:
        subject = f"{PRESENCE} {clone} {count} agents"
    lines: list[tuple[str, object]] = [("Event", PRESENCE)]
    for move in movements:
        issue = move.issue if move.issue is not None else "-"
        lines.append(("Moved", f"{move.agent} {move.status} {issue} {one_line(move.action, 120)}"))
    lines += [("Began", move.agent) for move in movements if move.began]
    return _message(subject, "", [*lines, ("Clock", clock), ("Clone", clone)])


def _message(subject: str, text: str, trailers: Iterable[tuple[str, object]]) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in trailers if value is not None)
    return f"{subject}\n\n{text}\n\n{lines}" if text else f"{subject}\n\n{lines}"


def entries(oid: str, at: Timestamp, commit_message: str) -> list[LedgerEntry]:
    """The entries of a commit; none if it is not ours or broken."""
    subject, _, rest = commit_message.strip().partition("\n")
    paragraphs = rest.strip().split("\n\n")
    pairs = [line.partition(": ")[::2] for line in paragraphs[-1].splitlines()]
    trailers = dict(pairs)
    try:
        clock, event = int(trailers["Clock"]), trailers["Event"]
        clone = CloneId(trailers["Clone"])
        if event == PRESENCE:
            moves = [value for key, value in pairs if key == "Moved"]
            began = {value for key, value in pairs if key == "Began"}
            return [_moved(oid, at, clock, clone, value, began) for value in moves]
        actor = Actor(trailers.get("Agent") or trailers["Person"], "Person" in trailers)
        text = paragraphs[0] if len(paragraphs) > 1 else ""
        return [
            LedgerEntry(
                clock=clock,
                clone=clone,
                id=trailers.get("Id", oid),
                event=event,
                actor=actor.name,
                object=subject.removeprefix(f"{event} {actor.name} "),
                at=at,
                is_person=actor.is_person,
                issue=int(trailers["Issue"]) if "Issue" in trailers else None,
                generation=int(trailers["Generation"]) if "Generation" in trailers else None,
                text=text,
                cause=trailers.get("Cause") or legacy_causes.of_entry(event, text),
                via=trailers.get("Via", ""),
            )
        ]
    except (KeyError, ValueError):
        return []


def _moved(
    oid: str, at: Timestamp, clock: int, clone: CloneId, value: str, began: Collection[str]
) -> LedgerEntry:
    agent, status, issue, *action = value.split(" ", 3)
    return LedgerEntry(
        clock=clock,
        clone=clone,
        id=f"{oid}/{agent}",
        event=PRESENCE,
        actor=agent,
        object=status,
        at=at,
        issue=None if issue == "-" else int(issue),
        text=action[0] if action else "",
        cause=BEGAN if agent in began else "",
    )
