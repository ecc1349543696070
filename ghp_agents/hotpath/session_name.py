"""The name of a session that was given none: its kind, and as much of its id as tells it apart."""

import os
import time

from ghp_agents.hotpath import presence_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SUFFIXES = (4, 8, 16)  # hex digits of a session in its name
GONE = 86_400.0  # seconds without a beat after which a session's name may be another's


def name(folders: "Sequence[str]", kind: str, found: str) -> str:
    """The shortest name that is this session's; where another's presence is under it, a longer
    one, which it keeps as long as that presence is there."""
    names = [f"{kind}-{short(found, size)}" for size in SUFFIXES]
    free = None
    for each in names:
        there = presence_file.newest(folders, each)
        local = there.get("local", {}) if there else {}
        here = local.get("session")
        if here is not None and found in (here, *local.get("left", ())):
            return each
        if free is None and (here is None or _is_gone(folders, each)):
            free = each
    return free or names[-1]


def _is_gone(folders: "Sequence[str]", agent: str) -> bool:
    """Whether no beat came for so long that a session of this name will hardly come back."""
    for folder in folders:
        try:
            if os.stat(folder + "/agents/" + agent + ".json").st_mtime > time.time() - GONE:
                return False
        except OSError:
            continue
    return True


def short(found: str, size: int = 4) -> str:
    """Hex digits that stand for a session in a name: four, or more where those are another's."""
    digits = [char for char in found.lower() if char in "0123456789abcdef"]
    if len(digits) >= max(8, size):
        return "".join(digits[-size:])
    total, modulus = 0, 65_521 if size == 4 else 16**size - 59
    for char in found:
        total = (total * 131 + ord(char)) % modulus
    return f"{total:0{size}x}"
