"""Records that the remote refused: kept in this clone, and sent only if somebody says so.

They leave the clone's ref, so the rest can be sent. Commands in this clone still read them.
"""

from collections.abc import Collection, Sequence
from hashlib import sha256
from pathlib import Path

from ghp_agents.core import files, moment
from ghp_agents.core.ids import digest, one_line
from ghp_agents.core.json_file import object_file, texts_file
from ghp_agents.hotpath import own_file, policy_cache
from ghp_agents.state import record as records
from ghp_agents.state import refusal
from ghp_agents.state.git import outbox
from ghp_agents.state.join import SetAside
from ghp_agents.state.record import Record
from ghp_agents.state.remote import Pushed
from ghp_agents.workspace import Workspace

ACTIONS = "actions.json"  # digests of texts that are no longer published
MOST_ACTIONS = 200
SHOWN = 8  # digits of an id


@moment.ends
def put(ws: Workspace, record: Record, pushed: Pushed) -> SetAside:
    """Keep a record durably, with what the remote says. Raises OSError."""
    folder = _folder(ws)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / outbox.name_of(record)
    note = {"words": pushed.words, "pages": refusal.pages(pushed.lines), "at": ws.clock.now()}
    object_file(path.with_suffix(".json")).write(note)
    files.write_durably(path, records.encode(record))
    own_file.sync(str(folder))
    return _of(path, record)


def all_of(ws: Workspace) -> list[SetAside]:
    """What was set aside and can be read, oldest first."""
    return [_of(path, record) for path, record in outbox.refused(ws).records]


def _of(path: Path, record: Record) -> SetAside:
    note = object_file(path.with_suffix(".json")).read()
    names = [name for name, _ in record.files]  # its clock changes when it is sent again
    pages = note.get("pages")
    at = note.get("at")
    return SetAside(
        id=f"R-{digest(record.event, record.id, *names, length=SHOWN)}",
        record=record,
        words=one_line(str(note.get("words") or ""), refusal.LONGEST),
        pages=tuple(map(str, pages)) if isinstance(pages, list) else (),
        at=float(at) if isinstance(at, int | float) else 0.0,
    )


@moment.ends
def retry(ws: Workspace, ids: Collection[str]) -> list[SetAside]:
    """Let the next sync send records again: all, if `ids` is empty. Raises OSError."""
    matching = _matching(ws, ids)
    into = outbox.folders(ws)[0]
    into.mkdir(parents=True, exist_ok=True)
    for path, _ in matching:
        path.rename(into / path.name)  # so it is always in one of the two
    return _ended(ws, matching)


@moment.ends
def drop(ws: Workspace, ids: Collection[str]) -> list[SetAside]:
    """Delete records: all, if `ids` is empty. Raises OSError."""
    matching = _matching(ws, ids)
    for path, _ in matching:
        path.unlink(missing_ok=True)
    return _ended(ws, matching)


def _ended(ws: Workspace, matching: Sequence[tuple[Path, SetAside]]) -> list[SetAside]:
    for path, _ in matching:
        path.with_suffix(".json").unlink(missing_ok=True)
    policy_cache.drop(ws.home_folder)  # they may have been leases
    return [aside for _, aside in matching]


def _matching(ws: Workspace, ids: Collection[str]) -> list[tuple[Path, SetAside]]:
    refused = [(path, _of(path, record)) for path, record in outbox.refused(ws).records]
    return [pair for pair in refused if not ids or pair[1].id in ids]


def refuse_actions(ws: Workspace, actions: Collection[str]) -> None:
    """Never publish these texts in a presence again."""
    file = texts_file(_folder(ws) / ACTIONS)
    digests = [*file.read(), *map(_digest, actions)]
    _folder(ws).mkdir(parents=True, exist_ok=True)
    file.write(list(dict.fromkeys(digests))[-MOST_ACTIONS:])


def is_refused(ws: Workspace, action: str) -> bool:
    """Whether the remote refused a presence because of this text."""
    return _digest(action) in texts_file(_folder(ws) / ACTIONS).read()


def _digest(action: str) -> str:
    return sha256(action.encode("utf-8", "surrogatepass")).hexdigest()


def _folder(ws: Workspace) -> Path:
    return Path(ws.folders[0]) / outbox.REFUSED
