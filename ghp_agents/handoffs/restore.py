"""Restore: put a handoff's uncommitted work into a worktree."""

import hashlib
import secrets
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TypedDict

from ghp_agents.core.errors import GhpError, NotSetUpError, RefusedError
from ghp_agents.core.fields import dump
from ghp_agents.core.file_names import as_code, plain
from ghp_agents.core.ids import Actor, Timestamp, count, digest, issue_of_branch, listed
from ghp_agents.escalations.messages import who
from ghp_agents.git import apply_patch, patch_text, worktree
from ghp_agents.handoffs import missing_commits, record
from ghp_agents.handoffs.handoff import Handoff, Work
from ghp_agents.handoffs.resume import APPLY
from ghp_agents.handoffs.tool_files import configures_tools
from ghp_agents.hotpath.quoting import named
from ghp_agents.ports import Context, Snapshot, StateStore
from ghp_agents.state.default_branch import remote_name
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, now_text
from ghp_agents.worktrees import provisioned_files

LISTED = 10


@dataclass(frozen=True, slots=True)
class Restored:
    """Work that was restored. Files with conflicts have both versions."""

    handoff: Handoff
    work: Work
    three_way: bool  # the worktree is on another commit than the work's base
    conflicts: tuple[str, ...] = ()
    other_issue: int | None = None  # the branch here is for that one


class NotRestoredError(GhpError):
    """The work cannot be restored here now; nothing was changed."""


class AlreadyRestoredError(NotRestoredError):
    """The work is in the worktree already."""


def restore(ctx: Context, handoff: Handoff | None, *, allow_config: bool = False) -> Restored:
    """Put the work of `handoff` into this worktree, which must be clean.

    On the work's base commit the patch is applied; on another commit it is merged. Files that
    configure tools need `allow_config`. Raises NotRestoredError, RefusedError for an unsafe patch,
    NotSetUpError without a worktree; then nothing has changed.
    """
    actor = ctx.ws.actor()
    if ctx.ws.place.toplevel is None:
        raise NotSetUpError(
            "This folder has no worktree to restore into.", hint="Change to a worktree."
        )
    folder = Path(ctx.ws.place.toplevel)
    _bring_commits(ctx, folder, handoff)
    handoff, work, content = _load_patch(ctx.store, handoff)
    if apply_patch.is_applied(folder, content):
        raise AlreadyRestoredError(
            f"The work of {handoff.name} is already applied here.", hint="You need to do nothing."
        )
    if not allow_config:
        _refuse_config(handoff, content)
    _refuse_dirty(ctx.ws, folder)
    _refuse_unknown_base(ctx.ws, folder, handoff, work)
    three_way = worktree.head(folder) != work.base
    try:
        conflicts = apply_patch.apply(folder, content, three_way=three_way)
    except apply_patch.PatchFailedError as error:
        raise _misfit_error(handoff, work, error, three_way) from None
    here = issue_of_branch(ctx.ws.branch or "")
    other = None if handoff.issue in (None, here) else here
    restored = Restored(handoff, work, three_way, tuple(conflicts), other)
    _record_restore(ctx, actor, restored)
    return restored


def _bring_commits(ctx: Context, folder: Path, handoff: Handoff | None) -> None:
    """Refuse while the branch here lacks commits of a handoff: the work without them would pass for
    all of it. Stored commits are added to this clone, and their branch is created."""
    if handoff is None:
        return
    lacks = not worktree.has_commit(folder, handoff.head)
    is_new = lacks and bool(missing_commits.storing(ctx.store, handoff))
    if is_new:
        _unpack(ctx, handoff)
    missing = missing_commits.of(ctx.ws, ctx.store, handoff)
    if missing is None or not missing.total:
        return
    _refuse_dirty(ctx.ws, folder)
    what = (
        f"The commits of {handoff.name} were not in this clone; now they are."
        if is_new
        else f"Not on the branch here: {missing.text}."
    )
    apply = " --apply" if handoff.work and handoff.work.size else ""
    raise NotRestoredError(
        what,
        hint=f"Run `{missing.command}`, then `ghp agent-resume --handoff {handoff.name}{apply}`.",
    )


def _unpack(ctx: Context, handoff: Handoff) -> None:
    from ghp_agents.handoffs import commits

    why = commits.unpack(ctx.ws, ctx.store, handoff)
    if why:
        raise NotRestoredError(
            f"The commits of {handoff.name} cannot be used: {why}.",
            hint="Run `git fetch`, and retry. If that does not help, ask "
            f"{named(*handoff.by)} to push the branch.",
        )
    commits.create_branch(ctx.ws, handoff)


