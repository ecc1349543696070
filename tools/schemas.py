"""Writes docs/schemas from the types of outputs, records and hook messages: `make docs`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NewType, Union, get_args, get_origin, is_typeddict

from ghp_agents.cli.outputs.agent import AgentJson
from ghp_agents.cli.outputs.table import OUTPUTS
from ghp_agents.core.declared import is_record, members
from ghp_agents.core.schema_version import KEY, VERSION
from ghp_agents.escalations.record import AnswerFile, OutcomeFile, QuestionFile
from ghp_agents.github.tokenless.place import Tracker
from ghp_agents.github.tokenless.published import BucketFile
from ghp_agents.github.tokenless.request import RequestResult, WriteRequest
from ghp_agents.guard.override import OverrideRecord
from ghp_agents.handoffs.record import HandoffFile
from ghp_agents.handoffs.restore import RestoredFile
from ghp_agents.handoffs.returned import ReturnFile
from ghp_agents.hooks.messages import MESSAGES, REPLIES
from ghp_agents.issues.comment_commands import CommandsFile
from ghp_agents.issues.record import IssueEvent
from ghp_agents.leases.record import ImplicitLeaseFile, LeaseEvent
from ghp_agents.locks.lock import LockFile
from ghp_agents.messages.payload import SHAPES
from ghp_agents.messages.topics.subscription import Subscription
from ghp_agents.notes.record import NoteChangeFile, NoteFile, WithdrawnFile
from ghp_agents.presence.stop_order import StopOrder
from ghp_agents.pulls.branches.branch_records import BranchRecord
from ghp_agents.pulls.record import PullEvent
from ghp_agents.pulls.review import ReviewRecord
from ghp_agents.state.presence import AgentFields, PresenceFile
from ghp_agents.state.record import OutboxHeader
from ghp_agents.sweep.memory import MemoryFile

FOLDER = Path(__file__).parents[1] / "docs/schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_LISTS = (list, tuple, Sequence)
_OPEN = (AgentFields.__name__, AgentJson.__name__)

FIRST = ("by", "person", "at", "clock", "clone", "kind")  # who wrote a file of the state
# Records that have another name in schemas than their own with `Json` at its end.
NAMES = {
    "ConflictedFile": "FileConflictJson", "ConsentItem": "ConsentJson", "AgentCard": "CardJson",
    "RuleStep": "StepJson", "SidesOverlap": "ConflictPlaceJson", "SweepLine": "ActJson",
    "WriteRequest": "RequestFile", "RequestResult": "ResultFile", "PullEvent": "PullFile",
    "IssueChange": "ChangeFields", "Missing": "LeftOutFields", "Tracker": "TrackerFile",
    "IssueEvent": "IssueFile", "LeaseEvent": "LeaseFile",
    "BranchRecord": "BranchFile", "OverrideRecord": "OverrideFile", "ReviewRecord": "ReviewFile",
    "StopOrder": "StopFile", "Subscription": "SubscriptionFile",
}  # fmt: skip

Schema = dict[str, Any]


def document(title: str, shape: Any, *, required: bool | None) -> Schema:
    """The schema of one output, record or message. `required`: whether each one has a version;
    None for a client's format, which has none."""
    definitions: dict[str, Schema] = {}
    body = _of(shape, definitions)
    for name in _tops(shape) if required is not None else ():
        version = {KEY: {"const": VERSION}}
        definitions[name]["properties"] = version | definitions[name]["properties"]
        definitions[name]["required"] = [
            *([KEY] if required else []),
            *definitions[name]["required"],
        ]
    return {"$schema": DIALECT, "title": title, **body, "$defs": dict(sorted(definitions.items()))}


def _tops(shape: Any) -> Iterator[str]:
    """The names of the objects that have a version: not those inside others."""
    if _is_object(shape):
        yield _name(shape)
    for part in get_args(shape):
        yield from _tops(part)


def _is_object(shape: Any) -> bool:
    return is_typeddict(shape) or is_record(shape)


