"""Writes that could not be sent yet: stored durably in the clone and sent later, in order."""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError, RefusedError, UnknownError
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.core.json_file import JsonFile
from ghp_agents.github.api.errors import MissingError, TokenError
from ghp_agents.ports import Clock

REFUSED = "refused"  # the folder of refused jobs
RETRY_AFTER_S = 3_600.0  # seconds until a job without permission is tried again


class Job(NamedTuple):
    """One write to send later. The performer defines `kind` and `data`.

    A second job with the same `id` is ignored. Jobs with the same `about` depend on each other: if
    one is refused for good, those behind it are not sent.
    """

    id: str  # unique: the id marker that the write leaves on GitHub, if it leaves one
    kind: str  # the action: "comment", "labels", …
    about: str  # the target: "12" for issue 12, or the id of an issue to be created
    says: str  # for people: "a comment on #12"
    data: Mapping[str, Any] = {}  # plain JSON values


class Refused(NamedTuple):
    """A job that GitHub refused, and why. `again`: the token may get the permission later."""

    job: Job
    why: str
    token: str = ""  # the fingerprint of the token that was refused
    at: float = 0.0
    again: bool = False


class BrokenJobError(GhpError):
    """A job whose content is invalid, so nobody can perform it. Nothing depends on it."""


class Outbox:
    """A folder with one file per job; the file name starts with its number in the order.

    A job's file stays until the job is done. After a crash it is sent again; that is harmless,
    because the performer first looks for the result.
    """

    def __init__(self, folder: Path, clock: Clock, token: str) -> None:
        self.folder, self._clock, self._token = folder, clock, token

    def add(self, job: Job) -> None:
        """Store a job durably behind the others. Raises OSError if that fails."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with files.locked_if_possible(self.folder / "number.lock"):
            waiting = self._files()
            if any(path.name.partition("-")[2] == _name(job) for path in waiting):
                return
            taken = [*waiting, *self._files(REFUSED)]
            number = 1 + max((_number(path) for path in taken), default=0)
            content = json.dumps(job._asdict()).encode()
            files.write_durably(self.folder / f"{number:012d}-{_name(job)}", content)

    def remove(self, identity: str) -> None:
        """Forget a waiting job: it is done."""
        for path in self._files():
            if path.name.partition("-")[2] == _name_of(identity):
                path.unlink(missing_ok=True)

    def waiting(self) -> list[Job]:
        """The waiting jobs in order, without unreadable ones."""
        return [job for path in self._files() if (job := _job(path))]

    def count(self) -> int:
        """How many wait."""
        return len(self._files())

    def refused(self) -> list[Refused]:
        """The refused jobs in order; unreadable files are listed as such."""
        return [_refused(path) for path in self._files(REFUSED)]

    def flush(self, perform: Callable[[Job], object]) -> list[str]:
        """Send waiting jobs until GitHub does not answer; return what was sent, for people."""
        if not self._files() and not self._files(REFUSED):
            return []
        try:
            with files.locked_if_possible(self.folder / "flush.lock", patience=0.0):
                self._requeue_allowed()
                return list(self._send(perform))
        except LockTimeoutError:
            return []  # another process is sending

    def _send(self, perform: Callable[[Job], object]) -> Iterator[str]:
        # A refused job may be retried. Later jobs about the same target wait, to keep the order.
        stuck = {refused.job.about: refused for refused in self.refused() if refused.again}
        for path in self._files():
            job = _job(path)
            if job is None:
                self._set_aside(path, Refused(_unreadable(path), "it cannot be read"))
                continue
            blocker = stuck.get(job.about)
            if blocker:
                why = f"it comes after {blocker.job.says}, which GitHub rejected"
                self._set_aside(path, blocker._replace(job=job, why=why))
                continue
            try:
                perform(job)
            except (UnknownError, TokenError):
                return  # stop; the rest is sent later, or with another token
            except BrokenJobError as error:
                self._set_aside(path, Refused(job, str(error)))
                continue
            except GhpError as error:
                stuck[job.about] = self._refuse(path, job, error)
                continue
            path.unlink(missing_ok=True)
            yield job.says

    def _refuse(self, path: Path, job: Job, error: GhpError) -> Refused:
        again = isinstance(error, RefusedError | MissingError)
        refused = Refused(job, str(error), self._token, self._clock.now(), again)
        self._set_aside(path, refused)
        return refused

    def _set_aside(self, path: Path, refused: Refused) -> None:
        target = self.folder / REFUSED
        target.mkdir(parents=True, exist_ok=True)
        data = {**refused._asdict(), "job": refused.job._asdict()}
        files.write_durably(target / path.name, json.dumps(data).encode())
        path.unlink(missing_ok=True)

    def _requeue_allowed(self) -> None:
        """Queue refused jobs again if the token changed, or if it may have the permission by
        now."""
        now = self._clock.now()
        for path in self._files(REFUSED):
            refused = _refused(path)
            due = refused.token != self._token or not 0 <= now - refused.at < RETRY_AFTER_S
            if refused.again and due:
                content = json.dumps(refused.job._asdict()).encode()
                files.write_durably(self.folder / path.name, content)
                path.unlink(missing_ok=True)

    def _files(self, inside: str = "") -> list[Path]:
        with contextlib.suppress(OSError):
            return sorted((self.folder / inside).glob("[0-9]*.json"))
        return []


def _name(job: Job) -> str:
    return _name_of(job.id)


def _name_of(identity: str) -> str:
    """A file name for an id, which may be anything."""
    from ghp_agents.core.ids import digest

    return f"{digest(identity, length=24)}.json"


def _number(path: Path) -> int:
    return int(path.name.partition("-")[0])


def _job(path: Path) -> Job | None:
    return JsonFile[Job | None](path, _from_json, lambda: None).read()


def _from_json(data: Any) -> Job:
    name, kind, about, says = (str(data[key]) for key in ("id", "kind", "about", "says"))
    return Job(name, kind, about, says, dict(data["data"]))


def _refused(path: Path) -> Refused:
    def decode(data: Any) -> Refused:
        job, why = _from_json(data["job"]), str(data["why"])
        return Refused(job, why, str(data["token"]), float(data["at"]), data["again"] is True)

    return JsonFile(path, decode, lambda: Refused(_unreadable(path), "it cannot be read")).read()


def _unreadable(path: Path) -> Job:
    return Job(path.name, "", path.name, f"the file {path.name}")
