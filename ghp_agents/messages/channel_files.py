"""The files of channels, `.ghp/channels/<topic>.md`: views that are made from messages.

A person may append text to a file. A file does not tell who wrote it, so the text is sent only if a
person has read it and says that it is theirs. Then the file is made again.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core import user_file
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import one_line
from ghp_agents.core.json_file import object_file
from ghp_agents.git import clone_files, exclude
from ghp_agents.git import process as git
from ghp_agents.hotpath.quoting import phrase
from ghp_agents.messages import mailbox, record, service
from ghp_agents.messages.channels import channel as rules
from ghp_agents.messages.channels import channel_list
from ghp_agents.messages.channels.channel import Channel
from ghp_agents.messages.message import Message
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.admin_port import Step
from ghp_agents.workspace import Workspace

HINT = "If you wrote it: `ghp agent-send --written`."
FOLDER = ".ghp/channels"
LINE = f"/{FOLDER}/"  # in info/exclude
CACHE = "channel-views.json"
KEPT = "channels"  # in our folder: copies of files that were changed above their end
SIZE_LIMIT = 4_000_000  # bytes of a file that is read
STATES = 50  # of a file that are remembered: an editor may save an old one, with more below


# Asked with the name of a file and what stands below its end; whether the person who runs this
# command says that it is theirs.
Confirm = Callable[[str, str], bool]


class _View(NamedTuple):
    channel: Channel
    path: Path
    shown: str
    states: list[list[Any]]  # length, digest and clock of what the file was
    confirms: "Confirm | None"


def refresh(ctx: Context, confirms: Confirm | None = None) -> list[str]:
    """Write the files again, after what was appended was sent, if a person confirms it. Without
    anybody to ask, nothing is sent. Returns notes for people. Raises GhpError for a wrong
    channels.yaml."""
    root = ctx.ws.main_worktree
    channels = channel_list.read(ctx.ws)
    if root is None or not channels:
        return []
    folder = root / FOLDER
    if folder.is_symlink() or folder.parent.is_symlink():
        return [f"{FOLDER} is a link: channels are not written there."]
    memory = object_file(Path(ctx.ws.cache_dir, CACHE))
    before = memory.read()
    after, notes = dict(before), list[str]()
    for channel in channels:
        path, shown = folder / f"{channel.name}.md", f"{FOLDER}/{channel.name}.md"
        view = _View(channel, path, shown, _states(before.get(channel.name)), confirms)
        try:
            notes += _refresh(ctx, view)
        except GhpError as error:
            notes.append(f"{shown}: {error}")
        after[channel.name] = view.states[-STATES:]
    if after != before:
        memory.write(after)
    return notes


def _states(value: Any) -> list[list[Any]]:
    rows = value if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, list) and [*map(type, row)] == [int, str, int]]


def _refresh(ctx: Context, view: _View) -> list[str]:
    path, notes = view.path, list[str]()
    if path.is_symlink() or (path.exists() and path.stat().st_size > SIZE_LIMIT):
        return [f"{view.shown} is a link or too large: it was left as it is."]
    content = user_file.read(path)
    data = content or b""
    if data.strip() and not view.states and not rules.is_view(data.decode("utf-8", "replace")):
        _refuse_tracked(ctx, view)
        return [
            f"{view.shown} is not ours: it was left as it is. Move it away to read the channel."
        ]
    base = _base(view.states, data)
    appended = _appended(data, base)
    text = rules.written(appended)
    if text and view.confirms is None:
        return []
    if text and view.confirms:
        names = {*ctx.store.snapshot().agents(), *view.channel.members, *view.channel.writers}
        label = rules.foreign_label(appended, names - {rules.EVERYBODY, rules.PEOPLE})
        if label:
            return [
                f"{view.shown} has a block with the author {phrase(label, 60)}: nothing below its "
                "end was sent. Take the block or its label out: agents send with `ghp agent-send`."
            ]
        if not view.confirms(view.shown, text):
            return [f"{view.shown} has text that nobody has sent. {HINT}"]
        notes += _send(ctx, view, text, base)
        view.states.append([len(data), _hash(data), ctx.store.snapshot().clock])
    if content is not None and base is None and data.strip():
        notes += _keep(ctx.ws, view, data)
    _write(ctx, view, content)
    return notes


def _base(states: list[list[Any]], data: bytes) -> list[Any] | None:
    """The longest known state that the file begins with."""
    fits = [row for row in states if row[0] <= len(data) and _hash(data[: row[0]]) == row[1]]
    return max(fits, key=lambda row: int(row[0]), default=None)


def _appended(data: bytes, base: list[Any] | None) -> str:
    if base is not None:
        return data[base[0] :].decode("utf-8", "replace")
    return rules.after_last_block(data.decode("utf-8", "replace"))


def _send(ctx: Context, view: _View, text: str, base: list[Any] | None) -> list[str]:
    to = f"@{view.channel.name}"
    subject = one_line(text.partition("\n")[0], record.SUBJECT_LIMIT)
    body = "" if text == subject else text
    snapshot = ctx.store.snapshot()
    for earlier in mailbox.read(ctx.ws, snapshot) if base else ():
        is_same = (earlier.by, earlier.to, earlier.subject) == (ctx.ws.actor(), (to,), subject)
        # A killed command sent it, and did not write the file.
        if (
            base
            and is_same
            and earlier.clock > base[2]
            and mailbox.whole(snapshot, earlier).body == body
        ):
            return []
    draft = service.Draft((to,), subject, body, artifacts=(view.shown,))
    message = service.send(ctx, draft).message
    return [f"Sent what you wrote in {view.shown} as {message.name}."]


def _keep(ws: Workspace, view: _View, data: bytes) -> list[str]:
    """Keep a copy of a file that was changed above its end, before it is rewritten."""
    place = ws.ghp_dir / KEPT / f"{view.channel.name}-{_hash(data)[:12]}.md"
    if not place.exists():
        user_file.rewrite(place, None, data)
    return [f"{view.shown} was changed above its end. It was restored; your version is in {place}."]


def _write(ctx: Context, view: _View, content: bytes | None) -> None:
    snapshot = ctx.store.snapshot()
    messages = rules.messages_of(view.channel, mailbox.read(ctx.ws, snapshot))
    text = rules.render(view.channel, _whole(snapshot, messages))
    data = text.encode("utf-8", "replace")
    if data != content:
        _refuse_tracked(ctx, view)
        exclude.add(ctx.ws.common_dir, LINE)
        user_file.rewrite(view.path, content, data)
    row = [len(data), _hash(data), snapshot.clock]
    if row[:2] not in [state[:2] for state in view.states]:
        view.states.append(row)


def _whole(snapshot: Snapshot, messages: list[Message]) -> list[Message]:
    return [mailbox.whole(snapshot, message) for message in messages]


def _refuse_tracked(ctx: Context, view: _View) -> None:
    root = ctx.ws.main_worktree
    assert root is not None
    if _is_tracked(root, view.shown):
        raise GhpError("git tracks it, so it is yours", hint="Take it out of the repository.")


def _is_tracked(root: Path, path: str) -> bool:
    with suppress(GhpError):
        if not clone_files.may_be_tracked(root, path):
            return False
    return bool(git.run(["ls-files", "--", path], cwd=root).text)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def to_take(ws: Workspace) -> list[Step]:
    """Steps to remove the files that are as we made them, and their line in `info/exclude`."""
    root = ws.main_worktree
    memory = object_file(Path(ws.cache_dir, CACHE)).read()
    steps = []
    for name, value in memory.items() if root else ():
        path = Path(str(root), FOLDER, f"{name}.md")
        data = user_file.read(path) if not path.is_symlink() else None
        is_ours = data is not None and [len(data), _hash(data)] in [x[:2] for x in _states(value)]
        if is_ours:
            delete = partial(user_file.delete, path, Path(str(root)))
            steps.append(Step("remove", "Removed", f"the view {FOLDER}/{name}.md", delete))
    if exclude.has(ws.common_dir, LINE):
        take = partial(exclude.remove, ws.common_dir, LINE)
        steps.append(Step("remove", "Removed", f"the line {LINE} from .git/info/exclude", take))
    return steps
