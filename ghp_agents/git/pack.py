"""Commits as one pack: made from a branch, and taken in from others without trusting it."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ghp_agents.git import process as git
from ghp_agents.git.index_copy import borrowed

TIMEOUT_S = 600.0  # seconds; a pack may have many objects
_SLACK = 5  # loose objects are larger than in a pack, but hardly more than five times

Screen = Callable[[str, bytes], str | None]


class PackError(git.GitError):
    """The commits cannot be packed or unpacked; nothing was changed."""

    def __init__(self, message: str, *, stderr: str = "") -> None:
        super().__init__(message, hint="Push the branch with `git push`.", stderr=stderr)


def take_pack(folder: Path, head: str, base: str, limit: int, screen: Screen) -> bytes:
    """What `head` has and `base` lacks (empty: everything), as a pack of at most `limit` bytes.

    `screen` gets each commit's added files and lines, and returns why they must not be packed, or
    None. Raises PackError if it is too large or screened; GitError.
    """
    names = _new_objects(folder, head, base)
    listed = "".join(f"{name}\n" for name in names).encode()
    sizes = _checked(["cat-file", "--batch-check=%(objectsize:disk)"], folder, stdin=listed)
    if sum(map(int, sizes.text.split())) > _SLACK * limit:
        raise PackError("the commits are too large")
    _screen(folder, head, base, screen)
    packed = _checked(["pack-objects", "-q", "--stdout"], folder, stdin=listed).out
    if len(packed) > limit:
        raise PackError("the commits are too large")
    return packed


def _screen(folder: Path, head: str, base: str, screen: Screen) -> None:
    """Raise PackError if a commit adds what must not leave this clone."""
    plain = ["--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"]
    form = ["--format=", "--patch", "--cc", "--unified=0", "--src-prefix=a/", "--dst-prefix=b/"]
    quiet = ["-c", "core.quotePath=false", "log", *form, *plain]
    shown = _checked([*quiet, *_range(head, base), "--"], folder).out
    for piece in (b"\n" + shown).split(b"\ndiff --")[1:]:
        lines = piece.split(b"\n")
        path = next((line[6:] for line in lines if line.startswith(b"+++ b/")), b"")
        is_new = any(line.startswith(b"new file mode ") for line in lines)
        added = b"\n".join(line.lstrip(b" +") for line in lines if line.startswith((b"+", b" +")))
        reason = screen(path.decode("utf-8", "replace") if is_new else "", added)
        if reason:
            raise PackError(reason)


def add_pack(folder: Path, common_dir: str, content: bytes, head: str, base: str) -> None:
    """Add the objects of a pack that `head` needs; the pack may be another's, so others are not.

    It is checked aside: every object and link must be valid, and nothing may be missing. Raises
    PackError; then nothing was added.
    """
    with tempfile.TemporaryDirectory(prefix="ghp-pack-", dir=common_dir) as aside:
        env = borrowed(f"{common_dir}/objects", aside)
        _checked(["index-pack", "--strict", "--stdin"], folder, stdin=content, env=env)
        names = _new_objects(folder, head, base, env)
        listed = "".join(f"{name}\n" for name in names).encode()
        reachable = _checked(["pack-objects", "-q", "--stdout"], folder, stdin=listed, env=env).out
    if names:
        _checked(["index-pack", "--stdin"], folder, stdin=reachable)


def _new_objects(
    folder: Path, head: str, base: str, env: Mapping[str, str] | None = None
) -> list[str]:
    shown = _checked(["rev-list", "--objects", *_range(head, base), "--"], folder, env=env)
    return [line.partition(b" ")[0].decode() for line in shown.out.splitlines()]


def _range(head: str, base: str) -> list[str]:
    return [head, *([f"^{base}"] if base else [])]


def _checked(
    args: Sequence[str],
    folder: Path,
    *,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
) -> git.Result:
    result = git.run(args, cwd=folder, stdin=stdin, timeout=TIMEOUT_S, env=env)
    if result.code != 0:
        reasons = "; ".join(result.errors[:3])
        raise PackError(reasons or f"git {args[0]} failed", stderr=result.err)
    return result
