"""A repository with a submodule, for tests."""

from pathlib import Path

from tests.support.git import commit, git

ALLOWED = ("-c", "protocol.file.allow=always")


def add(repo: Path, path: str = "vendor/lib") -> Path:
    """Add a submodule to a repository; returns its remote, a folder beside the repository."""
    remote = repo.parent / Path(path).name
    git(repo.parent, "init", "--quiet", "--initial-branch=main", str(remote))
    git(remote, "config", "receive.denyCurrentBranch", "ignore")
    commit(remote, {"lib.c": "lib\n"})
    git(repo, *ALLOWED, "submodule", "--quiet", "add", str(remote), path)
    git(repo, "commit", "--quiet", "-m", "Add a library")
    return remote
