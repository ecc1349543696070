"""After a shell command: what it wrote is looked at, because nobody could know it before.

The agent gets implicit leases of the files that it changed. What another agent holds, and what now
conflicts with another agent's version in another worktree, is told once.
"""

import os

from ghp_agents.hooks import changed_files
from ghp_agents.hooks.event import EDITED, RAN, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ghp_agents.hooks.changed_files import Memory
    from ghp_agents.hooks.scene import HookContext
    from ghp_agents.hooks.written_files import WriteRemark

NOTES = "main-moves"  # beside agents' presence: the commits that `note_commits` saw
NOTES_MOST = 65_536  # bytes
# Words of a line that can move the branch that is checked out, …
VERBS = ("commit", "merge", "cherry-pick", "revert", "am", "rebase")
MOVES = ("push", "update-ref", "branch", "fetch")  # … and any other branch
MAINS = ("main", "master")
LOOK_S = 1.0  # seconds in which git must list the changed files
TOLD = 5  # files that one reply explains
WROTE = "Your command changed files that others hold or have changed:"
EDIT = "Another agent edited the same lines at the same time:"
MAYBE = "While your command ran, files changed that others hold or have changed:"


def look(context: "HookContext", since: str = "") -> Reply | None:
    """Look at what the commands of this step wrote; reply with the new remarks. The first look at
    a worktree is at what changed `since` a time, or since the agent began."""
    try:
        return _look(context, since)
    except OSError as error:
        from ghp_agents.hotpath import error_log

        where = "look at what a command wrote"
        cwd = context.place.toplevel or context.place.git_dir
        error_log.log_error(error, cwd, context.environ, where=where)
        return None


def look_at_edits(context: "HookContext") -> Reply | None:
    """Look at the files that tools of this step edited, for conflicts that nobody could see before:
    another agent was allowed to edit the same lines, and had not written them yet."""
    presence = context.presence()
    if presence is None or not context.place.toplevel:
        return None
    from ghp_agents.hooks.paths import targets

    paths = [path for use in context.event.tool_uses if use.verb == EDITED for path in use.what]
    files = targets(paths, context.event.cwd, context.place, context.environ)
    here = context.place.git_dir
    mine = [file.path for file in files if file.place.git_dir == here]
    remarks = _remarks(context, presence, mine)
    began = str(presence.get("startedAt"))
    where = context.folders, context.agent, context.place.git_dir
    return _told(context, mine, changed_files.recall(*where, began), remarks, EDIT)


def _look(context: "HookContext", since: str) -> Reply | None:
    from time import monotonic

    presence = context.presence()
    if presence is None or not context.place.toplevel:
        return None
    where = context.folders, context.agent, context.place.git_dir
    last = changed_files.recall(*where, since or str(presence.get("startedAt")))
    until = monotonic() + LOOK_S
    changed, memory = changed_files.look(context.place, context.environ, last, context.now, until)
    remarks = _remarks(context, presence, changed) if changed else []
    return _told(context, changed, memory, remarks)


def _remarks(
    context: "HookContext", presence: "Mapping[str, Any]", changed: "Sequence[str]"
) -> "Sequence[WriteRemark]":
    from ghp_agents.hooks import written_files

    book = written_files.policy_of(context)
    if book is None or not book["implicitLeases"]:
        return []
    return written_files.remarks(written_files.WorktreeLook(context, book, presence), changed)


def _told(
    context: "HookContext",
    changed: "Sequence[str]",
    memory: "Memory",
    remarks: "Sequence[WriteRemark]",
    lead: str = "",
) -> Reply | None:
    """The reply with the remarks that are new. If it does not arrive, they are found again."""
    where = context.folders, context.agent, context.place.git_dir
    open_now = {remark.path for remark in remarks}
    for path in changed:
        if path not in open_now:
            memory.notices.pop(path, None)  # it does not conflict any more
    new = [remark for remark in remarks if memory.notices.get(remark.path) != remark.mark]
    signs = {remark.path: memory.signs.get(remark.path, "") for remark in new}
    memory.signs.update(dict.fromkeys(signs, changed_files.AGAIN))
    changed_files.keep(*where, memory)
    if not new or not context.event.hears:
        return None

    def heard() -> None:
        for remark in new:
            memory.notices[remark.path] = remark.mark
        memory.signs.update(signs)
        changed_files.keep(*where, memory)

    return Reply(context=_text(new, lead), on_sent=heard)


def _text(remarks: "Sequence[WriteRemark]", lead: str) -> str:
    lines = [lead or (WROTE if all(remark.is_certain for remark in remarks) else MAYBE)]
    lines += dict.fromkeys(remark.why for remark in remarks[:TOLD])
    if len(remarks) > TOLD:
        from ghp_agents.hotpath.quoting import file

        lines.append(f"Also: {', '.join(file(remark.path) for remark in remarks[TOLD : TOLD * 4])}")
    hints = dict.fromkeys(remark.hint for remark in remarks[:TOLD] if remark.hint)
    return "\n".join([*lines, *(f"Next: {hint}" for hint in hints)])


def note_commits(context: "HookContext", since: str) -> None:
    """Note the commits that the step created on the branch of this worktree, `since` a time, and
    those of this worktree to which it moved main, around git's guard. Nothing in git says who did
    it: agents commit in their person's name."""
    lines = [line for use in context.event.tool_uses if use.verb == RAN for line in use.what]
    words = {word for line in lines if "git" in line for word in line[:16_384].split()}
    if words.isdisjoint((*VERBS, *MOVES)):
        return
    from ghp_agents.hotpath import own_file, own_name
    from ghp_agents.hotpath.locate import branch

    name, presence = branch(context.place.git_dir), context.presence() or {}
    is_outside = own_name.left_worktree(context.place, context.agent, context.here, presence)
    if not (is_outside or "generation" in presence):
        return
    from pathlib import Path

    from ghp_agents.core.clock import to_seconds
    from ghp_agents.git import ref_log

    try:
        began = int(to_seconds(since))
    except ValueError:
        return
    logs = Path(context.place.common_dir, "logs/refs")
    moves = ref_log.read(logs / "heads" / name) if name else []
    new = [(name, x.new) for x in moves if x.at >= began and (x.creates or x.merges)]
    if not words.isdisjoint(MOVES):
        own = ref_log.read(Path(context.place.git_dir, "logs/HEAD"))
        mine = {move.new for move in own if move.creates}
        for main in MAINS:
            for log in (logs / "heads" / main, *logs.glob(f"remotes/*/{main}")):
                moved = [move for move in ref_log.read(log) if move.at >= began]
                new += [(main, x.new) for x in moved if x.new in mine and not x.arrives]
    path = f"{context.folders[0]}/{NOTES}"
    if new and not (os.path.lexists(path) and os.lstat(path).st_size > NOTES_MOST):
        text = "".join(f"{main} {context.agent} {commit}\n" for main, commit in new)
        own_file.append(path, text.encode("utf-8", "surrogateescape"))
