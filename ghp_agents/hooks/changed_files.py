"""Which files of a worktree changed since an agent's last look, found without running filters.

Git compares the worktree with its index by times and sizes. Where it must read a file, filters of
the user's configuration are switched off: a hook runs no programs that a file's attributes name.
"""

import os

from ghp_agents.hotpath import fastjson, heartbeat, own_file
from ghp_agents.hotpath.git_calls import in_worktree, run_all
from ghp_agents.hotpath.light_dataclass import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ghp_agents.hotpath.git_calls import GitCall
    from ghp_agents.hotpath.locate import Location

FOLDER = "cache/looks"
LIMIT = 2_000  # files that one look remembers; with more changed ones it finds none
COMMITS = 5  # since the last look
AGAIN = "again"  # in place of a signature: look at the file once more


@dataclass
class Memory:
    """What an agent saw at its last look at a worktree."""

    at: str  # the time of the look
    signs: "dict[str, str]"  # by path: time and size of each file that differed from the index
    notices: "dict[str, str]"  # by path: the notice that the agent got


def recall(folders: "Sequence[str]", agent: str, git_dir: str, began: str) -> Memory:
    """What the agent saw at its last look; before the first one, nothing, as of when it `began`."""
    fields = fastjson.read_object(_path(folders[0], agent, git_dir)) or {}
    at = fields.get("at")
    if fields.get("schemaVersion", 1) != 1 or fields.get("gitDir") != git_dir or not at:
        return Memory(began, {}, {})
    return Memory(str(at), _texts(fields.get("seen")), _texts(fields.get("told")))


def keep(folders: "Sequence[str]", agent: str, git_dir: str, memory: Memory) -> None:
    """Remember a look. Raises OSError."""
    path = _path(folders[0], agent, git_dir)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    fields = {
        "schemaVersion": 1,
        "gitDir": git_dir,
        "at": memory.at,
        "seen": memory.signs,
        "told": memory.notices,
    }
    own_file.replace(path, fastjson.encode(fields))


def look(
    place: "Location", environ: "Mapping[str, str]", last: Memory, now: float, until: float
) -> "tuple[list[str], Memory]":
    """The files that changed since the last look, and what to remember of this one.

    `until` is a time of `time.monotonic`. Raises OSError.
    """
    top = place.toplevel or ""
    git = _Git(top, environ, until)
    differing, old, new = git.state(last.at)
    if len(differing) > LIMIT:
        raise OSError(f"{len(differing)} files differ from the index")
    signs = {path: signature(top, path) for path in differing}
    changed = [
        path
        for path, sign in signs.items()
        if (last.signs[path] != sign if path in last.signs else _time(top, path) >= last.at)
    ]
    changed += [path for path, sign in last.signs.items() if sign == AGAIN and path not in signs]
    committed = git.committed(old, new) if old else []
    changed += [
        path
        for path in committed
        if path not in signs and last.signs.get(path) not in (AGAIN, signature(top, path))
    ]
    # A file's time comes from a clock that may be some milliseconds late.
    return changed, Memory(heartbeat.to_text(now - 1), signs, last.notices)


def signature(top: str, path: str) -> str:
    """The time of the last change and the size of a file; empty if there is none."""
    try:
        status = os.lstat(f"{top}/{path}")
    except (OSError, ValueError):
        return ""
    return f"{status.st_mtime_ns}:{status.st_size}"


def _time(top: str, path: str) -> str:
    """When a file changed; if it was deleted, when its folder did."""
    place = f"{top}/{path}"
    while len(place) >= len(top):
        try:
            return heartbeat.to_text(os.lstat(place).st_ctime)
        except (OSError, ValueError, OverflowError):
            place = os.path.dirname(place)
    return ""


class _Git:
    """Git in one worktree, with all filters switched off."""

    def __init__(self, top: str, environ: "Mapping[str, str]", until: float) -> None:
        self._top, self._environ, self._until = top, environ, until
        self._filters: list[str] = []
        self._filters = self._switched_off()

    def state(self, since: str) -> "tuple[list[str], str, str]":
        """The files that differ from the index or are new; and, if commits were made since a time,
        the commit before them, and the last one."""
        newest = ("--first-parent", f"--max-count={COMMITS}", "--no-show-signature")
        calls = [
            self._call("diff-files", "--name-only", "-z", "--no-renames", "--ignore-submodules"),
            self._call("ls-files", "--others", "--exclude-standard", "-z"),
            self._call("log", *newest, "--format=%ct %H %P", "HEAD"),
        ]
        (code, changed), (other, added), (_, listed) = run_all(calls, self._until)
        if code or other:
            raise OSError("git could not compare the worktree")
        differing = list(dict.fromkeys([*_names(changed), *_names(added)]))
        return differing, *_commits_since(listed.decode("ascii", "replace"), since)

    def committed(self, old: str, new: str) -> "list[str]":
        """The files that differ between two commits."""
        call = self._call("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
        ((code, out),) = run_all([call], self._until)
        return _names(out)[:LIMIT] if code == 0 else []

    def _call(self, *args: str) -> "GitCall":
        return in_worktree(self._top, self._environ, *self._filters, *args)

    def _switched_off(self) -> "list[str]":
        """Options that switch off all filters. Raises OSError for one with an odd name."""
        call = self._call("config", "--name-only", "-z", "--get-regexp", r"^filter\..*\.")
        ((code, out),) = run_all([call], self._until)
        options: list[str] = []
        for name in dict.fromkeys(key.rpartition(".")[0] for key in _names(out) if code == 0):
            if "=" in name:
                raise OSError("a filter has an odd name")
            for option in ("clean=", "process=", "required=false"):
                options += ["-c", f"{name}.{option}"]
        return options


def _commits_since(listed: str, since: str) -> "tuple[str, str]":
    """The commit before those that were made since a time, one on another, and the last of them;
    both are empty if there are none. A merge ends the row: its changes are others'."""
    old = new = ""
    for line in listed.splitlines():
        at, commit, *parents = line.split()
        if len(parents) != 1 or heartbeat.to_text(int(at)) < since:
            break
        old, new = parents[0], new or commit
    return old, new


def _names(out: bytes) -> "list[str]":
    return [os.fsdecode(name) for name in out.split(b"\0") if name]


def _path(folder: str, agent: str, git_dir: str) -> str:
    name = os.path.basename(git_dir)
    shown = "".join(char for char in name if char.isalnum() or char in "-_")[:60]
    return f"{folder}/{FOLDER}/{agent}@{shown}.json"


def _texts(value: "Any") -> "dict[str, str]":
    if not isinstance(value, dict):
        return {}
    return {key: text for key, text in value.items() if isinstance(text, str)}
