"""All messages as this clone knows them, with an index so that few of them are read from git.

The index has every header and no body, one line for each message. It is in shards, as the messages
are, each with the stamp of the files that it was made from: a shard with another stamp is read
again, so the index is never trusted without a proof. It is a cache: without it, all messages are
read. Who looks for some messages parses only the lines that can be theirs.
"""

import contextlib
import json
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.errors import NotFoundError
from ghp_agents.core.ids import Actor
from ghp_agents.messages import message as rules
from ghp_agents.messages import record
from ghp_agents.messages.message import Letter, Message
from ghp_agents.ports import Snapshot
from ghp_agents.state.codec import order
from ghp_agents.workspace import Workspace

FILE = "mailbox.txt"
FORMAT = 7  # of the index; another one is made again
DEFAULTS = [Message._field_defaults.get(field, ...) for field in Message._fields]
SHARD = b"\n#\n"  # between shards; a line of a message is JSON
GROUP, ABOUT = b'"@', b"\n>"  # in each line of a message to a group, and before each of an answer
TIMED = b'!["'  # in each line of a message with a time by which somebody should begin or end
STARTS = (b'&["', b'&!["')  # in each line of a message that starts a workflow
_FOLDER = re.compile(rf"{re.escape(record.FOLDER)}[0-9a-f]{{2}}/")  # others may hold anything
FEW = 8  # folders that are read one by one; each costs a git process

# The index has a line that proves the rest, a line with the stamps, and the shards in their order.
# A message is a line between line ends of its own: its headers as JSON, and before them the id of
# the message that it is about, if there is one: `>ID JSON`. `!` before the JSON: it has a time. `&`
# before that: it starts a workflow.
Choice = Callable[[bytes], Iterable[bytes]]  # of lines


def read(ws: Workspace, snapshot: Snapshot) -> list[Message]:
    """All messages of conversations that are not over, without their bodies, oldest first."""
    return _messages(ws, snapshot, _lines)


def of(ws: Workspace, snapshot: Snapshot, name: str, thread: str = "") -> list[Message]:
    """Of these messages those that can be by or to `name`, all replies to them, and of each message
    whose id begins with `thread` the whole conversation; without bodies, oldest first."""
    word, start = (
        json.dumps(name).encode(),
        thread.strip().lower().removeprefix("m-").encode("utf-8", "replace"),
    )

    def choose(text: bytes) -> Collection[bytes]:
        mine = {*_with(text, word), *_with(text, GROUP)}
        return {*mine, *_answers(text, mine), *(_conversation(text, start) if start else ())}

    return _messages(ws, snapshot, choose)


def timed(ws: Workspace, snapshot: Snapshot) -> list[Message]:
    """Of these messages those that ask for something by a time, and all replies to them."""

    def choose(text: bytes) -> Collection[bytes]:
        lines = [*_with(text, TIMED)]
        return {*lines, *_answers(text, lines)}

    return _messages(ws, snapshot, choose)


def of_workflows(ws: Workspace, snapshot: Snapshot) -> list[Message]:
    """Of these messages those that start workflows, their steps, and all replies to them."""

    def choose(text: bytes) -> Collection[bytes]:
        starts = {line for mark in STARTS for line in _with(text, mark)}
        steps = _answers(text, starts)
        return {*starts, *steps, *_answers(text, steps)}

    return _messages(ws, snapshot, choose)


def everything(snapshot: Snapshot) -> list[Message]:
    """All messages with their bodies, oldest first; also those of conversations that are over."""
    return sorted(_read(snapshot.files(record.FOLDER)), key=order)


def find(snapshot: Snapshot, messages: Sequence[Message], reference: str) -> Message:
    """The message whose id begins with `reference`, of `messages` or else of all. Raises
    NotFoundError, UsageError."""
    try:
        return rules.find(messages, reference)
    except NotFoundError:
        return rules.find(everything(snapshot), reference)


def whole(snapshot: Snapshot, message: Message) -> Message:
    """A message with its body; without it if its file cannot be read any more."""
    path = record.path_of(message.id)
    content = snapshot.files(record.folder_of(message.id)).get(path)
    messages = _read({path: content}) if content else []
    return messages[0] if messages else message


def whole_letter(snapshot: Snapshot, letter: Letter) -> Letter:
    """A letter with the bodies of its message and its replies."""
    replies = tuple(whole(snapshot, reply) for reply in letter.replies)
    return Letter(whole(snapshot, letter.message), replies)


