"""This clone's sync status: notes of the last exchange, and what is not sent."""

from typing import Any, NamedTuple

from ghp_agents.core.json_file import object_file
from ghp_agents.state.coordination import Remote, coordination_remote
from ghp_agents.state.git import outbox
from ghp_agents.state.join import SyncStatus
from ghp_agents.state.ledger import PRESENCE_SUBJECT
from ghp_agents.state.private_repo import StateRepository, find_repository
from ghp_agents.workspace import Workspace

NOTE = "sync.json"  # the last fetch, the last push, and the last problem


class SyncMemory(NamedTuple):
    """What a clone notes of its exchanges with the remote; times in seconds."""

    remote: str | None = None
    fetched_at: float | None = None
    pushed_at: float | None = None
    tried_at: float | None = None
    refused_at: float | None = None
    heard_boot: str | None = None  # boot and time of the last fetch, by `Clock.interval`
    heard_at: float | None = None
    trouble: str | None = None
    permanent: bool = False
    took: float | None = None  # seconds of the last fetch


_TIMES = ("fetched_at", "pushed_at", "tried_at", "refused_at", "heard_at", "took")
_KINDS: dict[str, Any] = {
    "remote": str,
    "trouble": str,
    "heard_boot": str,
    "permanent": bool,
    **dict.fromkeys(_TIMES, (int, float)),
}


def read_note(ws: Workspace, remote: Remote | None) -> SyncMemory:
    """The note of the last exchange with `remote`; empty for another remote."""
    value = object_file(ws.cache_dir / NOTE).read()
    fields = {key: value[key] for key, kind in _KINDS.items() if isinstance(value.get(key), kind)}
    note = SyncMemory(**fields)
    return note if remote and note.remote == remote.name else SyncMemory()


def news_at(ws: Workspace) -> float | None:
    """When the remote was last fetched; None: never, or there is no remote."""
    remote = coordination_remote(ws)
    return _heard_at(ws, read_note(ws, remote)) if remote else None


def asked_at(ws: Workspace) -> float | None:
    """When the remote was last asked, also in vain; None: never, or there is no remote."""
    remote = coordination_remote(ws)
    return read_note(ws, remote).tried_at if remote else None


def news_age(ws: Workspace) -> float | None:
    """Seconds since the last fetch; None: never, not since the machine started, or no remote."""
    remote = coordination_remote(ws)
    note = read_note(ws, remote) if remote else SyncMemory()
    boot, seconds = ws.clock.interval()
    if note.heard_at is None or note.heard_boot != boot:
        return None
    return max(0.0, seconds - note.heard_at)


def _heard_at(ws: Workspace, note: SyncMemory) -> float | None:
    """The future is impossible: then our clock was set back."""
    return note.fetched_at and min(note.fetched_at, ws.clock.now())


def read_status(ws: Workspace) -> SyncStatus:
    """This clone's status; contacts nobody."""
    repository = find_repository(ws)
    waiting = len(outbox.waiting(ws).records)
    refused = len(outbox.refused(ws).records)
    remote = coordination_remote(ws)
    if remote is None:
        return SyncStatus(waiting=waiting, refused=refused)
    note = read_note(ws, remote)
    unsent = _unsent(repository) if repository else []
    return SyncStatus(
        remote=remote.name,
        news_at=_heard_at(ws, note),
        sent_at=note.pushed_at,
        unsent=len(unsent),
        unsent_since=min((at for at, _ in unsent), default=None),
        records=sum(1 for _, is_record in unsent if is_record),
        waiting=waiting,
        trouble=note.trouble,
        permanent=note.permanent,
        refused=refused,
    )


def count_unsent(repository: StateRepository) -> int:
    """How many of this clone's commits the remote lacks."""
    return len(_unsent(repository))


def _unsent(repository: StateRepository) -> list[tuple[float, bool]]:
    """The times of this clone's commits that the remote lacks, and whether each is a record."""
    span = repository.unsent_span()
    if span:
        near = repository.commits_between(span[0], span[1][1:] if len(span) > 1 else None)
        if near is not None:
            return [_of_commit(content) for content in near]
    shown = repository.run("log", "--format=%ct %s", *span, "--") if span else None
    lines = shown.text.splitlines() if shown and shown.code == 0 else []
    pairs = [line.partition(" ")[::2] for line in lines]
    return [(float(at), not subject.startswith(PRESENCE_SUBJECT)) for at, subject in pairs]


def _of_commit(content: bytes) -> tuple[float, bool]:
    """The same of the content of a commit."""
    header, _, message = content.partition(b"\n\n")
    at = header.partition(b"\ncommitter ")[2].partition(b"\n")[0].split()[-2]
    return float(at), not message.decode("utf-8", "replace").startswith(PRESENCE_SUBJECT)
