"""A lock as a chain of commits: each holds one value of the lock; its parent the previous one."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import GhpError, UnknownError
from ghp_agents.core.ids import one_line
from ghp_agents.core.schema_version import UPDATE, UnknownSchemaError
from ghp_agents.git import objects
from ghp_agents.locks.lock import Lock, decode, encode
from ghp_agents.state.private_repo import LEASE_REFS, SEEN_LEASE_REFS, StateRepository
from ghp_agents.state.record import Problem

FILE = "lease.json"


class KnownLock(NamedTuple):
    """What this clone knows of a lock without asking the remote."""

    lock: Lock | None  # the newest value
    here: str  # the commit of our own ref; empty if there is none


def known(repository: StateRepository, name: str) -> KnownLock:
    """The newer of our own ref and the last sync's ref. Raises GhpError."""
    own, synced = load(repository, name, [LEASE_REFS + name, SEEN_LEASE_REFS + name])
    return KnownLock(newest([own, synced]), own.revision if own else "")


def revisions(repository: StateRepository, space: str) -> dict[str, str]:
    """The commits of the lock refs below a space, by lock name."""
    return {ref.removeprefix(space): oid for ref, oid in repository.refs(space).items()}


def known_here(repository: StateRepository, name: str) -> Lock | None:
    """The lock as this clone last saw it, else as of the last sync."""
    own, synced = load(repository, name, [LEASE_REFS + name, SEEN_LEASE_REFS + name])
    return own or synced


def newest(locks: Iterable[Lock | None]) -> Lock | None:
    """The last one in a chain: a release comes after its acquisition."""
    existing = [lock for lock in locks if lock]
    return max(existing, key=lambda lock: (lock.generation, lock.holder is None), default=None)


def load(
    repository: StateRepository, name: str, refs: Sequence[str], where: str = "this clone"
) -> list[Lock | None]:
    """The lock `name` at each of its `refs`; None if there is no such ref.

    Raises GhpError if a ref does not hold a valid lock.
    """
    revisions = repository.refs(*refs)
    oids = [revisions.get(ref, "") for ref in refs]
    with repository.objects() as reader:
        objects_read = reader.read([word for oid in oids for word in (oid, f"{oid}:{FILE}")])
    locks: list[Lock | None] = []
    for commit, file in zip(objects_read[::2], objects_read[1::2], strict=True):
        try:
            locks.append(_decoded(name, commit.oid, file) if commit else None)
        except ValueError as error:
            raise _invalid_lock(name, where, error) from None
    return locks


def load_all(
    repository: StateRepository,
    spaces: Sequence[str],
    prefix: str = "",
    before: Mapping[str, Lock] | None = None,
) -> dict[str, Lock]:
    """The newest value of each lock at the refs below `spaces` whose name begins with `prefix`.

    `before` are values by their commits that need not be read again. Unreadable locks are left out;
    reading one of them by name reports it, and so does the doctor.
    """
    locks: dict[str, Lock] = {}
    for name, lock in _each(repository, spaces, prefix, before or {}):
        if isinstance(lock, Lock):
            locks[name] = newest([locks.get(name), lock]) or lock
    return locks


def problems(repository: StateRepository, spaces: Sequence[str]) -> list[Problem]:
    """The unreadable locks at the refs below `spaces`."""
    by_name = dict(_each(repository, spaces, "", {}))
    return [
        Problem(f"lock {name}", str(error), _invalid_lock(name, "this clone", error).hint)
        for name, error in by_name.items()
        if isinstance(error, ValueError)
    ]


def _each(
    repository: StateRepository, spaces: Sequence[str], prefix: str, before: Mapping[str, Lock]
) -> Iterator[tuple[str, Lock | ValueError]]:
    refs = repository.refs(*(space + prefix for space in spaces))
    names = {ref: next(ref[len(x) :] for x in spaces if ref.startswith(x)) for ref in refs}
    old = {ref: lock for ref, oid in refs.items() if (lock := before.get(oid))}
    new = [ref for ref, name in names.items() if ref not in old or old[ref].name != name]
    files: dict[str, objects.Object | None] = {}
    if new:
        with repository.objects() as reader:
            blobs = reader.read([f"{refs[ref]}:{FILE}" for ref in new])
        files = dict(zip(new, blobs, strict=True))
    for ref, name in names.items():
        try:
            yield name, _decoded(name, refs[ref], files[ref]) if ref in files else old[ref]
        except ValueError as error:
            yield name, error


