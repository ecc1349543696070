"""Which repository has the issues: a record that clones with a token write, and all others read."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ghp_agents.core import declared
from ghp_agents.core.fields import Line, dump, parse
from ghp_agents.state.codec import At, Clock, Clone

MIRROR = ".ghp/mirror/"
_TRACKER = "tracker.json"
# A record is by others, and agents read it.
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,253}(?::[0-9]{1,5})?")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}/[A-Za-z0-9._-]{1,100}")


class Tracker(NamedTuple):
    """Which repository on GitHub has the issues, and how new what was published is."""

    host: Line
    repository: Line  # "owner/name"
    at: At  # when it was published
    cursor: Line  # the latest change on GitHub that the publisher had read
    clock: Clock
    clone: Clone

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
    return f"{MIRROR}{tracker.clone}/{_TRACKER}", dump(declared.plain(tracker))


def decoded(fields: Mapping[str, Any]) -> Tracker:
    """The record in fields of a file. Raises ValueError."""
    tracker = declared.decoded(Tracker, fields)
    if not (_HOST.fullmatch(tracker.host) and _REPOSITORY.fullmatch(tracker.repository)):
        raise ValueError("it names no repository")
    return tracker
