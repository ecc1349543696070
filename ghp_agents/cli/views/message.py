"""Messages as text and as JSON."""

from collections.abc import Sequence
from typing import Any

from ghp_agents.cli import output
from ghp_agents.core import metadata
from ghp_agents.core.clock import age
from ghp_agents.core.ids import one_line, short_ids
from ghp_agents.hotpath.quoting import clean, file, indented, phrase, who
from ghp_agents.messages.message import ACK, DONE, NEW, PROPOSAL, VERDICTS, VOTE, Letter, Message
from ghp_agents.messages.vote import ballot

COLUMNS = ("ID", "STATE", "KIND", "FROM", "TO", "SENT", "SUBJECT")
SUBJECT_SHOWN = 80


def table(letters: Sequence[Letter], agent: str | None, now: float) -> None:
    """Print letters as a table; the state is that of `agent`, or of the whole message."""
    ids = short_ids(letter.message.id for letter in letters)
    rows = [
        (
            f"M-{ids[letter.message.id]}",
            _state(letter, agent, now),
            letter.message.kind,
            one_line(letter.message.by.name, 30),
            ", ".join(letter.message.to),
            age(letter.message.at, now),
            one_line(letter.message.subject, SUBJECT_SHOWN),
        )
        for letter in letters
    ]
    styles = ["bold" if row[1].startswith(NEW) else "" for row in rows]
    output.table(COLUMNS, rows, styles)


def _state(letter: Letter, agent: str | None, now: float) -> str:
    if not letter.message.wants_work:
        return "-"
    if letter.message.kind == PROPOSAL:
        return ballot(letter, now).outcome
    state = letter.state if letter.message.is_shared or not agent else letter.state_of(agent)
    by = f" by {letter.holder}" if letter.holder and letter.holder != agent else ""
    return state + by + (" (overdue)" if letter.is_late(now) else "")


def page(message: Message) -> str:
    """One message of a thread in full; what others wrote is quoted."""
    verbs = {ACK: "began", DONE: "completed it", "failed": "could not do it", VOTE: "voted"}
    of = f"#{message.pull} at {message.commit[:12]}" if message.pull else ""
    act = verbs.get(message.kind, f"{message.kind} {message.name}")
    if message.verdict in VERDICTS:
        act = f"{VERDICTS[message.verdict]} {of or 'it'}"
    to = f" to {', '.join(map(file, message.to))}" if message.kind not in verbs else ""
    lines = [f"{who(*message.by)}, {output.when(message.at)}: {act}{to}"]
    if message.kind not in verbs:
        lines.append(f"Subject: {phrase(message.subject, 200)}")
        lines += [f"Issue: #{message.issue}"] if message.issue else []
        lines += [f"Pull request: {of}"] if of else []
        lines += [f"Urgency: {message.urgency}"] if message.urgency != "normal" else []
    lines += [f"Vote: {message.verdict}"] if message.kind == VOTE else []
    if message.body:
        lines.append(indented(clean(message.body)))
    if message.artifacts:
        lines.append("Artifacts: " + ", ".join(map(file, message.artifacts)))
    if message.metadata:
        lines.append(f"Metadata: {metadata.shown(message.metadata)}")
    return "\n".join(lines) + "\n"


def as_json(message: Message) -> dict[str, Any]:
    """One message as JSON."""
    return {
        "id": message.name,
        "kind": message.kind,
        "sender": message.by.name,
        "person": message.by.is_person,
        "to": message.to,
        "subject": message.subject,
        "body": message.body,
        "at": message.at,
        "about": f"M-{message.about}" if message.about else None,
        "issue": message.issue,
        "urgency": message.urgency,
        "pull": message.pull or None,
        "commit": message.commit or None,
        "verdict": message.verdict or None,
        "orAgent": message.or_agent or None,
        "artifacts": message.artifacts,
        "metadata": metadata.as_object(message.metadata),
    }


def letter_json(letter: Letter, now: float) -> dict[str, Any]:
    """One message with what became of it, as JSON."""
    return {
        **as_json(letter.message),
        "state": letter.state,
        "holder": letter.holder or None,
        "overdue": letter.is_late(now) or None,
        "replies": [as_json(reply) for reply in letter.replies],
    }