def _name(shape: Any) -> str:
    name: str = shape.__name__
    return name if is_typeddict(shape) else NAMES.get(name, f"{name}Json")


def _of(shape: Any, definitions: dict[str, Schema]) -> Schema:
    origin, parts = get_origin(shape), get_args(shape)
    if _is_object(shape):
        name = _name(shape)
        if name not in definitions:
            definitions[name] = {}  # it may contain itself
            definitions[name] = _object(shape, definitions)
        return {"$ref": f"#/$defs/{name}"}
    if isinstance(shape, NewType):
        return _of(shape.__supertype__, definitions)
    if origin in (Union, UnionType):
        return _either([_of(part, definitions) for part in parts])
    if origin is Literal:
        return {"enum": [*parts]}
    if origin in _LISTS:
        return {"type": "array", "items": _of(parts[0], definitions)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _of(parts[1], definitions)}
    if isinstance(shape, type) and issubclass(shape, Enum):
        return {"enum": [each.value for each in shape]}
    return {} if shape is Any else {"type": _PLAIN[shape]}


def _either(schemas: list[Schema]) -> Schema:
    if all(each.keys() == {"type"} for each in schemas):
        return {"type": [each["type"] for each in schemas]}
    return {"anyOf": schemas}


def _object(shape: Any, definitions: dict[str, Schema]) -> Schema:
    parts = [*members(shape)]
    if is_record(shape) and _name(shape).endswith("File") and any(x == "by" for x, _, _ in parts):
        parts.sort(key=lambda part: FIRST.index(part[0]) if part[0] in FIRST else len(FIRST))
    return {
        "type": "object",
        "description": " ".join((shape.__doc__ or "").split()),
        "properties": {name: _of(hint, definitions) for name, hint, _ in parts},
        "required": [name for name, _, is_required in parts if is_required],
    }


def closed(schema: Schema) -> Schema:
    """The schema without unlisted fields, except for agents: those report what they like. Readers
    allow unlisted fields everywhere, so that fields can be added."""
    definitions = {
        name: each if name in _OPEN else {**each, "additionalProperties": False}
        for name, each in schema["$defs"].items()
    }
    return {**schema, "$defs": definitions}


RECORDS: dict[str, tuple[str, Any, str]] = {  # by name: place, type, what it is
    "presence": (r"\.ghp/agent-status\.json", PresenceFile, "presence of agents"),
    "issue": (r"\.ghp/issues/[^/]+/[^/]+\.json", IssueEvent, "event of an issue"),
    "lease": (r"\.ghp/leases/[^/]+/[^/]+\.json", LeaseEvent, "event of a lease"),
    "question": (r"\.ghp/escalations/[^/]+\.md", QuestionFile, "question"),
    "answer": (r"\.ghp/answers/[^/]+/[^/]+\.md", AnswerFile, "answer to a question"),
    "decision": (r"\.ghp/decisions/[^/]+/[^/]+\.md", OutcomeFile, "what an answer led to"),
    "handoff": (r"\.ghp/handoffs/[^/]+/[^/]+\.md", HandoffFile, "handoff or checkpoint"),
    "restored": (r"\.ghp/patches/[^/]+/applied-[^/]+\.json", RestoredFile, "restored work"),
    "note": (r"\.ghp/notes/[^/]+/[^/]+\.md", NoteFile | WithdrawnFile, "note"),
    "note-change": (
        r"\.ghp/notes/[^/]+/[^/]+/[^/]+\.md",
        NoteChangeFile | WithdrawnFile,
        "change of a note",
    ),
    "pull": (r"\.ghp/pulls/[^/]+/[^/]+\.json", PullEvent, "event of a local pull request"),
    "return": (r"\.ghp/returns/[^/]+/[^/]+\.json", ReturnFile, "pull request sent back"),
    "review": (r"\.ghp/reviews/[^/]+/[^/]+\.json", ReviewRecord, "review"),
    "commands": (r"\.ghp/commands/[^/]+\.json", CommandsFile, "commands in a comment"),
    "branch": (r"\.ghp/branches/[^/]+/[^/]+\.json", BranchRecord, "branch of an issue"),
    "stop": (r"\.ghp/stops/[^/]+/[^/]+\.json", StopOrder, "order to stop"),
    "override": (r"\.ghp/overrides/[^/]+/[^/]+\.json", OverrideRecord, "override"),
    "subscription": (
        r"\.ghp/subscriptions/[^/]+/[^/]+\.json", Subscription, "what an agent hears"
    ),
    "github-request": (
        r"\.ghp/outgoing/[^/]+/request\.json", WriteRequest, "a write that waits for a token"
    ),
    "github-result": (
        r"\.ghp/outgoing/[^/]+/result\.json", RequestResult, "what became of such a write"
    ),
    "github-tracker": (
        r"\.ghp/mirror/[^/]+/tracker\.json", Tracker, "which repository has the issues"
    ),
    "github-issues": (
        r"\.ghp/mirror/[^/]+/[0-9]+\.json", BucketFile, "published issues of GitHub"
    ),
    "sweep-memory": (r"\.ghp/sweeps/[^/]+/memory\.json", MemoryFile, "memory of a sweeper"),
    "lock": (r"lease\.json", LockFile, "lock: a claim, a strict lease, a number"),
    "implicit-lease": (
        r"touched/[0-9a-f]{32}-[0-9a-f]{32}", ImplicitLeaseFile, "implicit lease in a clone"
    ),
    "outbox": (r"outbox/[^/]+", OutboxHeader, "record that waits: its first line"),
}  # fmt: skip


