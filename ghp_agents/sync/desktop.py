"""Tell the person at this desktop that an agent needs them: once, on all their clones.

For urgent questions and messages to the topic `user.input_required` that are new. It works where
`notify-send` or `osascript` is, and nobody waits for it.
"""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.child_env import for_commands
from ghp_agents.core.ids import one_line
from ghp_agents.escalations import escalation as questions
from ghp_agents.escalations import record as escalation_record
from ghp_agents.escalations import service as escalation
from ghp_agents.hotpath import background
from ghp_agents.hotpath.quoting import phrase
from ghp_agents.leases import settled_questions
from ghp_agents.messages import mailbox, record
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.codec import seconds
from ghp_agents.state.sender_budget import SenderBudget
from ghp_agents.workspace import Workspace
from ghp_agents.world import World

TOPIC = "@user.input_required"
RECENT = 3_600.0  # seconds; older questions are not announced
MOST = 3  # in one sync
SHOWN = 160  # characters of a question
KEPT_FOR = 7 * 86_400.0
Start = Callable[[Sequence[str], Mapping[str, str]], None]
# The text comes as arguments, so nothing in it is read as a script.
_SCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)",
           "end run")  # fmt: skip


class Notice(NamedTuple):
    """What a person is told. The texts are quoted and short."""

    id: str
    title: str
    body: str
    path: str = ""  # of the record that it tells of


def announce(
    ctx: Context,
    snapshot: Snapshot,
    start: Start = background.spawn,
    budget: SenderBudget | None = None,
) -> None:
    """Show what is new and recent, unless that is off, or there is no desktop. `start` starts a
    program that nobody waits for. `budget` bounds what is shown of one sender."""
    if not _is_on(ctx.ws):
        return
    folder, budget = _folder(ctx.ws.environ), budget or SenderBudget(snapshot)
    recent = budget.first(
        "desktop notices", [*notices(ctx, snapshot)], lambda notice: budget.writers(notice.path)
    )
    new = (notice for notice in recent if _is_first(folder, notice.id))
    for notice in islice(new, MOST):  # the next sync shows the others
        show(ctx.ws, notice, start)


def show(ws: Workspace, notice: Notice, start: Start = background.spawn) -> None:
    """Show one notice, unless that is off, or there is no desktop."""
    program = _is_on(ws) and program_in(ws.environ)
    if program:
        with contextlib.suppress(OSError):
            start(command(program, notice), for_commands(ws.environ))


def _is_on(ws: Workspace) -> bool:
    is_off = background.is_off(ws.environ, {"background": ws.settings.background})
    return ws.settings.desktop and not is_off and program_in(ws.environ) is not None


def program_in(environ: Mapping[str, str]) -> str | None:
    """The program that shows a notification; None in CI and where nobody sees one."""
    if environ.get("CI") or environ.get("SSH_CONNECTION"):
        return None
    path = environ.get("PATH")
    has_screen = environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    return (shutil.which("notify-send", path=path) if has_screen else None) or shutil.which(
        "osascript", path=path
    )


def command(program: str, notice: Notice) -> list[str]:
    """The program's words for a notice."""
    if program.endswith("osascript"):
        lines = [word for line in _SCRIPT for word in ("-e", line)]
        return [program, *lines, notice.title, notice.body]
    body = notice.body.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return [program, "--app-name=ghp-agents", "--urgency=critical", "--", notice.title, body]


def notices(ctx: Context, snapshot: Snapshot) -> Iterator[Notice]:
    """The open urgent questions and the requests for a person's input of the last hour."""
    since = ctx.ws.clock.now() - RECENT
    world = World(ctx, snapshot)
    for question in settled_questions.marked(world, escalation.present_questions(world)):
        is_urgent = question.is_open and question.urgency == questions.URGENCIES[-1]
        if is_urgent and seconds(question.asked_at) > since:
            answer = f"ghp agent-answer {question.name}"
            texts = _texts(question.question.agent, question.title, answer)
            yield Notice(question.id, *texts, escalation_record.path_of(question.id))
    for message in mailbox.read(ctx.ws, snapshot):
        if TOPIC in message.to and not message.by.is_person and seconds(message.at) > since:
            answer = f"ghp agent-thread {message.name}"
            texts = _texts(message.by.name, message.subject, answer)
            yield Notice(message.id, *texts, record.path_of(message.id))


def _texts(agent: str, text: str, then: str) -> tuple[str, str]:
    return f"{one_line(agent, 60)} needs you", f"{phrase(text, SHOWN)} {then}"


def _folder(environ: Mapping[str, str]) -> Path:
    base = environ.get("XDG_CACHE_HOME") or f"{environ.get('HOME') or ''}/.cache"
    return Path(base, "ghp-agents/announced")


def _is_first(folder: Path, name: str) -> bool:
    """Whether no clone of this person has announced it; afterwards, one has."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.close(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:  # it is there, or nothing can be written: then it would come with each sync
        return False
    newest = (folder / name).stat().st_mtime
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < newest - KEPT_FOR:
                path.unlink()
    return True
