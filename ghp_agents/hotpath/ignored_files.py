"""Files that nobody leases: what git ignores, and what is marked as generated.

Git is asked, only before somebody is refused: once for one file without `subprocess`, which costs
as much as Python's own start, and once for many.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ATTRIBUTE = "linguist-generated"
HERE = "./"  # so that no path is a pathspec with magic; to ask for literal ones git refuses here
_GENERATED = ("set", "true")
_IGNORED = ("check-ignore", "--quiet", "--")
_ATTRIBUTES = ("check-attr", "-z", ATTRIBUTE, "--")
# Inside a hook these would point git at another worktree's repository, or at half an index.
LOCAL_VARIABLES = frozenset(
    f"GIT_{name}"
    for name in (
        *("ALTERNATE_OBJECT_DIRECTORIES", "COMMON_DIR", "CONFIG", "DIR", "GRAFT_FILE"),
        *("IMPLICIT_WORK_TREE", "INDEX_FILE", "INTERNAL_SUPER_PREFIX", "NAMESPACE"),
        *("NO_REPLACE_OBJECTS", "OBJECT_DIRECTORY", "PREFIX", "QUARANTINE_PATH"),
        *("REPLACE_REF_BASE", "SHALLOW_FILE", "WORK_TREE"),
    )
)


def is_exempt(toplevel: str, path: str, environ: "Mapping[str, str]") -> bool:
    """Whether git ignores `path`, or it is generated. False where git cannot tell."""
    env = {key: value for key, value in environ.items() if key not in LOCAL_VARIABLES}
    env |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    git = ["git", "-c", "core.fsmonitor=false", "-C", toplevel]
    reading, writing = os.pipe()
    children: list[int] = []
    try:
        children.append(_start([*git, *_IGNORED, HERE + path], env, None))
        children.append(_start([*git, *_ATTRIBUTES, HERE + path], env, writing))
    except (OSError, ValueError):  # no git, or no path that any system has
        pass
    finally:
        os.close(writing)
    said = _all(reading)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    return statuses[:1] == [0] or values(said) == [True]


def values(said: bytes) -> list[bool]:
    """From `path NUL attribute NUL value NUL`, for each path whether it is generated."""
    return [value.decode("ascii", "replace") in _GENERATED for value in said.split(b"\0")[2::3]]


def _start(command: list[str], env: dict[str, str], out: int | None) -> int:
    nowhere = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    silent = (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)
    to = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
    into = to if out is None else (os.POSIX_SPAWN_DUP2, out, 1)
    return os.posix_spawnp(command[0], command, env, file_actions=[nowhere, into, silent])


def _all(reading: int) -> bytes:
    parts: list[bytes] = []
    with open(reading, "rb", buffering=0) as file:
        while part := file.read(65_536):
            parts.append(part)
    return b"".join(parts)
