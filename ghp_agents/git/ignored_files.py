"""Files that are never leased: ignored by git, or marked as generated."""

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from ghp_agents.git import process as git
from ghp_agents.hotpath.ignored_files import ATTRIBUTE, HERE, values


def among(toplevel: str, paths: Sequence[str]) -> Collection[str]:
    """Those of `paths` that are ignored or generated. Raises GitError."""
    if not paths:
        return frozenset()
    folder = Path(toplevel)
    listed = b"".join(os.fsencode(HERE + path) + b"\0" for path in paths)
    ignored = git.run(["check-ignore", "-z", "--stdin"], cwd=folder, stdin=listed)
    words = ["check-attr", "-z", "--stdin", ATTRIBUTE]
    marked = git.run(words, cwd=folder, stdin=listed)
    generated = zip(paths, values(marked.out), strict=False)
    ignored_paths = {name.removeprefix(HERE) for name in ignored.names}
    return ignored_paths | {path for path, is_generated in generated if is_generated}
