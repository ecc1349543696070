"""Git's logs of refs: where a branch or a HEAD moved, when, and by which command.

The format is in git's documentation of `gitrepository-layout`. Only the newest part of a log is
read. With reftables there are no such files, and nothing is found.
"""

import os
from pathlib import Path
from typing import NamedTuple

MOST = 65_536  # bytes of a log; an entry has about 150
# How entries begin whose new commit was created there, and did not come from elsewhere.
_CREATED = ("commit", "cherry-pick", "revert", "am:", "rebase")
_CREATING_MERGE = "Merge made by"
_ARRIVED = ("pull", "fetch")


class RefMove(NamedTuple):
    """One entry of a log."""

    old: str
    new: str
    by: str  # the committer's name
    at: int  # seconds
    why: str  # the command, and the subject of the commit or the like

    @property
    def creates(self) -> bool:
        """Whether the command created the commit that the ref moved to."""
        is_step = self.why.startswith(("rebase (start)", "rebase (finish)", "rebase finished"))
        return (self.why.startswith(_CREATED) and not is_step) or _CREATING_MERGE in self.why

    @property
    def merges(self) -> bool:
        """Whether another branch of this clone was merged, be it by a fast-forward."""
        return self.why.startswith("merge ") and not self.arrives

    @property
    def arrives(self) -> bool:
        """Whether the commit came from a remote."""
        return self.why.startswith(_ARRIVED) or "origin/" in self.why or "FETCH_HEAD" in self.why

    @property
    def subject(self) -> str:
        """What the entry says about the commit."""
        return self.why.partition(": ")[2]


def read(path: Path) -> list[RefMove]:
    """The newest entries of a log, oldest first; none if there is no log."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - MOST))
            lines = file.read(MOST).split(b"\n")
    except OSError:
        return []
    if size > MOST:
        del lines[0]  # it may be cut
    return [move for move in map(_move, lines) if move]


def _move(line: bytes) -> RefMove | None:
    head, _, why = line.decode("utf-8", "replace").partition("\t")
    ids, _, times = head.rpartition("> ")
    old, _, rest = ids.partition(" ")
    new, _, who = rest.partition(" ")
    at = times.partition(" ")[0]
    is_whole = len(old) in (40, 64) and len(new) == len(old) and at.isascii() and at.isdigit()
    return RefMove(old, new, who.rpartition(" <")[0], int(at[:12]), why) if is_whole else None
