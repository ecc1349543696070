"""Absorbs a clone: its history and files become this clone's, then its ref is deleted.

First a merge commit joins both trees and has the other history as a parent. So state and ledger do
not change, and no object is ever unreachable. Once the remote has that commit, a compare-and-swap
deletes the ref there. A clone that writes meanwhile keeps its ref. One that writes later creates a
new ref, and the join unites both.
"""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.errors import StateMovedError, UsageError
from ghp_agents.core.fields import LARGEST
from ghp_agents.core.ids import Actor, CloneId, Timestamp, digest
from ghp_agents.git import objects
from ghp_agents.state import ledger, presence
from ghp_agents.state.coordination import coordination_remote, why_none
from ghp_agents.state.git import fold, read, settled, trees
from ghp_agents.state.join import Absorption, Tip
from ghp_agents.state.new_commits import NewCommit, add_commits
from ghp_agents.state.private_repo import CLONE_REFS, SEEN_REFS, StateRepository, heal, rename_clone
from ghp_agents.state.record import Record
from ghp_agents.state.remote import PushOutcome, push
from ghp_agents.workspace import Workspace, now_text

Paths = Mapping[str, str]  # object id by path


class _UnabsorbableError(Exception):
    """A clone's files cannot be merged into ours."""


def take_in(
    ws: Workspace,
    repository: StateRepository,
    tips: Sequence[Tip],
    by: Actor,
    held: Sequence[int],
) -> dict[CloneId, str]:
    """Merge what other clones wrote up to `tips`, unless it is here already. Returns the clones
    that cannot be merged, with the reason. Raises GhpError."""
    for _ in range(fold.RIVAL_ATTEMPTS):
        with contextlib.suppress(StateMovedError):
            return _take_in_once(ws, repository, tips, by, held)
    raise StateMovedError


def _take_in_once(
    ws: Workspace,
    repository: StateRepository,
    tips: Sequence[Tip],
    by: Actor,
    held: Sequence[int],
) -> dict[CloneId, str]:
    current = read.tips(repository)
    own = read.own_tip(repository, current)
    head = own.oid if own else None
    wanted = [
        tip
        for tip in tips
        if tip.clone != repository.clone and not _contains(repository, head, tip.oid)
    ]
    clock = max([tip.clock for tip in (*current, *wanted)], default=0)
    refused: dict[CloneId, str] = {}
    for tip in wanted:
        try:
            commit = _merge_commit(ws, repository, head, tip, by, clock + 1)
        except _UnabsorbableError as error:
            refused[tip.clone] = str(error)
            continue
        heal(repository, repository.ref, held)
        now = ws.clock.now()
        head = add_commits(repository, repository.ref, head, [commit], now, keep_open=held)
        clock += 1
    return refused


def _merge_commit(
    ws: Workspace,
    repository: StateRepository,
    head: str | None,
    tip: Tip,
    by: Actor,
    clock: int,
) -> NewCommit:
    """The commit that joins the states at `tip` and at `head`."""
    at = Timestamp(now_text(ws))
    identity = digest("absorb", tip.clone, tip.oid)
    entry = Record("absorb", by, tip.clone, identity, at, clock, ())
    message = ledger.message(entry, clock, repository.clone)
    with repository.objects(largest=LARGEST) as reader:
        ours, theirs = trees.paths_of(reader, [head or tip.oid, tip.oid])
        if ours is None or theirs is None:
            raise _UnabsorbableError(f"more than {trees.MOST} files")
        kept = _joined(reader, ours if head else {}, theirs)
        document = _presence(reader, head, tip.oid)
        stored = settled.read_commits(
            reader, [f"{oid}:{settled.PATH}" for oid in (head or tip.oid, tip.oid)]
        )
    is_said = presence.PATH in ours or presence.PATH in theirs
    written = {presence.PATH: document} if is_said else {}
    if any(stored):
        written[settled.PATH] = settled.encode(sorted({oid for some in stored for oid in some}))
    return NewCommit(message, written, by, ws.clock.now(), (tip.oid,), tuple(sorted(kept.items())))


