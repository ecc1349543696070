"""A pull request that was sent back to its agent: the reason, the output, and the round.

The record is `.ghp/returns/<pull>/<id>.json`. The id is a digest of the head and the base, so two
clones send the same attempt back once. Each new attempt of the agent is a round.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core.fields import dump, parse
from ghp_agents.core.ids import Actor, CloneId, Timestamp, digest, one_line
from ghp_agents.escalations.messages import who
from ghp_agents.hotpath.quoting import clean, cut, fence, file
from ghp_agents.state.codec import ProvenanceFields, ledger_record, order, read_files
from ghp_agents.state.record import Problem, Record

FOLDER = ".ghp/returns/"
ROUNDS = 2  # retries of the agent before a person is asked
OUTPUT = 8_000  # characters that are kept
REASONS = {"conflict": "it conflicts with main", "checks": "a check failed"}


class Return(NamedTuple):
    """One return of a pull request."""

    pull: int
    head: str  # the branch's commit that was tried
    trunk: str  # the default branch's commit
    agent: str
    reason: str  # of REASONS
    text: str  # the files in conflict, or the check and its output
    branch: str
    issue: int | None
    at: Timestamp
    by: Actor
    clock: int
    clone: CloneId

    @property
    def id(self) -> str:
        """Unique for a pull request, its head, and the default branch's commit."""
        return digest("return", str(self.pull), self.head, self.trunk)

    @property
    def attempt(self) -> str:
        """Unique for each head: an unchanged branch is the same attempt."""
        return digest("attempt", str(self.pull), self.head)

    @property
    def path(self) -> str:
        """The path in the state's tree."""
        return f"{folder_of(self.pull)}{self.id}.json"


def folder_of(pull: int) -> str:
    """Return the folder of a pull request's records."""
    return f"{FOLDER}{pull}/"


class ReturnFile(ProvenanceFields):
    """How a pull request was sent back."""

    pull: int
    head: str
    trunk: str
    agent: str
    reason: str
    text: str
    branch: str
    issue: int | None


def encode(entry: Return) -> Record:
    """Return the record for the state store."""
    fields: dict[str, Any] = entry._asdict()
    fields["by"], fields["person"] = entry.by.name, entry.by.is_person
    text = f"to {entry.agent}: {REASONS[entry.reason]}"
    about, files = f"#{entry.pull}", [(entry.path, dump(fields))]
    return ledger_record(entry, "pull-return", about, files, issue=entry.issue, text=text)


def read_returns(files: Mapping[str, bytes]) -> tuple[list[Return], list[Problem]]:
    """Read the records, oldest first; an unreadable one is a problem and hides no other."""
    returns, problems = read_files(files, _decode, what="not a record of a returned pull request: ")
    return sorted(returns, key=order), problems


def round_of(returns: Iterable[Return], entry: Return) -> int:
    """Return the number of this attempt at its pull request, from 1."""
    attempts = [item.attempt for item in returns if item.pull == entry.pull]
    return list(dict.fromkeys([*attempts, entry.attempt])).index(entry.attempt) + 1


def last(returns: Sequence[Return]) -> list[tuple[Return, int]]:
    """Return the last return of each pull request, with its round; `returns` oldest first."""
    by_pull = {entry.pull: entry for entry in returns}
    return [(entry, round_of(returns, entry)) for entry in by_pull.values()]


def _decode(path: str, data: bytes) -> Return:
    fields = parse(data)
    person = fields.pop("person", False) is True
    try:
        values = {name: fields[name] for name in Return._fields}
        entry = Return(**{**values, "by": Actor(str(fields["by"]), person)})
    except KeyError as error:
        raise ValueError(f"a field is missing: {error}") from None
    words = (entry.head, entry.trunk, entry.agent, entry.text, entry.branch, entry.at, entry.clone)
    numbers = (entry.pull, entry.clock, *(() if entry.issue is None else (entry.issue,)))
    good = all(isinstance(word, str) for word in (*words, entry.reason)) and entry.reason in REASONS
    if not good or not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("a field has the wrong type")
    if entry.path != path:
        raise ValueError("its path does not match its content")
    return entry._replace(agent=one_line(entry.agent, 80), branch=one_line(entry.branch, 200))


def headline(entry: Return, round_number: int) -> str:
    """Say in one line what happened."""
    about = f" (for #{entry.issue})" if entry.issue else ""
    return (
        f"Pull request #{entry.pull}{about} was sent back: {REASONS[entry.reason]} "
        f"(round {round_number})."
    )


def reminder(entry: Return, round_number: int, why: str) -> str:
    """Return the agent's reminder in one line; `why` must be printable."""
    shown = f" `ghp agent-issue show {entry.issue}` shows all." if entry.issue else ""
    return f"{headline(entry, round_number)} The reason: {why}.{shown} {_next_step(entry)}"


def step(entry: Return, round_number: int, why: str) -> str:
    """Return it as the next step."""
    return f"Fix #{entry.pull} (sent back, round {round_number}): {why}. {_next_step(entry)}"


def news(entry: Return, round_number: int) -> str:
    """Return the message for the agent; a check's output is in a block that names its source."""
    lines = [
        headline(entry, round_number),
        f"On branch {file(entry.branch)}, at {file(entry.head[:12])}:",
    ]
    lines.append(fence(cut(clean(entry.text), OUTPUT, "cut")))
    lines.append(f"End of the output from {who(entry.by)}. {_next_step(entry)}")
    return "\n".join(lines)


def _next_step(entry: Return) -> str:
    if entry.reason == "conflict":
        return (
            "In its worktree, merge main into the branch, resolve the conflicts and commit; "
            "then run `ghp agent-finish`."
        )
    return "In its worktree, fix it and commit; then run `ghp agent-finish`."


def comment(entry: Return, round_number: int) -> str:
    """Return the comment for the issue."""
    text = fence(cut(clean(entry.text).replace("<!--", "&lt;!--"), OUTPUT, "cut"))
    return f"{headline(entry, round_number)}\n\n{entry.agent}:\n\n{text}\n\n{marker(entry)}"


def marker(entry: Return) -> str:
    """Return the marker that identifies the comment."""
    return f"<!-- ghp:returned {entry.attempt} -->"
