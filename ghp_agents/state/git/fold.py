"""Folding: commits presence and waiting records to this clone's ref."""

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import StateMovedError
from ghp_agents.core.ids import one_line
from ghp_agents.git import objects
from ghp_agents.hotpath import own_file, policy_cache, policy_stamp
from ghp_agents.state import ledger, presence
from ghp_agents.state.git import clone_folders, live_presence, outbox, read
from ghp_agents.state.join import Tip
from ghp_agents.state.new_commits import NewCommit, write_commits
from ghp_agents.state.presence import Agents, Presence
from ghp_agents.state.private_repo import StateRepository, heal
from ghp_agents.state.record import Record
from ghp_agents.workspace import Workspace

LOCK = "state.lock"
FOLD_LOCK = "fold.lock"  # who holds it folds for all who wait for it; taken before `state.lock`
RIVAL_ATTEMPTS = 200  # only needed where locks are impossible
TEMPORARY = (
    "agents",
    outbox.QUEUE,
    "outbox",
    "cache",
    "touched",
    "overridden",
)  # folders in which temporary files are created
LEFT_BEHIND = 60.0  # seconds; writing takes milliseconds, so older files are abandoned


Locked = Callable[[], AbstractContextManager[list[int]]]  # holds `state.lock`; yields as it does


def state_lock(ws: Workspace) -> AbstractContextManager[list[int]]:
    """Hold the clone's lock. Yields the descriptors that a git child must inherit, so that the
    lock lasts as long as the last writer. Without a lock file, the comparison of the ref decides
    alone."""
    return files.locked_if_possible(ws.ghp_dir / LOCK)


def fold(ws: Workspace, repository: StateRepository, locked: Locked) -> int:
    """Commit live presence, queue and outbox; returns the number of commits. Idempotent.

    The objects are written before the clone's lock is taken, so that others can queue meanwhile.
    """
    with files.locked_if_possible(ws.ghp_dir / FOLD_LOCK):
        return _fold(ws, repository, locked)


def flush(ws: Workspace, repository: StateRepository, queued: Path, locked: Locked) -> None:
    """Wait until `queued` is committed: by the process that folds now, or else by this one. Raises
    GhpError, OSError."""
    with files.locked_if_possible(ws.ghp_dir / FOLD_LOCK):
        if queued.exists():
            _fold(ws, repository, locked)
    if queued.exists():
        raise OSError(f"{queued.name} cannot be read")


def _fold(ws: Workspace, repository: StateRepository, locked: Locked) -> int:
    for _ in range(RIVAL_ATTEMPTS):
        with contextlib.suppress(StateMovedError):
            return _fold_once(ws, repository, locked)
    raise StateMovedError


def _fold_once(
    ws: Workspace,
    repository: StateRepository,
    locked: Locked,
    records: Sequence[Record] = (),
    expected: str | None = None,
) -> int:
    repository.notice_rivals()
    tips = read.tips(repository)
    waiting = outbox.waiting(ws)
    own = read.own_tip(repository, tips)
    if expected is not None and read.revision(own, waiting) != expected:
        raise StateMovedError
    commits, signatures = _plan(ws, repository, tips, waiting, records)
    head = own.oid if own else None
    last = write_commits(repository, head, commits, ws.clock.now()) if commits else ""
    with locked() as held:
        if commits:
            _move(ws, repository, head, last, commits, held)
        outbox.remove(waiting)
    live_presence.remember(ws, signatures)
    return len(commits)


def compare(ws: Workspace, repository: StateRepository, expected: str) -> None:
    """Raises StateMovedError unless the clone still is at `expected`."""
    repository.notice_rivals()
    waiting = outbox.waiting(ws)
    if read.revision(read.own_tip(repository, read.tips(repository)), waiting) != expected:
        raise StateMovedError


def commit(
    ws: Workspace,
    repository: StateRepository,
    records: Sequence[Record],
    expected: str,
    held: Sequence[int],
) -> None:
    """Commit `records`, and what waits in the outbox, if the clone still is at `expected`. For
    where nothing can be locked: the comparison of the ref decides alone.

    Raises StateMovedError if it is not.
    """
    _fold_once(ws, repository, lambda: contextlib.nullcontext([*held]), records, expected)


def _move(
    ws: Workspace,
    repository: StateRepository,
    head: str | None,
    last: str,
    commits: Sequence[NewCommit],
    held: Sequence[int],
) -> None:
    """Move the clone's ref to the new commits. Raises StateMovedError, GitError."""
    heal(repository, repository.ref, held)
    if not held:
        _remove_old(repository.path / f"{repository.ref}.lock", ws.clock.now() - LEFT_BEHIND)
    if not repository.point(repository.ref, last, head, held):
        raise StateMovedError
    # Presence, questions and handoffs change no rule, so the compiled policy stays valid. Under the
    # lock nobody else moves the ref, so no other commit is in between.
    paths = (path for commit in commits for path in commit.files)
    if held and head and not any(path.startswith(policy_stamp.RULED) for path in paths):
        policy_cache.restamp(ws.home_folder, repository.ref, head, last)


