"""The doctor's first checks: whether we can write, and whether records are folded."""

import os
from collections.abc import Iterator
from pathlib import Path

from ghp_agents.core.clock import ago
from ghp_agents.core.finding import Finding, error, info, ok, warning
from ghp_agents.core.ids import count
from ghp_agents.git import process as git
from ghp_agents.state import presence
from ghp_agents.state.coordination import coordination_remote
from ghp_agents.state.git import live_presence, publish, read
from ghp_agents.state.git.admin.create import has_worktree, shown
from ghp_agents.state.presence import Agents
from ghp_agents.state.private_repo import StateRepository, find_repository
from ghp_agents.workspace import Workspace

LATE_AFTER_S = 600.0  # seconds; older presence means that nobody folds


def check_folder(ws: Workspace) -> Iterator[Finding]:
    """Whether presence, outbox and the private repository are writable."""
    parts = (
        ws.ghp_dir,
        *(ws.ghp_dir / part for part in ("agents", "outbox", "cache", "state.git")),
    )
    existing = [part for part in parts if os.path.lexists(part)]
    bad = [part for part in existing or [ws.common_dir] if not _can_write(part)]
    for part in bad:
        yield _unwritable(ws, part)
    if not existing and not bad:
        yield info("folder", "Nothing was recorded in this clone yet.")
    elif not bad:
        yield ok("folder", f"{shown(ws, ws.ghp_dir)} is writable.")


def _can_write(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.R_OK | os.W_OK | os.X_OK)


def _unwritable(ws: Workspace, part: Path) -> Finding:
    if not part.is_dir():
        what = f"{shown(ws, part)} is in the way: it is not a folder."
        return error("folder", what, f"Move it elsewhere: mv {part} {part}.moved")
    what = f"{shown(ws, part)} is not writable"
    mine = part.stat().st_uid == os.getuid()
    remedy = f"chmod -R u+rwX {part}" if mine else f'sudo chown -R "$(id -un)" {part}'
    spare = next(folder for folder in (ws.spare_dir, *ws.spare_dir.parents) if folder.exists())
    if _can_write(spare):
        kept = f"presence and records are kept in {ws.spare_dir} until a command can commit them."
        return warning(
            "folder", f"{what}; {kept}", f"Run `ghp agent-sync` where it is writable, or: {remedy}"
        )
    remedy = f"{remedy} (or set GHP_STATE_DIR to a writable folder)"
    return error("folder", f"{what}, and neither is {ws.spare_dir}.", remedy)


def check_presence(ws: Workspace) -> Iterator[Finding]:
    """Which heartbeats are not folded yet."""
    repository = find_repository(ws)
    committed = _folded(ws, repository) if repository else {}
    live = live_presence.read_live(ws, committed)
    news = presence.merge([committed, live.changed])
    waiting = [name for name in live.changed if news[name] != committed.get(name)]
    if not waiting:
        folded = f"The presence of {count(len(live.beaten), 'agent')} is committed."
        yield ok(
            "presence",
            folded if live.beaten else ("No agent has sent a heartbeat in this clone yet."),
        )
        return
    age = ws.clock.now() - min(live.beaten[name] for name in waiting)
    agents = count(len(waiting), "agent")
    text = f"The presence of {agents} is not committed yet (the oldest is {ago(age)} old)."
    remedy = "`ghp agent-doctor --fix` or `ghp agent-sync` commits it."
    level = warning if age > LATE_AFTER_S else info
    yield level("presence", text, remedy, fixable=True)


def _folded(ws: Workspace, repository: StateRepository) -> Agents:
    committed = read.GitSnapshot(ws, repository, read.tips(repository), past=True)
    return committed.agents_of(repository.clone)


def check_view(ws: Workspace) -> Iterator[Finding]:
    """Whether the user's git tracks the view, which is a generated file."""
    root = ws.main_worktree
    tracked = [name for name in _trunks(ws) if _has_view(ws, name)][:1]
    if root and has_worktree(root) and publish.is_tracked(root):
        tracked.append("the index of the main worktree")
    if not tracked:
        yield ok("view-tracked", f"{presence.PATH} is not tracked by git.")
        return
    yield warning(
        "view-tracked",
        f"{presence.PATH} is tracked by git ({' and '.join(tracked)}). It is generated, so "
        "each branch would have another version; the view is not written while it is tracked.",
        f"git rm --cached {presence.PATH} && git commit -m 'Untrack generated agent status'",
    )


def _trunks(ws: Workspace) -> list[str]:
    remote = coordination_remote(ws)
    names = [ws.settings.trunk, f"{remote.name}/HEAD" if remote else None, "main", "master"]
    return [name for name in names if name and not name.startswith("-")]


def _has_view(ws: Workspace, commit: str) -> bool:
    args = ["ls-tree", "--full-tree", "--name-only", commit, "--", presence.PATH]
    listed = git.run(args, cwd=ws.common_dir, git_dir=ws.common_dir)
    return listed.code == 0 and bool(listed.text)
