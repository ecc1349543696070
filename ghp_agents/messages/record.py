"""Messages as files of the state, `.ghp/messages/<2>/<id>.md`. Their contents are untrusted."""

import json
import re
from collections.abc import Mapping

from ghp_agents.core.errors import UsageError
from ghp_agents.core.fields import any_list, any_text, as_actor, is_oid
from ghp_agents.core.ids import NUMBERS_END, CloneId, Timestamp, one_line
from ghp_agents.core.metadata import any_metadata
from ghp_agents.core.schema_version import KEY, VERSION, unversioned
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.messages.address import MOST, checked_all
from ghp_agents.messages.header_block import Block, parse, render
from ghp_agents.messages.message import DEFAULT_URGENCY, KINDS, REPLIES, URGENCIES, Message
from ghp_agents.state.codec import read_files
from ghp_agents.state.record import Problem

FOLDER = ".ghp/messages/"
SCHEMA = "Schema-Version"
MARKDOWN, JSON = "text/markdown", "application/json"
SUBJECT_LIMIT = 200  # characters
NAME_LIMIT = 200  # of a person
ARTIFACTS = 50
_ID = re.compile(r"[0-9a-f]{4,64}")
_WORD = re.compile(r"[a-z-]{1,20}")
_STEP = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_PATH = re.compile(r"\.ghp/messages/([0-9a-f]{2})/([0-9a-f]{4,64})\.md")


def folder_of(message: str) -> str:
    """The folder with the message of this id, and some others."""
    return f"{FOLDER}{message[:2]}/"


def path_of(message: str) -> str:
    """The path of the message with this id."""
    return f"{folder_of(message)}{message}.md"


def render_message(message: Message) -> bytes:
    """A message as a file. The first six headers are those that any program may rely on."""
    headers = {
        "Timestamp": message.at,
        "Sender": one_line(message.by.name, NAME_LIMIT),
        "Recipient": ", ".join(message.to),
        "Message-ID": message.name,
        "Correlation-ID": f"M-{message.about}" if message.about else "",
        "Content-Type": JSON if message.is_payload else MARKDOWN,
        "Subject": message.subject,
        "Kind": message.kind,
        "Urgency": message.urgency,
        "Sender-Type": "person" if message.by.is_person else "agent",
        "Clock": str(message.clock),
        "Clone": message.clone,
        SCHEMA: str(VERSION),
    }
    more = {
        "Issue": str(message.issue or ""),
        "Pull-Request": str(message.pull or ""),
        "Commit": message.commit,
        "Verdict": message.verdict,
        "Quorum": str(message.quorum or ""),
        "Or-Agent": message.or_agent,
        "Ack-Within": _spelled(message.ack_within),
        "Done-Within": _spelled(message.done_within),
        "Expires-After": _spelled(message.expires),
        "Claim": str(message.claim or ""),
        "Artifacts": json.dumps(message.artifacts) if message.artifacts else "",
        "Workflow": message.workflow,
        "Step": message.step,
        "Metadata": message.metadata,
    }
    headers |= {name: value for name, value in more.items() if value}
    return render(Block(headers, message.body + "\n" if message.body else ""))


def read(files: Mapping[str, bytes]) -> tuple[list[Message], list[Problem]]:
    """The messages in files of the state, and the problems. Other files are ignored."""
    return read_files(files, _decode, _PATH)


def _decode(_: str, identity: str, data: bytes) -> Message | None:
    block = parse(data)
    headers = dict(block.headers)
    version = headers.pop(SCHEMA, str(VERSION))
    unversioned({KEY: _number(version) or version})
    kind = headers.get("Kind", KINDS[0])
    if kind not in (*KINDS, *REPLIES):
        return None  # of a newer version
    urgency, about = headers.get("Urgency"), headers.get("Correlation-ID", "").removeprefix("M-")
    if about and not _ID.fullmatch(about):
        raise ValueError("its Correlation-ID is not the id of a message")
    return Message(
        id=identity,
        by=as_actor(headers.get("Sender", ""), headers.get("Sender-Type") == "person"),
        to=_recipients(headers.get("Recipient", ""), is_reply=kind in REPLIES),
        subject=one_line(headers.get("Subject", ""), SUBJECT_LIMIT),
        at=Timestamp(any_text(headers.get("Timestamp"))),
        clock=_number(headers.get("Clock", "")),
        clone=CloneId(headers.get("Clone", "")),
        body=block.body.removesuffix("\n"),
        kind=kind,
        about=about,
        urgency=urgency if urgency in URGENCIES else DEFAULT_URGENCY,
        issue=_number(headers.get("Issue", "")) or None,
        ack_within=_seconds(headers.get("Ack-Within", "")),
        done_within=_seconds(headers.get("Done-Within", "")),
        expires=_seconds(headers.get("Expires-After", "")),
        pull=_number(headers.get("Pull-Request", "")),
        commit=headers["Commit"] if is_oid(headers.get("Commit")) else "",
        verdict=_matching(_WORD, headers.get("Verdict", "")),
        quorum=_number(headers.get("Quorum", "")),
        or_agent=_agent(headers.get("Or-Agent", "")),
        artifacts=_texts(headers.get("Artifacts", ""))[:ARTIFACTS],
        claim=_number(headers.get("Claim", "")),
        is_payload=headers.get("Content-Type") == JSON,
        workflow=_matching(_STEP, headers.get("Workflow", "")),
        step=_matching(_STEP, headers.get("Step", "")),
        metadata=any_metadata(headers.get("Metadata", "")),
    )


def _recipients(text: str, *, is_reply: bool) -> tuple[str, ...]:
    """The recipients of a message. A reply is for its asker, who may be a person. Raises
    ValueError."""
    if is_reply:
        return tuple(one_line(word, NAME_LIMIT) for word in text.split(",")[:MOST])
    try:
        return checked_all([text])
    except UsageError as error:
        raise ValueError(f"its recipients are wrong: {error}") from None


def _spelled(seconds: int) -> str:
    return f"{seconds} s" if seconds else ""


def _seconds(text: str) -> int:
    return _number(text.removesuffix(" s"))


def _matching(pattern: re.Pattern[str], text: str) -> str:
    """A text that fits a pattern, else nothing."""
    return text if pattern.fullmatch(text) else ""


def _agent(text: str) -> str:
    return text if is_name(text) else ""


def _number(text: str) -> int:
    """A whole number, else 0."""
    is_number = text.isascii() and text.isdigit() and len(text) < 17
    return int(text) if is_number and int(text) < NUMBERS_END else 0


def _texts(value: str) -> tuple[str, ...]:
    """A JSON list of texts; a wrong one is empty."""
    try:
        items = json.loads(value) if value else []
    except (ValueError, RecursionError):
        return ()
    return tuple(item for item in any_list(items) if isinstance(item, str))