def records() -> dict[str, Schema]:
    """The schemas of the files of the state, by file. A Markdown record has its front matter."""
    return {
        f"record/{name}.json": document(text, shape, required=False)
        for name, (_, shape, text) in RECORDS.items()
    }


def hooks() -> dict[str, Schema]:
    """The schemas of the messages of hooks, by file."""
    kinds = {"message": ("event of", MESSAGES), "reply": ("reply to", REPLIES)}
    return {
        f"hook/{client}-{kind}.json": document(f"{text} {client}", shape, required=None)
        for kind, (text, shapes) in kinds.items()
        for client, shape in shapes.items()
    }


def outputs() -> dict[str, Schema]:
    """The schemas of the commands' JSON, by file."""
    return {
        f"output/{command.replace(' ', '-')}.json": document(f"ghp {command}", shape, required=True)
        for command, shape in OUTPUTS.items()
    }


def topics() -> dict[str, Schema]:
    """The schemas of the payloads of topics, by file."""
    return {
        f"topic/{name}.json": document(f"payload of {name}", shape.type, required=False)
        for name, shape in SHAPES.items()
    }


def pages() -> dict[str, str]:
    """The content of each file below docs/schemas."""
    schemas = {**outputs(), **records(), **topics(), **hooks()}
    rows = [f"| [{name}]({name}) | {schema['title']} |" for name, schema in schemas.items()]
    texts = {name: json.dumps(schema, indent=2) + "\n" for name, schema in schemas.items()}
    return {"README.md": README.format(table="\n".join(rows)), **texts}


README = f"""# Schemas

`make docs` writes these JSON Schemas (2020-12) from the types in the code. Each describes the JSON
output of a command, a file of the state, the payload of a topic, or a message of a hook.

## Versions

Every object has a `schemaVersion`; in a list, each item has its own. In a record of the state, or
a payload, an absent version means {VERSION}.

- A new optional field keeps the version. Ignore fields that you do not know.
- A field that is removed, or gets another type or meaning, raises the version.
- ghp-agents keeps records whose version it does not know and ignores them; `ghp agent-doctor` names
  them. A lock with an unknown version cannot be acquired. Update ghp-agents to read them.
- Replies of hooks are in the formats of the agents' clients, which allow no fields of ours. They
  have no version.

| file | what |
|---|---|
{{table}}
"""


def main() -> None:
    """Write all files, and remove those that are no longer made."""
    made = pages()
    for old in FOLDER.rglob("*.*"):
        if str(old.relative_to(FOLDER)) not in made:
            old.unlink()
    for name, text in made.items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
