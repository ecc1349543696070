"""A pull request must not add a repository inside of the repository, but for submodules."""

from pathlib import Path

from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import listed
from ghp_agents.git import gitlinks
from ghp_agents.hotpath.quoting import file

SHOWN = 5


def refuse(folder: Path, base: str, head: str) -> None:
    """Raise RefusedError if `head` added one since it left `base`."""
    paths = gitlinks.added(folder, base, head)
    if paths:
        names = listed([*map(file, paths)], SHOWN)
        one = len(paths) == 1
        raise RefusedError(
            f"{names} {'is a repository' if one else 'are repositories'} of "
            f"{'its' if one else 'their'} own, maybe a worktree, and no submodule: `git submodule` "
            "would fail in every clone of main.",
            hint=f"Take it out: `git rm --cached {file(paths[0])}`, add it to .gitignore, and "
            "commit. A real submodule needs an entry in .gitmodules (`git submodule add`).",
        )
