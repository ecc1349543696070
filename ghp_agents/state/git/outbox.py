"""The outbox: durable records that wait for a commit.

The outbox proper is used when the private repository cannot be written: a sandbox with a read-only
`.git`, a lock that stays held, a failing disk. The next fold commits the records from the clone's
folder and from the spare one.

The queue is for every other commit: its records wait there until some process has folded them,
which is a matter of milliseconds. What is in the queue is not acknowledged yet.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import files, moment
from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.light_hashes import sha256
from ghp_agents.hotpath import own_file, policy_stamp
from ghp_agents.state import record as records
from ghp_agents.state.record import Problem, Record, problem_of
from ghp_agents.workspace import Workspace

SUFFIX = ".record"
BATCH = ".records"  # all records of one commit, in one file
QUEUE = policy_stamp.QUEUE
REFUSED = "refused"  # records that the remote refuses; they stay in this clone


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


@moment.ends
def put(ws: Workspace, some: Sequence[Record], cause: Exception) -> None:
    """Store records durably, all or none. Raises GhpError if no folder can be written."""
    contents = {
        name_of(record, number): records.encode(record) for number, record in enumerate(some)
    }
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
        hint="Free disk space, make .git/ghp writable, or set GHP_STATE_DIR to a writable "
        "folder; then run the command again.",
    )


@moment.ends
def enqueue(ws: Workspace, some: Sequence[Record]) -> Path:
    """Queue the records of one commit durably, all or none. Raises UsageError, OSError."""
    folder = Path(ws.folders[0]) / QUEUE
    for name, _ in [file for record in some for file in record.files]:
        files.below(folder, name)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name_of(some[0]).removesuffix(SUFFIX)}{BATCH}"
    parts = [records.encode(record) for record in some]
    content = b"".join(b"%d\n%s" % (len(part), part) for part in parts)
    own_file.replace(str(path), content, mode=own_file.LIKE_GIT, durable=True)
    return path


@moment.ends
def keep(ws: Workspace, queued: Path, some: Sequence[Record], cause: Exception) -> None:
    """Move queued records that could not be folded to the outbox, where they count as recorded.
    Raises GhpError if no folder can be written."""
    folder = folders(ws)[0]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        queued.rename(folder / queued.name)
        own_file.sync(str(folder))
    except FileNotFoundError:
        return  # another process has folded it meanwhile
    except OSError:
        put(ws, some, cause)


def name_of(record: Record, number: int = 0) -> str:
    """The file of a record. It sorts by clock. It is derived from the content, so a repeated record
    is stored once."""
    digest = sha256(records.encode(record)).hexdigest()[:20]
    return f"{record.clock:020d}-{number:04d}-{digest}{SUFFIX}"


def waiting(ws: Workspace) -> Waiting:
    """The queued and waiting records, in the order of their clocks. Torn and foreign files are
    problems."""
    # The queue first: what cannot be folded moves from there to the outbox.
    return _read_folders(Path(ws.folders[0]) / QUEUE, *folders(ws))


def refused(ws: Workspace) -> Waiting:
    """The records that the remote refused, as `waiting`."""
    return _read_folders(Path(ws.folders[0]) / REFUSED)


def _read_folders(*some: Path) -> Waiting:
    by_name: dict[tuple[str, int], tuple[Path, Record]] = {}
    problems: list[Problem] = []
    for folder in some:
        try:
            paths = sorted([path for path in folder.iterdir() if path.suffix in (SUFFIX, BATCH)])
        except OSError:
            continue
        for path in paths:
            try:
                for number, record in enumerate(_read(path)):
                    by_name.setdefault((path.name, number), (path, record))
            except FileNotFoundError:
                continue  # another process folded it just now
            except (OSError, ValueError, UsageError) as error:
                problems.append(problem_of(str(path), error))
    return Waiting(tuple([by_name[name] for name in sorted(by_name)]), tuple(problems))


def _read(path: Path) -> list[Record]:
    """Records that can be committed; a bad one would block all that follow."""
    data = path.read_bytes()
    decoded = [records.decode(data)] if path.suffix == SUFFIX else _decode_batch(data)
    for record in decoded:
        if to_seconds(record.at) < 0:
            raise ValueError("its time is before 1970, which git cannot store")
        for name, _ in record.files:
            files.below(path.parent, name)
            name.encode()
    return decoded


def _decode_batch(data: bytes) -> list[Record]:
    decoded: list[Record] = []
    while data:
        size, _, data = data.partition(b"\n")
        decoded.append(records.decode(data[: int(size)]))
        data = data[int(size) :]
    return decoded


def remove(some: Waiting) -> None:
    """Remove folded records; those in a read-only folder stay for later."""
    if some.records:
        _unlink([path for path, _ in some.records])


@moment.ends
def _unlink(paths: Sequence[Path]) -> None:
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError:
            continue
