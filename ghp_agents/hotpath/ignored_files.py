"""Files that are never leased: ignored by git, or marked as generated.

Git is asked only before a refusal. For one file this avoids `subprocess`, whose import costs as
much as Python's start.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ATTRIBUTE = "linguist-generated"
HERE = "./"  # keeps a path from being pathspec magic; git refuses literal pathspecs here
_GENERATED = ("set", "true")
_IGNORED = ("check-ignore", "--quiet", "--")
_ATTRIBUTES = ("check-attr", "-z", ATTRIBUTE, "--")
# `git rev-parse --local-env-vars`, without the settings of `git -c` and GIT_CONFIG_COUNT, which may
# carry credentials. Inside a hook these point git at another repository, or a partial index.
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
    """Whether git ignores `path`, or it is generated. False if git cannot tell."""
    env = {key: value for key, value in environ.items() if key not in LOCAL_VARIABLES}
    env |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    git = ["git", "-c", "core.fsmonitor=false", "-C", toplevel]
    reading, writing = os.pipe()
    children: list[int] = []
    try:
        children.append(_start([*git, *_IGNORED, HERE + path], env, None))
        children.append(_start([*git, *_ATTRIBUTES, HERE + path], env, writing))
    except (OSError, ValueError):  # no git, or an impossible path
        pass
    finally:
        os.close(writing)
    output = _all(reading)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    return statuses[:1] == [0] or values(output) == [True]


def values(output: bytes) -> list[bool]:
    """For each `path NUL attribute NUL value NUL`, whether the path is generated."""
    return [value.decode("ascii", "replace") in _GENERATED for value in output.split(b"\0")[2::3]]


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
