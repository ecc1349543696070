"""Git LFS: which large files a push needs beside its commits.

A commit has only pointers to them. Git LFS sends the files by its `pre-push` hook, which our pushes
do not run. Pointers: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from ghp_agents.git import process as git
from ghp_agents.git.objects import read_blobs

LARGEST = 1_023  # bytes of a pointer
TIMEOUT_S = 600.0  # seconds; listing the objects of many commits takes time
_POINTER = re.compile(
    rb"version https://(?:git-lfs\.github\.com|hawser\.github\.com)/spec/v\d\n"
    rb"(?:[^\n]*\n)*?oid sha256:([0-9a-f]{64})\n"
)


def pointed_at(folder: Path, git_dir: Path, commit: str, excluded: Sequence[str]) -> list[str]:
    """The ids of the large files in `commit` that commits in `excluded` (for `git rev-list`) do
    not have. Raises GitError."""
    attributes = ["grep", "--quiet", "--fixed-strings", "-e", "filter=lfs", commit, "--"]
    if git.run([*attributes, ":(glob)**/.gitattributes"], cwd=folder).code != 0:
        return []
    args = [
        "rev-list",
        "--objects",
        f"--filter=blob:limit={LARGEST + 1}",
        commit,
        "--not",
        *excluded,
    ]
    listed = git.check([*args, "--"], cwd=folder, timeout=TIMEOUT_S).text.splitlines()
    blobs = [oid for oid, _, path in (line.partition(" ") for line in listed) if path]
    contents = read_blobs(git_dir, blobs, largest=LARGEST)
    matches = (_POINTER.match(content) for content in contents if content)
    return sorted({match[1].decode() for match in matches if match})


def is_installed(folder: Path) -> bool:
    """Whether git can start Git LFS."""
    return git.run(["lfs", "version"], cwd=folder).code == 0