def _plan(
    ws: Workspace,
    repository: StateRepository,
    tips: Sequence[Tip],
    waiting: outbox.Waiting,
    records: Sequence[Record],
) -> tuple[list[NewCommit], live_presence.Folded]:
    own = read.own_tip(repository, tips)
    queued = [record for _, record in waiting.records]
    # A committed record's clock is not above the tip's. So most records are certainly new, and with
    # them the others of their file: the records of one file are committed by one move of the ref.
    new = {path for path, record in waiting.records if not own or record.clock > own.clock}
    doubtful = [record for path, record in waiting.records if path not in new]
    existing = _contents(repository, own, doubtful)
    agents, others = _decode(ws, existing.get(presence.PATH))
    live = live_presence.read_live(ws, agents)
    clock = max([tip.clock for tip in tips], default=0)
    commits: list[NewCommit] = []
    # A fold may have been killed after its commit, before it emptied the outbox.
    known_ids = _ids_in_ledger(repository, own, [x for x in doubtful if not x.files])
    committed = [x for x in doubtful if x.id in known_ids or _is_committed(x, existing)]
    missing = [record for record in queued if record not in committed]
    for record in [*missing, *records]:
        clock = max(clock + 1, record.clock)
        message = ledger.message(record, clock, repository.clone)
        said_at = to_seconds(record.at)
        commits.append(NewCommit(message, dict(record.files), record.actor, said_at))
    changed = _changed(agents, live.changed)
    if changed:
        now = ws.clock.now()
        commits.append(_presence_commit(agents, changed, others, clock + 1, repository, now))
    return commits, live.signatures


def _contents(
    repository: StateRepository, own: Tip | None, queued: Sequence[Record]
) -> dict[str, objects.Object | None]:
    """This clone's committed files at the paths of presence and queued records."""
    paths = [presence.PATH, *(path for record in queued for path, _ in record.files)]
    if own is None:
        return {}
    with repository.objects() as reader:
        blobs = reader.read([f"{own.oid}:{path}" for path in paths])
    return dict(zip(paths, blobs, strict=True))


def _is_committed(record: Record, existing: Mapping[str, objects.Object | None]) -> bool:
    blobs = [(existing.get(path), content) for path, content in record.files]
    equal = [blob is not None and blob.content == content for blob, content in blobs]
    return bool(equal) and all(equal)


def _ids_in_ledger(
    repository: StateRepository, own: Tip | None, records: Sequence[Record]
) -> set[str]:
    """The ids of those records that the ledger has, though they left no file in the tree."""
    trailers = {f"Id: {one_line(record.id, 200)}": record.id for record in records}
    if own is None or not trailers:
        return set()
    args = ["--fixed-strings", "--no-show-signature", "--format=%B"]
    args += [f"--grep={trailer}" for trailer in trailers]
    lines = repository.check("log", "--encoding=UTF-8", *args, own.oid).text.splitlines()
    return {trailers[line] for line in lines if line in trailers}


def _changed(before: Agents, live: Agents) -> dict[str, Presence]:
    merged = presence.merge([before, live])
    return {name: merged[name] for name in live if merged[name] != before.get(name)}


def _presence_commit(
    before: Agents,
    changed: Agents,
    others: Mapping[str, object],
    clock: int,
    repository: StateRepository,
    now: float,
) -> NewCommit:
    moves = [
        presence.movement(name, before.get(name), current)
        for name, current in sorted(changed.items())
    ]
    message = ledger.presence_message(
        [move for move in moves if move], len(changed), clock, repository.clone
    )
    content = presence.encode(presence.merge([before, changed]), others)
    return NewCommit(message, {presence.PATH: content}, None, now)


def _decode(ws: Workspace, document: objects.Object | None) -> tuple[Agents, Mapping[str, object]]:
    if document is None:
        return {}, {}
    try:
        return presence.decode(document.content)
    except ValueError:
        # Only a manual edit can cause this. Keep a copy; the original stays in the history.
        kept = ws.cache_dir / f"unreadable-{document.oid[:12]}.json"
        with contextlib.suppress(OSError):
            files.write_atomically(kept, document.content)
        return {}, {}


def sweep_temporary(ws: Workspace, repository: StateRepository) -> None:
    """Remove files of killed writers once they are too old to be in use."""
    places = [Path(folder, name) for folder in ws.folders for name in TEMPORARY]
    left = [path for place in places for path in place.glob("*.tmp")]
    objects = repository.path / "objects"
    # A pack kept by a killed fetch would stay forever.
    left += [
        *objects.glob("*.tmp"),
        *objects.glob("tmp_*"),
        *objects.glob("pack/tmp_*"),
        *objects.glob("pack/*.keep"),
    ]
    left += map(Path, own_file.left_behind(ws.environ))
    with contextlib.suppress(OSError):
        clone_folders.note(ws)
        left += clone_folders.deserted(ws)
    for path in left:
        _remove_old(path, ws.clock.now() - LEFT_BEHIND)


def _remove_old(path: Path, before: float) -> None:
    try:
        status = path.lstat()
        if status.st_mtime >= before or status.st_uid != os.getuid():
            return
        if path.is_dir():
            from shutil import rmtree

            rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        return


def set_due(ws: Workspace, when: float) -> None:
    """Set when the background is needed next; heartbeats check the timestamp of this file."""
    stamp(ws.cache_dir / "due", when)


def stamp(path: Path, when: float) -> None:
    """Store a time as the timestamp of a cache file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        own_file.touch(str(path))
        os.utime(path, (when, when))
    except OSError:
        return


def stamped(path: Path) -> float:
    """The stored time; 0 if there is none."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
