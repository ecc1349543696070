"""The outbox: durable records that wait for a commit.

It is used when the private repository cannot be written: a sandbox with a read-only `.git`, a lock
that stays held, a failing git. The next fold commits the records from the clone's folder and from
the spare one.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import files
from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.state import record as records
from ghp_agents.state.join import Problem
from ghp_agents.state.record import Record
from ghp_agents.workspace import Workspace

SUFFIX = ".record"


class Waiting(NamedTuple):
    """The content of the outboxes."""

    records: tuple[tuple[Path, Record], ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the waiting files, which identify their content."""
        return tuple(path.name for path, _ in self.records)


def folders(ws: Workspace) -> list[Path]:
    """Folders for waiting records, best first."""
    return [Path(folder) / "outbox" for folder in ws.folders]


def put(ws: Workspace, some: Sequence[Record], cause: Exception) -> None:
    """Store records durably, all or none. Raises GhpError if no folder can be written."""
    contents = {_name(number, record): records.encode(record) for number, record in enumerate(some)}
    for folder in folders(ws):
        kept: list[Path] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in contents.items():
                kept.append(folder / name)
                files.write_durably(folder / name, content)
        except OSError as error:
            cause = error
            _unlink(kept)
            continue
        return
    raise GhpError(
        f"Nothing was recorded: {cause}.",
        hint="Make room or give write access to the repository's .git/ghp, or set GHP_STATE_DIR "
        "to a folder that can be written; then run the command again.",
    )


def _name(number: int, record: Record) -> str:
    """Sorts by clock. It is derived from the content, so a repeated record is stored once."""
    from hashlib import sha256

    digest = sha256(records.encode(record)).hexdigest()[:20]
    return f"{record.clock:020d}-{number:04d}-{digest}{SUFFIX}"


def waiting(ws: Workspace) -> Waiting:
    """The waiting records, in the order of their clocks. Torn and foreign files are problems."""
    found: dict[str, tuple[Path, Record]] = {}
    problems: list[Problem] = []
    for folder in folders(ws):
        try:
            paths = sorted(path for path in folder.iterdir() if path.suffix == SUFFIX)
        except OSError:
            continue
        for path in paths:
            try:
                found.setdefault(path.name, (path, _read(path)))
            except FileNotFoundError:
                continue  # another process folded it just now
            except (OSError, ValueError, UsageError) as error:
                problems.append(Problem(str(path), str(error)))
    return Waiting(tuple(found[name] for name in sorted(found)), tuple(problems))


def _read(path: Path) -> Record:
    """A record that can be committed; a bad one would block all that follow."""
    record = records.decode(path.read_bytes())
    if to_seconds(record.at) < 0:
        raise ValueError("said before 1970, which git cannot date")
    for name, _ in record.files:
        files.below(path.parent, name)
        name.encode()
    return record


def remove(some: Waiting) -> None:
    """Remove folded records; those in a read-only folder stay for later."""
    _unlink([path for path, _ in some.records])


def _unlink(paths: Sequence[Path]) -> None:
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError:
            continue
