"""Conversations as Markdown: one page each, and a timeline of all. Others' text is quoted."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from ghp_agents.core.ids import count
from ghp_agents.hotpath.quoting import when, who
from ghp_agents.messages import retention
from ghp_agents.messages.message import ACK, DONE, FAILED, REPLIES, Letter, Message
from ghp_agents.messages.texts import BODY_LIMIT
from ghp_agents.reports.markdown import block, link, plain
from ghp_agents.state.codec import order, seconds

FOLDER = "conversations/"
TIMELINE = "timeline.md"
SLUG_LIMIT = 40
SUBJECT_LIMIT = 200
VERBS = {ACK: "began", DONE: "completed it", FAILED: "could not do it"}


def pages(
    messages: Iterable[Message], letters: Iterable[Letter], since: float | None = None
) -> dict[str, str]:
    """The text of each page by its path. `since`: only conversations with a message after that
    time in seconds, and only such messages in the timeline."""
    states = {letter.message.id: letter.state for letter in letters if letter.message.wants_work}
    pages: dict[str, str] = {}
    entries: list[tuple[Message, str]] = []
    for members in retention.threads(messages):
        thread = sorted(members, key=order)
        fresh = [message for message in thread if since is None or seconds(message.at) >= since]
        if fresh:
            path = path_of(thread)
            path = path_of(thread, 64) if path in pages else path  # forged ids may begin alike
            pages[path] = page(thread, states)
            entries += [(entry, path) for entry in fresh]
    if entries:
        pages[TIMELINE] = _timeline(entries)
    return pages


def path_of(thread: Sequence[Message], id_limit: int = 12) -> str:
    """The path of a conversation's page: day, words and id of its first message. Its characters
    are safe in any file system."""
    first = thread[0]
    ascii_text = unicodedata.normalize("NFKD", first.subject.lower()).encode("ascii", "ignore")
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_text.decode())[:SLUG_LIMIT].strip("-")
    day = re.match(r"\d{4}-\d\d-\d\d", first.at)
    words = [day[0] if day else "", slug, first.id[:id_limit]]
    return f"{FOLDER}{'-'.join(word for word in words if word)}.md"


def page(thread: Sequence[Message], states: Mapping[str, str]) -> str:
    """One conversation, oldest message first; `states` says what became of requests."""
    names = dict.fromkeys(who(*message.by) for message in thread)
    lines = [
        f"# {plain(thread[0].subject, SUBJECT_LIMIT)}", "",
        f"{count(len(thread), 'message')} by {', '.join(plain(name) for name in names)}.", "",
    ]  # fmt: skip
    for message in thread:
        lines += _entry(message, states.get(message.id, ""))
    return "\n".join(lines)


def _entry(message: Message, state: str) -> list[str]:
    lines = [f"## {_head(message)}", ""]
    if message.kind not in REPLIES:
        facts = [f"{message.kind} {message.name}"]
        facts += [f"a reply to M-{message.about}"] if message.about else []
        facts += [f"issue #{message.issue}"] if message.issue else []
        facts += [state] if state else []
        lines += [f"**{plain(message.subject, SUBJECT_LIMIT)}** ({', '.join(facts)})", ""]
    if message.body:
        command = f"ghp agent-thread {message.name}"
        lines += [block(message.body, BODY_LIMIT, command), ""]
    if message.artifacts:
        lines += [f"- {plain(artifact, 500)}" for artifact in message.artifacts] + [""]
    return lines


def _head(message: Message) -> str:
    by = plain(who(*message.by))
    if message.kind in REPLIES:
        return f"{when(message.at)}: {by} {VERBS.get(message.kind, 'replied')}"
    return f"{when(message.at)}: {by} to {plain(', '.join(message.to), SUBJECT_LIMIT)}"


def _timeline(entries: Iterable[tuple[Message, str]]) -> str:
    lines, day = ["# Timeline", ""], ""
    for message, path in sorted(entries, key=lambda entry: order(entry[0])):
        is_known = when(message.at) == message.at
        today = message.at[:10] if is_known else when("")
        if today != day:
            day = today
            lines += [*([""] if len(lines) > 2 else []), f"## {day}", ""]
        title = link(plain(message.subject), path)
        lines.append(f"- {_head(message)}: {title}")
    return "\n".join([*lines, ""])
