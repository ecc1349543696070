"""Removes what is ours: on this machine and, only if requested, on the remote."""

import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError, UnknownError
from ghp_agents.core.ids import Timestamp, count
from ghp_agents.core.remote_url import masked
from ghp_agents.git import process as git
from ghp_agents.hotpath import heartbeat
from ghp_agents.state import ledger, presence
from ghp_agents.state.admin_port import RemoteRef, Step
from ghp_agents.state.coordination import BRANCHES, CUSTOM, Remote, coordination_remote
from ghp_agents.state.git import fold, outbox, publish, sync
from ghp_agents.state.git.admin import probe
from ghp_agents.state.git.admin.create import has_worktree, shown
from ghp_agents.state.private_repo import (
    SEEN_REFS,
    StateRepository,
    find_repository,
    open_repository,
)
from ghp_agents.state.refusal import first_error
from ghp_agents.state.remote import PushOutcome, exchange, fetch, push
from ghp_agents.workspace import HOMES, NAME_FILE, PROVISIONS_FILE, SLOT_FILE, Workspace

KINDS = ("clone/", "lease/", probe.KIND)  # other `ghp/…` refs may be a user's branches
TIMEOUT_S = 2.0  # seconds; if a lock is held longer, the command reports the holder
GRAVE = "ghp.removed-"  # left by a killed removal; the next one deletes it

# Our files in the git folders of worktrees.
_IN_GIT_FOLDERS = {
    NAME_FILE: "the name of a worktree's agent",
    PROVISIONS_FILE: "what was put into a worktree",
    SLOT_FILE: "the port of a worktree",
}


def belongings(ws: Workspace) -> list[Step]:
    """All that is ours on this machine; `.ghp/config.json` belongs to the user and stays."""
    steps: list[Step] = []
    if ws.ghp_dir.is_dir():
        what = f"{shown(ws, ws.ghp_dir)}: presence, outbox, the private repository, caches"
        steps.append(_removal(what, partial(_remove_clone_folder, ws)))
    home = Path(ws.home_folder)
    if home.is_dir():
        what = f"{home}: this clone's cached settings, policy and check results"
        steps.append(_removal(what, partial(_remove_spare, home)))
    for grave in sorted(ws.common_dir.glob(f"{GRAVE}*")):
        what = f"{shown(ws, grave)}: left by an earlier removal"
        steps.append(_removal(what, partial(shutil.rmtree, grave)))
    for name, about in _IN_GIT_FOLDERS.items():
        for file in _in_git_folders(ws, name):
            steps.append(_removal(f"{shown(ws, file)}: {about}", file.unlink))
    for spare in _spare_folders(ws):
        what = f"{spare}: presence and records kept there while .git was not writable"
        steps.append(_removal(what, partial(_remove_spare, spare)))
    for homes in _spare_folders(ws, HOMES):
        what = f"{homes}: the homes of agents in containers"
        steps.append(_removal(what, partial(_remove_spare, homes)))
    if _view_is_there(ws) or publish.is_excluded(ws):
        what = f"the view {presence.PATH} and its line in {shown(ws, ws.common_dir)}/info/exclude"
        steps.append(_removal(what, partial(publish.remove_view, ws)))
    return steps


def losses(ws: Workspace) -> list[str]:
    """What exists only here: records that were never sent, in words."""
    lost: list[str] = []
    waiting = len(outbox.waiting(ws).records)
    repository = find_repository(ws)
    unsent = _unsent_events(repository) if repository else Counter[str]()
    if unsent:
        kinds = ", ".join(f"{number} {event}" for event, number in sorted(unsent.items()))
        lost.append(f"{count(unsent.total(), 'record')} in the private repository ({kinds})")
    if waiting:
        lost.append(f"{count(waiting, 'record')} in the outbox")
    return lost


def _removal(what: str, act: Callable[[], object]) -> Step:
    return Step("remove", "Removed", what, act)


def _remove_clone_folder(ws: Workspace) -> None:
    """Remove the folder in one step under all locks, so that nobody writes into half of it."""
    grave = ws.common_dir / f"{GRAVE}{secrets.token_hex(4)}"
    with ExitStack() as stack:
        for lock in (sync.LOCK, fold.FOLD_LOCK, fold.LOCK):
            stack.enter_context(files.locked(ws.ghp_dir / lock, patience=TIMEOUT_S))
        ws.ghp_dir.replace(grave)
    shutil.rmtree(grave)


def _remove_spare(folder: Path) -> None:
    shutil.rmtree(folder)
    if not any(folder.parent.iterdir()):
        folder.parent.rmdir()


def _in_git_folders(ws: Workspace, name: str) -> list[Path]:
    worktrees = sorted(ws.common_dir.glob(f"worktrees/*/{name}"))
    return [path for path in (ws.common_dir / name, *worktrees) if path.is_file()]