def _messages(ws: Workspace, snapshot: Snapshot, choose: Choice) -> list[Message]:
    stamps = {x: y for x, y in snapshot.stamps(record.FOLDER).items() if _FOLDER.fullmatch(x)}
    if not stamps:
        return []
    text = _text(Path(ws.cache_dir, FILE), snapshot, json.dumps(stamps).encode())
    return sorted((_unpacked(line) for line in choose(text)), key=order)


def _text(path: Path, snapshot: Snapshot, stamps: bytes) -> bytes:
    """The lines of the index, with those of stale shards built again."""
    was, text = _index(path)
    if was == stamps:
        return text
    wanted, before = json.loads(stamps), json.loads(was)
    kept = dict(zip(before, text.split(SHARD), strict=True)) if before else {}
    fresh = _made(snapshot, [shard for shard in wanted if before.get(shard) != wanted[shard]])
    text = SHARD.join(fresh[shard] if shard in fresh else kept[shard] for shard in wanted)
    content = b"%b\n%b" % (stamps, text)
    with contextlib.suppress(OSError):
        files.write_atomically(path, _head(content) + content)
    return text


def _index(path: Path) -> tuple[bytes, bytes]:
    """The stamps in the index, as JSON, and its lines; none if it is not whole."""
    with contextlib.suppress(OSError):
        data = path.read_bytes()
        first = data.find(b"\n") + 1
        if data[:first] == _head(memoryview(data)[first:]):
            second = data.index(b"\n", first)
            return data[first:second], data[second + 1 :]
    return b"{}", b""


def _head(content: bytes | memoryview) -> bytes:
    """The first line: another format, or half a file after a crash, is not used."""
    return f"mailbox {FORMAT} {zlib.crc32(content)}\n".encode()


def _made(snapshot: Snapshot, folders: Collection[str]) -> dict[str, bytes]:
    """The lines of the messages in these folders, as they are now."""
    contents: dict[str, dict[str, bytes]]
    if len(folders) <= FEW:
        contents = {folder: {**snapshot.present(folder)} for folder in folders}
    else:
        contents = {folder: {} for folder in folders}
        for path, content in snapshot.present(record.FOLDER).items():
            contents.get(path[: path.rindex("/") + 1], {})[path] = content
    return {
        folder: b"".join(_packed(message._replace(body="")) for message in _read(some))
        for folder, some in contents.items()
    }


def _read(contents: Mapping[str, bytes]) -> list[Message]:
    return record.read(contents)[0]


def _packed(message: Message) -> bytes:
    fields = [*message]
    while fields[-1] == DEFAULTS[len(fields) - 1]:
        fields.pop()  # most messages have few fields
    about = f">{message.about} " if message.about else ""
    mark = "!" if message.ack_within or message.done_within else ""
    mark = f"&{mark}" if message.workflow and not message.step else mark
    return f"\n{about}{mark}{json.dumps(fields, separators=(',', ':'))}\n".encode()


def _unpacked(line: bytes) -> Message:
    """The message of a line."""
    identity, by, to, *more = json.loads(line[line.index(b"[") :])
    message = Message(identity, Actor(*by), tuple(to), *more)
    return (
        message._replace(artifacts=tuple(message.artifacts)) if message.artifacts != () else message
    )


def _lines(text: bytes) -> list[bytes]:
    return [line for line in text.split(b"\n") if line.strip(b"#")]


def _with(text: bytes, word: bytes) -> Iterator[bytes]:
    """The lines with a word, found without splitting the text."""
    at = text.find(word)
    while at >= 0:
        end = text.index(b"\n", at + len(word))
        yield text[text.rindex(b"\n", 0, at + len(word)) + 1 : end]
        at = text.find(word, end)


def _id(line: bytes) -> bytes:
    return line.split(b'"', 2)[1]


def _about(line: bytes) -> bytes:
    return line[1 : line.index(b" ")] if line[:1] == b">" else b""


def _answers(text: bytes, to: Iterable[bytes]) -> list[bytes]:
    ids = {_id(line) for line in to}
    return [line for line in _with(text, ABOUT) if _about(line) in ids] if ids else []


def _conversation(text: bytes, start: bytes) -> set[bytes]:
    """The lines of the conversations of the messages whose ids begin with `start`."""
    by_id = {_id(line): line for line in _lines(text)}
    answers: dict[bytes, list[bytes]] = {}
    for identity, line in by_id.items():
        answers.setdefault(_about(line), []).append(identity)
    left = [identity for identity in by_id if identity.startswith(start)]
    lines: dict[bytes, bytes] = {}
    while left:
        identity = left.pop()
        if identity in by_id and identity not in lines:
            line = lines[identity] = by_id[identity]
            left += [_about(line), *answers.get(identity, ())]
    return {*lines.values()}