def _joined(reader: objects.ObjectReader, ours: Paths, theirs: Paths) -> dict[str, str]:
    """The files that we lack; where contents differ, the greater one, as in the join."""
    kept = {path: oid for path, oid in theirs.items() if ours.get(path) != oid}
    for path in (presence.PATH, settled.PATH):
        kept.pop(path, None)
    _check(ours, kept)
    for path in [path for path in kept if path in ours]:
        mine, other = reader.read([ours[path], kept[path]])
        if mine is None or other is None or mine.is_cut or other.is_cut:
            raise _UnabsorbableError(
                f"two clones have different versions of {path!r}, which is too large"
            )
        if mine.content >= other.content:
            del kept[path]
    return kept


def _check(ours: Paths, kept: Paths) -> None:
    """Check that these files can be added to ours. Raises _UnabsorbableError."""
    paths = {*ours, *kept}
    for path in kept:
        try:
            files.below(Path("/"), path)
            path.encode()
        except (UsageError, UnicodeEncodeError):
            raise _UnabsorbableError(f"a file that cannot be written: {path!r}") from None
    folders = {path[:at] for path in paths for at, char in enumerate(path) if char == "/"}
    both = sorted(folders & paths)
    if both:
        raise _UnabsorbableError(f"{both[0]!r} is a file and a folder")


def _presence(reader: objects.ObjectReader, head: str | None, other: str) -> bytes:
    names = [f"{commit}:{presence.PATH}" for commit in (other, head) if commit]
    agents: list[presence.Agents] = []
    others: dict[str, object] = {}
    for document in reader.read(names):
        with contextlib.suppress(ValueError):  # the join ignores it, too
            committed, fields = presence.decode(document.content) if document else ({}, {})
            agents.append(committed)
            others |= fields
    return presence.encode(presence.merge(agents), others)


def _contains(repository: StateRepository, head: str | None, oid: str) -> bool:
    if head is None:
        return False
    return repository.run("merge-base", "--is-ancestor", oid, head).code == 0


def dismiss(
    ws: Workspace,
    repository: StateRepository,
    tips: Sequence[Tip],
    refused: Mapping[CloneId, str],
) -> Absorption:
    """Delete the refs of absorbed clones on the remote, each if it still is at its tip."""
    remote = coordination_remote(ws)
    sent = repository.commit_at(repository.sent_ref)
    absorbed: list[CloneId] = []
    left: list[tuple[CloneId, str]] = []
    for tip in tips:
        if tip.clone == repository.clone:
            continue
        why = refused.get(tip.clone, "")
        if not why and remote is None:
            why = why_none(ws)
        if not why and not _contains(repository, sent, tip.oid):
            why = "its records could not be sent yet"
        if not why and remote:
            ref = CLONE_REFS + tip.clone
            pushed = push(ws, repository, remote, [f":{ref}"], expected={ref: tip.oid})
            moved = pushed.answer is PushOutcome.MOVED
            why = "it was active again" if moved else pushed.words
            if pushed.answer is PushOutcome.DONE:
                repository.run("update-ref", "-d", SEEN_REFS + tip.clone, tip.oid)
                why = ""
        if why:
            left.append((tip.clone, why))
        else:
            absorbed.append(tip.clone)
    return Absorption(tuple(absorbed), tuple(left))


def use_clone_id(
    ws: Workspace, repository: StateRepository, clone: CloneId, held: Sequence[int]
) -> None:
    """Use the id `clone` from now on, with all that both clones wrote."""
    if repository.clone == clone:
        return
    renamed = repository.with_clone(clone)
    own = read.own_tip(repository, read.tips(repository))
    start = repository.commit_at(SEEN_REFS + clone) or (own.oid if own else "")
    heal(renamed, renamed.ref, held)
    if start:  # a ref left by a killed process was never this clone's
        repository.check("update-ref", renamed.ref, start)
    elif renamed.commit_at(renamed.ref):
        repository.check("update-ref", "-d", renamed.ref)
    rename_clone(repository, clone)
    if own and own.oid != start:
        take_in(ws, renamed, [own], Actor("Sweeper", is_person=True), held)
    if own:
        repository.check("update-ref", "-d", repository.ref, own.oid)