def histories(repository: StateRepository, last: Sequence[Lock]) -> dict[str, list[Lock]]:
    """The values of locks up to these, oldest first, without commits made by hand; by at most one
    process."""
    values: dict[str, list[Lock]] = {lock.name: [] for lock in last}
    at = {lock.name: lock.revision for lock in last}
    with repository.objects() as reader:
        while at:
            words = [word for oid in at.values() for word in (oid, f"{oid}:{FILE}")]
            objects_read = reader.read(words)
            parents: dict[str, str] = {}
            for (name, oid), commit, file in zip(
                at.items(), objects_read[::2], objects_read[1::2], strict=True
            ):
                with contextlib.suppress(ValueError):
                    values[name].insert(0, _decoded(name, oid, file))
                parents[name] = _first_parent(commit.content) if commit else ""
            at = {name: parent for name, parent in parents.items() if parent}
    return values


def _first_parent(commit: bytes) -> str:
    """The first parent in a commit's content; empty for a root."""
    line = commit.split(b"\n", 2)[1:2]
    word, _, oid = line[0].partition(b" ") if line else (b"", b"", b"")
    return oid.decode("ascii", "replace") if word == b"parent" else ""


def history(repository: StateRepository, last: Lock) -> list[Lock]:
    """The values of one lock up to `last`, as `histories`."""
    return histories(repository, [last])[last.name]


def _decoded(name: str, oid: str, file: objects.Object | None) -> Lock:
    if file is None or file.kind != "blob":
        raise ValueError(f"it has no {FILE}")
    lock = decode(file.content, oid)
    if lock.name != name:
        raise ValueError(f"it is a record of the lock {one_line(lock.name, 80)!r}")
    return lock


def _invalid_lock(name: str, where: str, error: ValueError) -> GhpError:
    if isinstance(error, UnknownSchemaError):
        return UnknownError(f"Cannot read the lock {name} on {where}: {error}.", hint=UPDATE)
    return GhpError(
        f"Cannot read the lock {name}: its ref on {where} holds no valid record ({error}).",
        hint=f"Somebody changed {LEASE_REFS}{name} by hand. Reset it to the previous commit, "
        "or delete it; then the holder must acquire it again.",
    )


def append(
    repository: StateRepository,
    lock: Lock,
    before: Lock | None,
    now: float,
    other: Lock | None = None,
) -> Lock:
    """Commit `lock` on top of `before`, and of `other` to join two chains. Moves no ref. Raises
    GitError."""
    from ghp_agents.state.new_commits import NewCommit, write_commits  # readers do not need it
    from ghp_agents.state.without_secrets import clean_text

    lock = lock._replace(reason=clean_text(lock.reason))
    commit = NewCommit(
        message(lock, before),
        {FILE: encode(lock)},
        None,
        now,
        (other.revision,) if other else (),
    )
    created = write_commits(repository, before.revision if before else None, [commit], now)
    return lock._replace(revision=created)


def message(lock: Lock, before: Lock | None) -> str:
    """The commit message, in the ledger's format: who did what to which lock."""
    kind, _, word = lock.name.rpartition("/")
    event = "release" if lock.holder is None else "claim" if kind == "issue" else "acquire"
    holder = lock.holder or (before.holder if before else None) or "nobody"
    who = one_line(holder, 80)
    trailers = [("Event", event), ("Agent", who)]
    trailers += [("Issue", word)] if kind == "issue" else []
    trailers += [("Generation", str(lock.generation)), ("Id", lock.nonce)]
    reason = one_line(lock.reason, 200)
    lines = "".join(f"{key}: {value}\n" for key, value in trailers)
    return f"{event} {who} {lock.name}\n\n" + (f"{reason}\n\n" if reason else "") + lines
