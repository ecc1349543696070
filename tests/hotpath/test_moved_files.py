"""The new files of a worktree among which a moved one is looked for."""

import os
from pathlib import Path
from time import monotonic

import pytest

from ghp_agents.hotpath.moved_files import COUNT, candidates
from tests.support.git import git
from tests.support.other_versions import BASE, Versions


def found(versions: Versions, place: Path) -> tuple[bytes | None, dict[str, bytes]]:
    base = git(versions.repo, "rev-parse", "main")
    entry = git(versions.repo, "rev-parse", "main:a.py"), len(BASE)
    return candidates(str(place), "a.py", base, entry, os.environ, monotonic() + 60)


def test_new_files_of_a_similar_size_are_candidates(repo: Path) -> None:
    versions = Versions(repo)
    versions.theirs(None)
    versions.theirs(BASE, "lib/a.py")
    versions.theirs("small\n", "small.py")
    versions.theirs(BASE * 9, "large.py")
    folder = versions.worktree()
    (folder / "link.py").symlink_to("lib/a.py")
    (folder / "added.txt").write_text(BASE)
    git(folder, "add", "added.txt")
    assert found(versions, folder) == (
        None,
        {"lib/a.py": BASE.encode(), "added.txt": BASE.encode()},
    )


def test_of_many_new_files_some_are_looked_at_the_likely_ones_first(repo: Path) -> None:
    versions = Versions(repo)
    versions.theirs(None)
    for number in range(COUNT + 5):
        versions.theirs(BASE, f"new/{number}.txt")
    versions.theirs(BASE, "z/a.py")
    names = list(found(versions, versions.worktree())[1])
    assert (len(names), names[0]) == (COUNT, "z/a.py")


def test_a_worktree_that_git_does_not_read_is_an_error(repo: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="git cannot list"):
        found(Versions(repo), tmp_path)
