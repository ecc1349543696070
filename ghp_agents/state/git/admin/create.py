"""What set-up creates for a state in git, and what it announces: what is pushed where."""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.git import clone_files, main_worktree
from ghp_agents.git import process as git
from ghp_agents.git.refs import UnreadableRefsError
from ghp_agents.ports import StateStore
from ghp_agents.state import presence
from ghp_agents.state.admin_port import PublishPlan, Step
from ghp_agents.state.coordination import coordination_remote, why_none
from ghp_agents.state.git import publish
from ghp_agents.state.git.admin import probe
from ghp_agents.state.private_repo import find_repository, open_repository, state_path
from ghp_agents.workspace import Workspace


def sharing(ws: Workspace) -> PublishPlan:
    """What leaves this machine. Raises GhpError if the configured remote does not exist."""
    remote = coordination_remote(ws)
    if remote is None:
        kept = why_none(ws)
        return PublishPlan(None, why_not=kept)
    return PublishPlan(
        remote=remote.name,
        address=probe.address(ws, remote),
        refs=(
            (f"{remote.namespace}clone/*", "the records of this clone, on its own ref"),
            (f"{remote.namespace}lease/*", "the locks and their holders"),
            (publish.BRANCH, "pages for people, only with `ghp agent-sync --publish`"),
        ),
    )


def missing(ws: Workspace, store: StateStore) -> list[Step]:
    """What must still be created."""
    steps: list[Step] = []
    if find_repository(ws) is None:
        what = f"the private repository {shown(ws, state_path(ws))}"
        steps.append(Step("create", "Created", what, partial(_make, ws)))
    steps += _main_worktree(ws)
    if _view_is_missing(ws):
        exclude = f"{shown(ws, ws.common_dir)}/info/exclude"
        what = f"the view {presence.PATH}, kept out of git by {exclude}"
        steps.append(Step("write", "Wrote", what, partial(_write_view, ws, store)))
    return steps


def _main_worktree(ws: Workspace) -> list[Step]:
    """The step that records where the main worktree is, if only itself tells."""
    main = ws.main_worktree
    if main is None or not (main / ".git").exists():  # the latter: `GIT_WORK_TREE` names it
        return []
    if main_worktree.find_from_inside(ws.common_dir) == main:
        return []
    path = ws.common_dir / main_worktree.RECORD
    what = f"{shown(ws, path)}, which names the main worktree"
    act = partial(files.write_atomically, path, os.fsencode(main) + b"\n")
    return [Step("write", "Wrote", what, act)]


def shown(ws: Workspace, path: Path) -> str:
    """A path for people: relative to the main worktree if possible."""
    root = ws.main_worktree
    inside = root is not None and path.is_relative_to(root)
    return str(path.relative_to(root)) if root and inside else str(path)


def has_worktree(root: Path | None) -> bool:
    """Whether the folder of `.git` is a worktree; it may only contain a bare repository."""
    if root is None or not root.is_dir():
        return False
    with suppress(UnreadableRefsError):
        return not clone_files.is_bare(root / ".git")
    return git.run(["rev-parse", "--is-inside-work-tree"], cwd=root).text == "true"


def _view_is_missing(ws: Workspace) -> bool:
    root = ws.main_worktree
    if not ws.settings.view or root is None or not has_worktree(root):
        return False
    is_complete = (root / presence.PATH).exists() and publish.is_excluded(ws)
    return not is_complete and not publish.is_tracked(root)


def _make(ws: Workspace) -> None:
    try:
        open_repository(ws)
    except OSError as error:
        raise _unwritable(ws, error) from None


def _write_view(ws: Workspace, store: StateStore) -> None:
    if not publish.write_view(ws, store.snapshot()):
        raise GhpError(
            f"Cannot write the view {presence.PATH} in {ws.main_worktree}.",
            hint='Give write access, or put "agents": {"view": false} into .ghp/config.json.',
        )


def _unwritable(ws: Workspace, error: OSError) -> GhpError:
    return GhpError(
        f"{ws.ghp_dir} is not writable: {error.strerror or error}.",
        hint="Give write access to it, or run this outside the sandbox. Until then presence "
        f"and records are kept in {ws.spare_dir}.",
    )
