"""Stale bases: agents whose work no longer merges with the main branch, and the news that they get.

A sync in the background looks, once for each tip of the main branch. All others only read a file.
"""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ghp_agents.core.ids import count, listed
from ghp_agents.core.json_file import JsonFile
from ghp_agents.git import worktree
from ghp_agents.hotpath.quoting import file
from ghp_agents.workspace import Workspace

if TYPE_CHECKING:
    from ghp_agents.conflicts.path_conflict import PathConflict
    from ghp_agents.conflicts.report import TrunkConflict

FILE = "stale.json"  # in the folder of caches
SHOWN = 5  # files
KEY = "stale/"
COMMAND = "`ghp agent-update`"


class StaleBase(NamedTuple):
    """Work that git cannot merge into the main branch."""

    folder: str  # the worktree; empty: only the branch is here
    tip: str  # of the main branch
    files: tuple[str, ...]
    key: str  # the same as long as the main branch's versions of these files are
    words: str  # each file, with the lines


Bases = Mapping[str, StaleBase]  # by agent


def of_conflicts(conflicts: "Sequence[TrunkConflict]", tip: str) -> dict[str, StaleBase]:
    """The stale bases by agent. In `conflicts`, the main branch is ours."""
    return {
        agent: StaleBase(
            on_trunk.work.folder, tip, tuple(conflict.path for conflict in on_trunk.files),
            _key(on_trunk.files), _words(on_trunk.files),
        )
        for on_trunk in conflicts
        for agent in on_trunk.work.agents
    }  # fmt: skip


def _key(files: "Sequence[PathConflict]") -> str:
    """The key of a conflict: its agent hears of it once, whatever else changes on main."""
    parts = [
        f"{conflict.path}\0{stage.oid if (stage := conflict.stage(2)) else ''}"
        for conflict in files
    ]
    text = "\0".join(sorted(parts)).encode("utf-8", "surrogateescape")
    return KEY + blake2b(text, digest_size=12).hexdigest()


def _words(files: "Sequence[PathConflict]") -> str:
    from ghp_agents.conflicts.path_conflict import describe

    shown = [
        f"{file(conflict.path)} ({describe(conflict.turned, 'your work', 'main')})"
        for conflict in files[:SHOWN]
    ]
    more = len(files) - SHOWN
    return ", ".join(shown) + (f" and {count(more, 'more file')}" if more > 0 else "")


def keep(ws: Workspace, bases: Bases) -> None:
    """Replace what is known."""
    _file(ws).write(bases)


def known(ws: Workspace, agent: str) -> StaleBase | None:
    """The stale base of an agent, unless it has been brought up to the main branch since."""
    base = _file(ws).read().get(agent)
    if base is None or not Path(base.folder or "/nonexistent").is_dir():
        return None
    folder = Path(base.folder)
    head = worktree.head(folder)
    return None if head and worktree.contains(folder, head, base.tip) else base


def sentence(base: StaleBase) -> str:
    """A stale base in one line."""
    files = listed([file(path) for path in base.files], SHOWN)
    return f"No longer merges with main in {files}: {COMMAND} shows both sides."


def _file(ws: Workspace) -> JsonFile[Bases]:
    return JsonFile(ws.cache_dir / FILE, _decode, dict)


def _decode(data: Any) -> dict[str, StaleBase]:
    return {
        str(agent): StaleBase(
            str(folder), str(tip), tuple(str(path) for path in files), str(key), str(words)
        )
        for agent, (folder, tip, files, key, words) in data.items()
    }