def _load_patch(store: StateStore, handoff: Handoff | None) -> tuple[Handoff, Work, bytes]:
    """Return the stored patch of a handoff."""
    if handoff is None:
        raise NotRestoredError(
            "There is no handoff to restore from.",
            hint="Name the issue with --issue, or fetch the handoff with `ghp agent-sync`.",
        )
    work = handoff.work
    if work is None or not work.size:
        raise NotRestoredError(
            f"{handoff.name} has no uncommitted work stored"
            + (
                ": none of it could be stored." if work else "; none was found when it was written."
            ),
            hint="`ghp agent-resume` lists earlier handoffs; `--handoff ID` chooses one.",
        )
    files = store.snapshot().files(record.patch_folder_of(handoff))
    content = files.get(record.patch_path_of(handoff))
    if content is None:
        raise NotRestoredError(
            f"This clone does not have the patch of {handoff.name}.",
            hint="Fetch it with `ghp agent-sync`. If that does not help, ask "
            f"{named(*handoff.by)} to hand over again.",
        )
    if hashlib.sha256(content).hexdigest() != work.digest:
        raise NotRestoredError(
            f"The patch of {handoff.name} does not match its checksum.",
            hint="Somebody changed the record. Choose an earlier one with `--handoff ID`.",
        )
    return handoff, work, content


def _refuse_config(handoff: Handoff, content: bytes) -> None:
    """Refuse files that configure tools: others can write a handoff, and tools obey such files."""
    pieces = patch_text.read_patch(content)
    paths = {path for piece in pieces for path in (piece.old, piece.new)}
    configs = sorted(path for path in paths if configures_tools(path))
    if not configs:
        return
    raise RefusedError(
        f"The work of {handoff.name}, by {who(handoff.by)}, changes files that configure tools: "
        f"{listed([*map(as_code, configs)], LISTED)}.",
        hint="Nothing was changed. If you trust its author: "
        f"`ghp agent-resume --handoff {handoff.name} --apply --allow-config`. Then read these "
        "files before you start a tool.",
    )


def _refuse_dirty(ws: Workspace, folder: Path) -> None:
    operation = worktree.operation(ws.git_dir)
    changes = provisioned_files.differences(ws, folder)
    if not changes and not operation:
        return
    what = f"in the middle of {operation}"
    if changes:
        names = listed([as_code(item.path) for item in changes], LISTED)
        what = f"{count(len(changes), 'uncommitted path')}: {names}"
    raise NotRestoredError(
        f"This worktree is not clean ({what}).",
        hint="Commit the changes, or restore into a new worktree: `git worktree add ../NAME`.",
    )


def _refuse_unknown_base(ws: Workspace, folder: Path, handoff: Handoff, work: Work) -> None:
    if not work.base or worktree.has_commit(folder, work.base):
        return
    wanted = handoff.branch or work.base
    command = f"git fetch {quote(remote_name(ws))} {quote(wanted)}"
    on = f", on branch {handoff.branch}" if handoff.branch else ""
    raise NotRestoredError(
        f"This clone does not have commit {work.base[:12]}{on}, on which the work is based.",
        hint=f"Run `{command}`. If that fails, {named(*handoff.by)} must push it first.",
    )


def _misfit_error(
    handoff: Handoff, work: Work, error: apply_patch.PatchFailedError, three_way: bool
) -> NotRestoredError:
    if not (three_way and work.base):
        return NotRestoredError(
            f"The work of {handoff.name} does not apply to this worktree: {error}.",
            hint="Nothing was changed. Move the files that are in the way, such as ignored ones, "
            "and retry.",
        )
    command = f"git worktree add --detach ../restored {work.base[:12]}"
    branch = f"branch {handoff.branch}, " if handoff.branch else ""
    return NotRestoredError(
        f"The work of {handoff.name} does not apply to this commit: {error}.",
        hint=f"Nothing was changed. It applies to {branch}commit {work.base[:12]}. Switch to it, "
        f"or run `{command}`. Then run `ghp agent-resume --handoff {handoff.name} --apply`.",
    )


class RestoredFile(TypedDict):
    """That somebody restored the work of a handoff."""

    handoff: str
    by: str
    person: bool
    at: str
    threeWay: bool
    conflicts: list[str]


def _record_restore(ctx: Context, actor: Actor, restored: Restored) -> None:
    """Record it for others, so the same work is not restored twice."""
    handoff, at = restored.handoff, Timestamp(now_text(ctx.ws))
    identity = digest(handoff.id, actor.name, at, secrets.token_hex(8))
    fields: RestoredFile = {
        "handoff": handoff.name,
        "by": actor.name,
        "person": actor.is_person,
        "at": at,
        "threeWay": restored.three_way,
        "conflicts": [plain(path) for path in restored.conflicts],
    }
    conflicts = len(restored.conflicts)
    text = f"with {count(conflicts, 'conflict')}" if conflicts else ""
    files = ((record.applied_path_of(handoff, identity), dump(fields)),)

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        entry = Record(
            APPLY, actor, handoff.name, identity, at, snapshot.clock + 1, files, handoff.issue,
            text=text,
        )  # fmt: skip
        return None, [entry]

    transact(ctx.store, decide)
