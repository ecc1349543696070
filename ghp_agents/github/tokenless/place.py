"""Which repository has the issues: a record that clones with a token write, and all others read."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, TypedDict

from ghp_agents.core.fields import as_line, as_whole, dump, parse, picked
from ghp_agents.core.ids import CloneId, Timestamp

MIRROR = ".ghp/mirror/"
_TRACKER = "tracker.json"
# A record is by others, and agents read it.
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,253}(?::[0-9]{1,5})?")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}/[A-Za-z0-9._-]{1,100}")


class TrackerFile(TypedDict):
    """Which repository on GitHub has the issues, and how new what was published is."""

    host: str
    repository: str
    at: str
    cursor: str
    clock: int
    clone: str


class Tracker(NamedTuple):
    """Where the issues are, and how new what was published is."""

    host: str
    repository: str  # "owner/name"
    at: Timestamp  # when it was published
    cursor: str  # the latest change on GitHub that the publisher had read
    clock: int
    clone: CloneId

    @property
    def place(self) -> str:
        """The repository with its host."""
        return f"{self.host}/{self.repository}"


def read_tracker(files: Mapping[str, bytes]) -> Tracker | None:
    """The newest record of where the issues are."""
    trackers: list[Tracker] = []
    for path, data in files.items():
        if path.endswith(f"/{_TRACKER}"):
            try:
                trackers.append(decoded(parse(data)))
            except ValueError:
                continue  # `read_published` names it
    return max(trackers, key=lambda tracker: (tracker.clock, tracker.clone), default=None)


def tracker_file(tracker: Tracker) -> tuple[str, bytes]:
    """The file that says where the issues are."""
    names = "host repository at cursor clock clone"
    return f"{MIRROR}{tracker.clone}/{_TRACKER}", dump(picked(tracker, names))


def decoded(fields: Mapping[str, Any]) -> Tracker:
    """The record in fields of a file. Raises ValueError."""
    host, repository, at, cursor, clone = (
        as_line(fields.get(name), name) for name in ("host", "repository", "at", "cursor", "clone")
    )
    if not (_HOST.fullmatch(host) and _REPOSITORY.fullmatch(repository)):
        raise ValueError("it names no repository")
    clock = as_whole(fields.get("clock"), "clock")
    return Tracker(host, repository, Timestamp(at), cursor, clock, CloneId(clone))
