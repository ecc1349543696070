"""A port and a name of its own for each worktree, so that services and databases do not collide.

They are stored in the worktree's git folder: they stay while the worktree exists, and go with it.
"""

import json
import os
import re
from pathlib import Path

from ghp_agents.core.files import random_hex
from ghp_agents.core.ids import digest
from ghp_agents.hotpath import fastjson
from ghp_agents.hotpath.locate import walk_up
from ghp_agents.workspace import SLOT_FILE

NAMES = ("GHP_PORT", "GHP_SLOT")
FIRST, STEP, COUNT = 20_000, 10, 1_000  # below the ports that systems give to clients
WORD_LIMIT = 24  # characters of each part of a name; databases allow 63 bytes
_UNFIT = re.compile(r"[^a-z0-9]+")


def variables(path: Path) -> dict[str, str]:
    """`GHP_PORT` and `GHP_SLOT` of the linked worktree at `path`; empty for the main one. The nine
    ports after it are no other worktree's of the clone."""
    place = walk_up(str(path))
    if place is None or place.toplevel is None or place.git_dir == place.common_dir:
        return {}
    file = Path(place.git_dir, SLOT_FILE)
    try:
        return _read(file) or _create(file, Path(place.common_dir), Path(place.toplevel))
    except OSError:  # such as a sandbox in which git's folder is read-only
        return {}


def _read(file: Path) -> dict[str, str]:
    match fastjson.read_object(str(file)):
        case {"port": int(port), "slot": str(slot)}:
            return dict(zip(NAMES, (str(port), slot), strict=True))
    return {}


def _create(file: Path, common_dir: Path, top: Path) -> dict[str, str]:
    used = {_read(other).get(NAMES[0]) for other in common_dir.glob(f"worktrees/*/{SLOT_FILE}")}
    begin = int(digest(str(top), length=8), 16)
    ports = (FIRST + (begin + number) % COUNT * STEP for number in range(COUNT))
    port = next((x for x in ports if str(x) not in used and _is_free(x)), FIRST)
    slot = "_".join(("w", *map(_word, (top.parent.name, top.name)), digest(str(top), length=4)))
    fresh = file.with_name(f"{SLOT_FILE}.{random_hex(4)}")
    fresh.write_text(json.dumps({"port": port, "slot": slot}))
    try:
        os.link(fresh, file)  # of two at once, the first one counts
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
    return _read(file)


def _word(name: str) -> str:
    return _UNFIT.sub("_", name.lower()).strip("_")[:WORD_LIMIT]


def _is_free(port: int) -> bool:
    import socket

    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
    except PermissionError:  # no network here, so nobody can tell
        return True
    except OSError:
        return False
    return True
