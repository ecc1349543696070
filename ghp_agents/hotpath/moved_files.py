"""What became of a file that a worktree no longer has: left out of a sparse checkout, or moved.

A moved file is among the worktree's new files; which one it is, git's merge finds by similarity.
"""

import os

from ghp_agents.hotpath.git_calls import in_worktree, run_all
from ghp_agents.hotpath.worktree_file import UndecidedError, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COUNT, BYTES = 40, 4_000_000  # new files that are compared, and their content in all


def candidates(
    toplevel: str,
    path: str,
    base: str,
    entry: "tuple[str, int]",
    environ: "Mapping[str, str]",
    until: float,
) -> "tuple[bytes | None, dict[str, bytes]]":
    """The content of a file that is only left out of the worktree, and the new files there that
    may be the moved one. `entry` is its id and size in the commit `base`. Raises OSError."""
    commands = [
        ("ls-files", "-t", "-s", "-z", "--", f":(literal,top){path}"),
        ("diff-index", "--cached", "--no-renames", "--diff-filter=A", "--name-only", "-z", base),
        ("ls-files", "--others", "--exclude-standard", "-z"),
    ]
    calls = [in_worktree(toplevel, environ, *words) for words in commands]
    done = run_all(calls, until)
    if any(code != 0 for code, _ in done):
        raise OSError(f"git cannot list the files of {toplevel}")
    listed, added, untracked = (out for _, out in done)
    skipped = _skipped(listed)
    if skipped:
        ((_, content),) = run_all(
            [in_worktree(toplevel, environ, "cat-file", "blob", skipped)], until
        )
        return content, {}
    names = [os.fsdecode(name) for name in (added + untracked).split(b"\0") if name]
    return None, _read(toplevel, _likely(names, path), entry[1])


def _skipped(listed: bytes) -> str:
    """The stored object of a file that a sparse checkout leaves out; else empty."""
    words = listed.partition(b"\t")[0].split()
    return words[2].decode("ascii") if len(words) == 4 and words[0] == b"S" else ""


def _likely(names: "Sequence[str]", path: str) -> list[str]:
    """The names, the most similar first."""
    ending, own = os.path.splitext(path)[1], os.path.basename(path)
    return sorted(
        dict.fromkeys(names),
        key=lambda name: (os.path.basename(name) != own, not name.endswith(ending)),
    )


def _read(toplevel: str, names: "Sequence[str]", size: int) -> dict[str, bytes]:
    """The content of the files that have about this size."""
    contents: dict[str, bytes] = {}
    left = BYTES
    for name in names:
        if len(contents) == COUNT or left <= 0:
            break
        try:
            length = os.lstat(f"{toplevel}/{name}").st_size
            if not size // 2 <= length <= 2 * size + 1:  # git wants half of the larger one
                continue
            content = read_file(toplevel, name)
        except (OSError, ValueError, UndecidedError):
            continue
        if content is not None:
            contents[name] = content
            left -= len(content)
    return contents