def _spare_folders(ws: Workspace, suffix: str = "") -> list[Path]:
    """The spare folders for each environment that may have been set when they were used, or those
    beside them with a suffix."""
    without = {key: value for key, value in ws.environ.items() if key != "GHP_STATE_DIR"}
    plain = {key: value for key, value in without.items() if key != "XDG_STATE_HOME"}
    some = [
        heartbeat.spare_folder(ws.place.common_dir, environ) + suffix
        for environ in (ws.environ, without, plain)
    ]
    return [Path(folder) for folder in dict.fromkeys(some) if Path(folder).is_dir()]


def _view_is_there(ws: Workspace) -> bool:
    root = ws.main_worktree
    if root is None or not has_worktree(root):
        return False
    return (root / presence.PATH).exists() and not publish.is_tracked(root)


def _unsent_events(repository: StateRepository) -> Counter[str]:
    """Events that the remote lacks, by kind; presence is temporary and no loss."""
    span = repository.unsent_span()
    if not span:
        return Counter()
    log = repository.check("log", "--no-show-signature", "--format=%B%x1e", *span).text
    counts = Counter[str]()
    for message in log.split("\x1e"):
        entries = ledger.entries("", Timestamp(""), message)
        counts.update(entry.event for entry in entries if entry.event != ledger.PRESENCE)
    return counts


def remote_refs(ws: Workspace) -> list[RemoteRef]:
    """Our refs on the remote, with their owners and last writes.

    Raises UnknownError if the remote cannot be reached.
    """
    remote = coordination_remote(ws)
    if remote is None:
        return []
    repository = open_repository(ws)
    listed = _list(ws, repository, remote)
    trouble = fetch(ws, repository, remote) if listed else None
    if trouble:
        raise _unreachable(remote, trouble)
    dates = _dates(repository)
    refs = [_describe(repository, name, oid, dates) for name, oid in listed]
    if publish.BRANCH in dict(listed):
        head = publish.fetch_published(ws, repository, remote)
        if not head or not publish.is_ours(repository, head):
            refs = [ref for ref in refs if ref.name != publish.BRANCH]
    return refs


def remove_remote_refs(ws: Workspace, refs: Sequence[RemoteRef]) -> None:
    """Delete `refs` on the remote, all or none, if they still are as listed."""
    remote = coordination_remote(ws)
    if remote is None or not refs:
        return
    names = {ref.name.removeprefix("refs/"): ref.oid for ref in refs}
    deletions = [f":{name}" for name in names]
    target = probe.absolute(remote)
    pushed = push(ws, open_repository(ws), target, deletions, expected=names)
    if pushed.answer is PushOutcome.MOVED:
        raise GhpError(
            f"Another clone wrote to {remote.name} meanwhile; nothing was removed there.",
            hint="Stop the agents of the other clones, then run the command again.",
        )
    if pushed.answer is PushOutcome.REFUSED:
        raise GhpError(
            f"{remote.name} refuses to delete refs: {masked(pushed.words)}.",
            hint="Ask somebody with permission, or delete them on the host's website.",
        )
    if pushed.answer is PushOutcome.UNKNOWN:
        raise _unreachable(remote, pushed.words)


def _list(ws: Workspace, repository: StateRepository, remote: Remote) -> list[tuple[str, str]]:
    patterns = [f"{CUSTOM}*", *(f"{BRANCHES}{kind}*" for kind in KINDS), publish.BRANCH]
    try:
        listed = exchange(ws, repository, remote, ["ls-remote", remote.name, *patterns])
    except git.GitTimeoutError as error:
        raise _unreachable(remote, str(error)) from None
    if listed.code != 0:
        raise _unreachable(remote, first_error(listed))
    pairs = (line.split("\t", 1) for line in listed.text.splitlines())
    starts = (CUSTOM, *(f"{BRANCHES}{kind}" for kind in KINDS), publish.BRANCH)
    # A pattern of ls-remote also matches the end of a longer name.
    return [(name, oid) for oid, name in pairs if name.startswith(starts)]


def _dates(repository: StateRepository) -> dict[str, float]:
    form = "--format=%(refname) %(committerdate:unix)"
    lines = repository.check("for-each-ref", form, SEEN_REFS).text.splitlines()
    pairs = (line.removeprefix(SEEN_REFS).split(" ") for line in lines)
    return {clone: float(date) for clone, date in pairs if date}


def _describe(
    repository: StateRepository, name: str, oid: str, dates: dict[str, float]
) -> RemoteRef:
    if name == publish.BRANCH:
        return RemoteRef(name, oid, "the published page")
    kind, _, rest = name.removeprefix(BRANCHES).removeprefix(CUSTOM).partition("/")
    if kind == "clone":
        foreign = rest != repository.clone
        whose = "another clone" if foreign else "this clone"
        return RemoteRef(name, oid, whose, dates.get(rest), foreign)
    return RemoteRef(name, oid, {"lease": "a lock", "probe": "a probe"}.get(kind, "ours"))


def _unreachable(remote: Remote, words: str) -> UnknownError:
    return UnknownError(
        f"{remote.name} cannot be reached: {masked(words.removesuffix('.'))}.",
        hint="Check the network and try again. Without --remote-refs only this machine is changed.",
    )
