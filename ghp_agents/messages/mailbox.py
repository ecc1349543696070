"""All messages as this clone knows them, with an index so that few of them are read from git.

The index has every header and no body. It is in shards, as the messages are, each with the stamp
of the files that it was made from: a shard with another stamp is read again, so the index is never
trusted without a proof. It is a cache: without it, all messages are read.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ghp_agents.core.errors import NotFoundError
from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.core.json_file import object_file
from ghp_agents.messages import message as rules
from ghp_agents.messages import record
from ghp_agents.messages.message import Message
from ghp_agents.ports import Snapshot
from ghp_agents.state.codec import order
from ghp_agents.workspace import Workspace

FILE = "mailbox.json"
FORMAT = 3  # of the index; another one is made again
CUT = "body"  # the one field that is not in the index


def read(ws: Workspace, snapshot: Snapshot) -> list[Message]:
    """All messages of conversations that are not over, without their bodies, oldest first."""
    stamps = snapshot.stamps(record.FOLDER)
    if not stamps:
        return []
    file = object_file(Path(ws.cache_dir, FILE))
    known = file.read()
    shards = known.get("shards") if known.get("format") == FORMAT else {}
    shards = shards if isinstance(shards, dict) else {}
    fresh: dict[str, Any] = {}
    messages: list[Message] = []
    for folder, stamp in stamps.items():
        shard = shards.get(folder)
        found = _unpacked(shard, stamp)
        if found is None:
            found = [each._replace(body="") for each in _read(snapshot.present(folder))]
            shard = [stamp, [_packed(each) for each in found]]
        fresh[folder] = shard
        messages += found
    if fresh != shards:
        file.write({"format": FORMAT, "shards": fresh})
    return sorted(messages, key=order)


def everything(snapshot: Snapshot) -> list[Message]:
    """All messages with their bodies, oldest first; also those of conversations that are over."""
    return sorted(_read(snapshot.files(record.FOLDER)), key=order)


def find(snapshot: Snapshot, known: Sequence[Message], reference: str) -> Message:
    """The message whose id begins with `reference`, of those known or else of all. Raises
    NotFoundError, UsageError."""
    try:
        return rules.find(known, reference)
    except NotFoundError:
        return rules.find(everything(snapshot), reference)


def whole(snapshot: Snapshot, message: Message) -> Message:
    """A message with its body; as it is, if its file cannot be read any more."""
    path = record.path_of(message.id)
    content = snapshot.files(record.folder_of(message.id)).get(path)
    found = _read({path: content}) if content else []
    return found[0] if found else message


def _read(files: Mapping[str, bytes]) -> list[Message]:
    return record.read(files)[0]


def _packed(message: Message) -> list[Any]:
    fields = message._asdict()
    del fields[CUT]
    return list(fields.values())


def _unpacked(shard: Any, stamp: str) -> list[Message] | None:
    """The messages of a shard; None if it has another stamp or cannot be read."""
    try:
        was, rows = shard
        return [_message(*row) for row in rows] if was == stamp else None
    except (TypeError, ValueError):
        return None


def _message(
    identity: str, by: Any, to: Any, subject: str, at: str, clock: int, clone: str, *more: Any
) -> Message:
    *plain, artifacts, claim, is_payload = more
    return Message._make((
        identity, Actor(*by), tuple(to), subject, Timestamp(at), clock, CloneId(clone), "", *plain,
        tuple(artifacts), claim, is_payload,
    ))  # fmt: skip
