"""The results of the commands in a comment: a record `.ghp/commands/<id>.json`.

The record's id is derived from the comment's id. So a comment is executed once: no matter which
clone reads it, and even if it is edited later.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypedDict

from ghp_agents.core.fields import as_text, as_whole, dump, parse
from ghp_agents.core.ids import Actor, CloneId, Timestamp, digest, one_line
from ghp_agents.ports import Snapshot
from ghp_agents.state.codec import ProvenanceFields, ledger_record, read_files
from ghp_agents.state.record import Problem, Record

FOLDER = ".ghp/commands/"
ASSIGN, STOP, RETRY = "assign", "stop", "retry"  # what a command can ask for
DONE, REFUSED = "done", "refused"
_FATES = (DONE, REFUSED)


class Act(NamedTuple):
    """The result of one command."""

    verb: str  # empty if the line is not a command
    command: str  # the command in one line; `said` in the file
    fate: str  # done, refused
    words: str  # what was done, or why not
    agent: str = ""  # the agent to notify
    generation: int = 0  # of the agent's lock on the issue


class Obeyed(NamedTuple):
    """A comment that was processed, its author, and the results."""

    comment: int  # GitHub's id of it
    issue: int
    by: Actor
    acts: tuple[Act, ...]
    at: Timestamp
    clock: int
    clone: CloneId

    @property
    def id(self) -> str:
        """The record's id; each comment has one."""
        return identity(self.comment)

    @property
    def path(self) -> str:
        """The record's path in the state."""
        return path_of(self.comment)


def identity(comment: int) -> str:
    """The id of the record about a comment."""
    return digest("command", str(comment))


def path_of(comment: int) -> str:
    """The path of that record in the state."""
    return f"{FOLDER}{identity(comment)}.json"


class ActFields(TypedDict):
    """The result of one command."""

    verb: str
    said: str
    fate: str
    words: str
    agent: str
    generation: int


class CommandsFile(ProvenanceFields):
    """The results of the commands in a comment."""

    comment: int
    issue: int
    acts: list[ActFields]


def encode(record: Obeyed) -> Record:
    """The record in the state's form."""
    fields: dict[str, Any] = {
        **record._asdict(),
        "by": record.by.name,
        "person": record.by.is_person,
        "acts": [_act_fields(act) for act in record.acts],
    }
    text = "; ".join(f"{act.command}: {act.words}" for act in record.acts)
    about, files = f"#{record.issue}", [(record.path, dump(fields))]
    return ledger_record(record, "command", about, files, issue=record.issue, text=text)


def _act_fields(act: Act) -> dict[str, Any]:
    return {"said" if name == "command" else name: value for name, value in act._asdict().items()}


def commands_in(snapshot: Snapshot) -> list[Obeyed]:
    """The readable records in the order of their comments."""
    files = snapshot.files(FOLDER)
    return read_commands(files)[0] if files else []


def read_commands(files: Mapping[str, bytes]) -> tuple[list[Obeyed], list[Problem]]:
    """The records in the order of their comments, and what cannot be read."""
    records, problems = read_files(files, _decoded, what="not a record of commands: ")
    return sorted(records, key=lambda record: record.comment), problems


def _decoded(path: str, data: bytes) -> Obeyed:
    fields = parse(data)
    try:
        record = Obeyed(
            comment=as_whole(fields["comment"], "comment"),
            issue=as_whole(fields["issue"], "issue"),
            by=Actor(_line(fields["by"], 80), fields.get("person") is True),
            acts=tuple(map(_act, fields["acts"])),
            at=Timestamp(_line(fields["at"], 40)),
            clock=as_whole(fields["clock"], "clock"),
            clone=CloneId(_line(fields["clone"], 80)),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(str(error)) from None
    if record.path != path:
        raise ValueError("its path does not match its content")
    return record


def _act(fields: Mapping[str, Any]) -> Act:
    keys = ("verb", "said", "fate", "words", "agent")
    verb, command, fate, words, agent = (_line(fields[key], 400) for key in keys)
    if fate not in _FATES:
        raise ValueError("an outcome is unknown")
    return Act(verb, command, fate, words, agent, as_whole(fields["generation"], "generation"))


def _line(value: object, limit: int) -> str:
    return one_line(as_text(value, "a text"), limit)


def stopped(records: Iterable[Obeyed]) -> set[int]:
    """The issues whose last command by a person is `stop`."""
    last: dict[int, str] = {}
    for record in records:
        for act in record.acts:
            if act.fate == DONE and act.verb in (ASSIGN, STOP, RETRY):
                last[record.issue] = act.verb
    return {issue for issue, verb in last.items() if verb == STOP}


def given(records: Iterable[Obeyed]) -> set[int]:
    """The issues that a person assigned to an agent, or sent back to the queue, by a comment."""
    return {
        record.issue
        for record in records
        if any(act.fate == DONE and act.verb in (ASSIGN, RETRY) for act in record.acts)
    }


def retried(records: Iterable[Obeyed]) -> dict[int, int]:
    """The issues that a person sent back to the queue, each with the ledger clock of that."""
    clocks: dict[int, int] = {}
    for record in records:
        if any(act.fate == DONE and act.verb == RETRY for act in record.acts):
            clocks[record.issue] = max(record.clock, clocks.get(record.issue, 0))
    return clocks


def told_to_stop(records: Iterable[Obeyed], agent: str) -> list[tuple[Obeyed, Act]]:
    """The `stop` commands for an agent."""
    return [
        (record, act)
        for record in records
        for act in record.acts
        if act.verb == STOP and act.fate == DONE and act.agent == agent
    ]
