"""Runs several git commands at once within a deadline, without `subprocess`.

Importing `subprocess` costs as much as Python's start. Commands that would fetch, prompt or write
to the repository's index are told not to.
"""

import os

from ghp_agents.hotpath.ignored_files import LOCAL_VARIABLES
from ghp_agents.hotpath.light_dataclass import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OUTPUT_LIMIT = 64_000_000  # bytes of one command
_KILL = 9
QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",  # a missing object is no reason to ask the network
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


@dataclass
class GitCall:
    """One command: the arguments after `git`, and its environment."""

    args: "Sequence[str]"
    environ: "Mapping[str, str]"


class SlowGitError(OSError):
    """The commands did not end in time."""


def in_worktree(toplevel: str, environ: "Mapping[str, str]", *args: str) -> GitCall:
    """A command in a worktree, whatever repository the variables of a hook name."""
    env = {key: value for key, value in environ.items() if key not in LOCAL_VARIABLES}
    git = ("-c", "core.fsmonitor=false", "-C", toplevel)
    return GitCall((*git, *args), env | QUIET)


def run_all(calls: "Sequence[GitCall]", until: float) -> "list[tuple[int, bytes]]":
    """The exit code and output of each command, which run at the same time.

    `until` is a time of `time.monotonic`. Raises SlowGitError after it, OSError without git.
    """
    readers: list[int] = []
    children: list[int] = []
    outputs: list[bytes] = []
    try:
        for call in calls:
            _start(call, readers, children)
        outputs = _outputs(readers, until)
    finally:
        for reader in readers:
            os.close(reader)
        codes = [_end(child, kill=not outputs) for child in children]
    return list(zip(codes, outputs, strict=True))


def _start(call: GitCall, readers: "list[int]", children: "list[int]") -> None:
    reading, writing = os.pipe()
    readers.append(reading)
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writing, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    try:
        command = ["git", *call.args]
        children.append(os.posix_spawnp("git", command, call.environ, file_actions=actions))
    except ValueError as error:  # a NUL in an argument
        raise OSError(str(error)) from None
    finally:
        os.close(writing)


def _outputs(readers: "Sequence[int]", until: float) -> list[bytes]:
    from select import POLLHUP, POLLIN, poll
    from time import monotonic

    parts: dict[int, list[bytes]] = {reader: [] for reader in readers}
    sizes = dict.fromkeys(readers, 0)
    waiting = poll()
    for reader in readers:
        waiting.register(reader, POLLIN | POLLHUP)
    left = len(readers)
    while left:
        remaining = until - monotonic()
        if remaining <= 0:
            raise SlowGitError("git took too long")
        for reader, _ in waiting.poll(remaining * 1_000):
            part = os.read(reader, 1 << 20)
            sizes[reader] += len(part)
            if sizes[reader] > OUTPUT_LIMIT:
                raise SlowGitError("git printed too much")
            parts[reader].append(part)
            if not part:
                waiting.unregister(reader)
                left -= 1
    return [b"".join(parts[reader]) for reader in readers]


def _end(child: int, *, kill: bool) -> int:
    """The exit code of a command, which is killed first if its output was not read to the end."""
    if kill:
        try:
            os.kill(child, _KILL)
        except OSError:
            pass
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
