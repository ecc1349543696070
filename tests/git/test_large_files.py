"""Which large files of Git LFS the commits of a push point to."""

from pathlib import Path

from ghp_agents.git import large_files
from tests.support.git import commit, git

OIDS = [letter * 64 for letter in "abc"]


def pointer(oid: str) -> str:
    """What Git LFS commits in place of a file."""
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 3000\n"


def test_new_pointers_are_found_also_where_a_later_commit_deletes_them(repo: Path) -> None:
    commit(repo, {"sub/.gitattributes": "*.bin filter=lfs\n", "sub/a.bin": pointer(OIDS[0])})
    old = git(repo, "rev-parse", "HEAD")
    commit(repo, {"sub/b.bin": pointer(OIDS[1]), "sub/c.bin": pointer(OIDS[2])})
    git(repo, "rm", "--quiet", "sub/b.bin")
    new = commit(repo, {"c.txt": f"It says: {pointer(OIDS[0])}", "d.txt": "x" * 2_000})
    assert large_files.pointed_at(repo, repo / ".git", new, [old]) == OIDS[1:]
    assert large_files.pointed_at(repo, repo / ".git", new, [new]) == []


def test_a_repository_without_git_lfs_has_none(repo: Path) -> None:
    new = commit(repo, {"a.bin": pointer(OIDS[0])})
    assert large_files.pointed_at(repo, repo / ".git", new, []) == []
