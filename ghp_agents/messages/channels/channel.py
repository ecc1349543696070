"""A channel: a topic that people also read and write as a file. Its settings, and its text."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from ghp_agents.core.front_matter import yaml_fields
from ghp_agents.core.ids import Actor, one_line
from ghp_agents.hotpath.quoting import clean, fence, named, when
from ghp_agents.messages.message import ACK, DONE, REPLIES, Message
from ghp_agents.messages.topics.topic import is_topic

EVERYBODY, PEOPLE = "all", "user"  # in a list of members
DESCRIPTION_LIMIT = 200
# The last two are for other programs.
KEYS = (
    "description", "members", "permissions", "notifications", "typing_indicators", "job_references",
)  # fmt: skip
NOTICE = "<!-- Write below the last block. A command that you run sends your text. -->"
SHOWN = 200  # messages; the newest
_FENCED = re.compile(r"(`{3,})[^\n`]*\n(.*)\n\1`*", re.DOTALL)
_LABELLED = re.compile(r"^[ \t]*(?:`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)
# Labels of blocks that no author is called by, as people write them most. Others are refused.
_LANGUAGES = (
    "bash", "c", "console", "cpp", "csharp", "css", "diff", "dockerfile", "go", "html", "ini",
    "java", "javascript", "js", "json", "jsx", "kotlin", "lua", "make", "markdown", "md", "mermaid",
    "patch", "perl", "php", "plaintext", "powershell", "py", "python", "ruby", "rust", "scala",
    "sh", "shell", "sql", "swift", "text", "toml", "ts", "tsx", "txt", "typescript", "xml", "yaml",
    "yml",
)  # fmt: skip


class Channel(NamedTuple):
    """A channel as `channels.yaml` describes it."""

    name: str
    description: str = ""
    members: tuple[str, ...] = (EVERYBODY,)
    writers: tuple[str, ...] = (EVERYBODY,)
    notifies: bool = True  # whether its members hear it without a subscription


def parse(text: str) -> list[Channel]:
    """The channels in a file. Raises ValueError, which says what is wrong."""
    try:
        fields = yaml_fields(text)
    except ValueError as error:
        raise ValueError(str(error).replace("the front matter", "it")) from None
    entries = fields.get("channels")
    if not isinstance(entries, dict):
        raise ValueError("it has no `channels:` with a name for each")
    return [_channel(str(name), value) for name, value in entries.items()]


def _channel(name: str, value: Any) -> Channel:
    shown = one_line(name, 40)
    if not is_topic(f"@{name}"):
        raise ValueError(f"{shown!r} is not the name of a topic")
    if not isinstance(value, dict | None):
        raise ValueError(f"`{shown}` is not a list of fields")
    fields: Mapping[str, Any] = value or {}
    strange = next((key for key in fields if key not in KEYS), None)
    if strange is not None:
        raise ValueError(f"`{shown}` has the unknown field {one_line(strange, 40)!r}")
    description = fields.get("description", "")
    if not isinstance(description, str):
        raise ValueError(f"the `description` of `{shown}` is not a text")
    members = _names(shown, "members", fields.get("members", [EVERYBODY]))
    notifies = fields.get("notifications", True)
    if not isinstance(notifies, bool):
        raise ValueError(f"the `notifications` of `{shown}` are not true or false")
    writers = _names(shown, "permissions", fields.get("permissions", [*members]))
    return Channel(name, one_line(description, DESCRIPTION_LIMIT), members, writers, notifies)


def _names(channel: str, field: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ValueError(f"the `{field}` of `{channel}` are not a list of names")


def includes(names: Iterable[str], actor: Actor) -> bool:
    """Whether a list of members includes somebody."""
    of_all = (EVERYBODY, PEOPLE) if actor.is_person else (EVERYBODY,)
    return any(name in of_all or name == actor.name for name in names)


def messages_of(channel: Channel, messages: Iterable[Message]) -> list[Message]:
    """The newest messages to a channel, and the replies to them, oldest first."""
    chosen: list[Message] = []
    ids: set[str] = set()
    for message in messages:
        is_reply = message.kind in REPLIES and message.about in ids
        if is_reply or f"@{channel.name}" in message.to:
            chosen.append(message)
            ids.add(message.id)
    return chosen[-SHOWN:]


def render(channel: Channel, messages: Iterable[Message]) -> str:
    """The text of a channel's file. No text in a block can end it."""
    head = [f"# {channel.name}"]
    head += [clean(channel.description).replace("`", "'")] if channel.description else []
    blocks = [_block(message) for message in messages]
    return "\n\n".join([*head, NOTICE, *blocks]) + "\n"


def _block(message: Message) -> str:
    name = named(message.by.name).strip("«»").replace(" ", "-")
    author = f"@{name}" if message.by.is_person else name
    lines = [message.body] if message.body.startswith(message.subject) else _said(message)
    ticks, _, rest = fence(clean("\n\n".join(filter(None, lines)))).partition("\n")
    return f"{ticks}{author} [{when(message.at)}, {message.name}]\n{rest}"


def _said(message: Message) -> list[str]:
    if message.kind not in REPLIES:
        return [message.subject, message.body]
    verb = {ACK: "began with", DONE: "completed"}.get(message.kind, "could not do")
    return [f"{verb} M-{message.about}: {message.subject}", message.body]


def is_view(text: str) -> bool:
    """Whether a text has the notice that each file of a channel has."""
    return NOTICE in text.splitlines()


def after_last_block(text: str) -> str:
    """What is below the last block of a file that a person changed, or without a block, below our
    notice; all, if it has neither."""
    ticks, end = "", 0
    position = 0
    for line in text.splitlines(keepends=True):
        position += len(line)
        run = re.match(r"`{3,}", line)
        if not ticks and run:
            ticks = run[0]
        elif not ticks and line.strip() == NOTICE:
            end = position
        elif ticks and run and len(run[0]) >= len(ticks) and not line[len(run[0]) :].strip():
            ticks, end = "", position
    return text[end:]


def foreign_label(text: str, names: Collection[str]) -> str:
    """The label of the first block that says who wrote it, as an agent's does; empty if there is
    none. A block whose label is the name of a language is the writer's own."""
    for match in _LABELLED.finditer(text.replace("\r", "\n")):
        label = match[1].strip()
        word = label.split()[0].strip("«»").lower() if label else ""
        is_named = word.lstrip("@") in {name.lower() for name in names}
        if label and (is_named or "[" in label or word not in _LANGUAGES):
            return label
    return ""


def written(text: str) -> str:
    """What a person wrote, without a block around it."""
    tidy = text.replace("\r\n", "\n").strip()
    whole = _FENCED.fullmatch(tidy)
    return whole[2].strip() if whole else tidy
