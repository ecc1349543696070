"""New commits on a clone's ref: one `git fast-import`, which compares and swaps the ref.

Starting fast-import is faster than loading any library. A truncated stream changes nothing: without
the final `done`, no ref is moved.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import files
from ghp_agents.core.errors import StateMovedError
from ghp_agents.core.ids import Actor, one_line
from ghp_agents.git import process as git
from ghp_agents.state.private_repo import COMMITTER, StateRepository

# Git's messages when the ref has moved, or another process is moving it. "Cannot lock" is not
# enough: it may also mean a full disk or a read-only folder.
_MOVED = ("Not updating", "but expected", "reference already exists", ".lock': File exists")


class NewCommit(NamedTuple):
    """A commit to create."""

    message: str
    files: Mapping[str, bytes]
    author: Actor | None
    said_at: float  # seconds; when the author wrote it
    merges: tuple[str, ...] = ()  # additional parents
    kept: tuple[tuple[str, str], ...] = ()  # files that exist as objects: path, oid


def import_commits(
    repository: StateRepository,
    ref: str,
    head: str | None,
    commits: Sequence[NewCommit],
    now: float,
    *,
    keep_open: Sequence[int] = (),
) -> None:
    """Put `commits` on top of `head`, if `ref` still is there.

    Raises StateMovedError if it is not, GitError if git fails for another reason.
    """
    stream = b"".join(_stream(ref, head, commits, int(now)))
    args = ["fast-import", "--quiet", "--done", "--date-format=raw"]
    result = repository.run(*args, stdin=stream, keep_open=keep_open)
    if result.code == 0:
        return
    if any(sign in result.err for sign in _MOVED):
        raise StateMovedError
    raise git.failure(args, result)


def _stream(ref: str, head: str | None, commits: Sequence[NewCommit], now: int) -> Iterable[bytes]:
    yield b"feature done\n"
    for position, commit in enumerate(commits):
        yield f"commit {ref}\n".encode()
        if commit.author:
            yield f"author {_ident(commit.author)} {int(commit.said_at)} +0000\n".encode()
        yield f"committer {COMMITTER} {now} +0000\n".encode()
        yield _data(commit.message.encode("utf-8", "replace"))
        if position == 0 and head:
            yield f"from {head}\n".encode()
        for other in commit.merges:
            yield f"merge {other}\n".encode()
        for path, oid in commit.kept:
            yield f"M 100644 {oid} {_checked(path)}\n".encode()
        for path, content in commit.files.items():
            yield f"M 100644 inline {_checked(path)}\n".encode() + _data(content)
    yield b"done\n"


def _data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content + b"\n"


def _ident(actor: Actor) -> str:
    name = one_line(actor.name.translate({ord("<"): None, ord(">"): None}), 80) or "unknown"
    address = "".join(char if char.isascii() and char.isalnum() else "-" for char in name)
    return f"{name} <{address}@{'people' if actor.is_person else 'agents'}.invalid>"


def _checked(path: str) -> str:
    files.below(_NOWHERE, path)
    return '"' + path.replace('"', '\\"') + '"'


_NOWHERE = Path("/")
