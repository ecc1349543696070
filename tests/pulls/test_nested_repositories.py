"""A repository inside of the repository is a submodule, or it stays out of main."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.git import gitlinks
from ghp_agents.pulls.submodule_pointers import refuse_nested
from tests.support.ghp import invoke
from tests.support.git import commit, git

MakeWorktree = Callable[[Path, str], Path]
PLACE = ".claude/worktrees/one"


def take_in(top: Path) -> str:
    """What `git add -A` does with a worktree inside of a worktree; the commit."""
    git(top, "worktree", "add", "--quiet", "-b", "sub", PLACE)
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message", "All of it")
    return git(top, "rev-parse", "HEAD")


@pytest.mark.slow
def test_a_commit_that_adds_one_is_refused(repo: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    head = take_in(repo)
    assert gitlinks.added(repo, base, head) == [PLACE]
    with pytest.raises(RefusedError, match="is a repository of its own") as refused:
        refuse_nested(repo, base, head)
    assert "git rm --cached" in refused.value.hint
    later = commit(repo, {"a.txt": "one\n"})
    refuse_nested(repo, head, later)  # main has it already
    git(repo, "rm", "--quiet", "--cached", PLACE)
    git(repo, "commit", "--quiet", "--message", "Out again")
    refuse_nested(repo, base, "HEAD")


def test_a_submodule_passes_only_with_path_and_address(repo: Path, tmp_path: Path) -> None:
    base, other = git(repo, "rev-parse", "HEAD"), tmp_path / "other.git"
    git(repo, "clone", "--quiet", "--bare", str(repo), str(other))
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "lib")
    git(repo, *add)
    assert gitlinks.staged(repo) == []
    git(repo, "commit", "--quiet", "--message", "A submodule")
    refuse_nested(repo, base, "HEAD")
    (repo / ".gitmodules").write_text('[submodule "lib"]\n\tpath = lib\n')
    git(repo, "commit", "--quiet", "--all", "--message", "Without an address")
    assert gitlinks.added(repo, base, "HEAD") == ["lib"]


def test_the_guard_of_git_refuses_agents_and_warns_people(repo: Path) -> None:
    assert invoke("agent-init --no-agents-md", repo).code == 0
    git(repo, "worktree", "add", "--quiet", "-b", "sub", PLACE)
    git(repo, "add", "--all")
    refused = invoke("agent-check --staged --as worker-1", repo)
    assert (refused.code, PLACE in refused.out) == (3, True)
    assert "repository of its own" in refused.out
    warned = invoke("agent-check --staged --as @me", repo)
    assert (warned.code, "repository of its own" in warned.err) == (0, True)


@pytest.mark.slow
def test_neither_finish_nor_the_queue_takes_one(repo: Path, tmp_path: Path) -> None:
    git(repo, "clone", "--quiet", "--bare", str(repo), str(tmp_path / "origin.git"))
    git(repo, "remote", "add", "origin", str(tmp_path / "origin.git"))
    assert invoke("agent-init --no-agents-md", repo).code == 0
    assert invoke("agent-issue new Parse", repo).code == 0
    assert invoke("agent-start 1 --as worker-1", repo).code == 0
    place = Path(invoke("agent-where 1", repo).out.strip())
    commit(place, {"a.txt": "one\n"})
    assert invoke("agent-finish --as worker-1", place).code == 0
    take_in(place)
    refused = invoke("agent-finish --as worker-1", place)
    assert (refused.code, "repository of its own" in refused.err) == (3, True)
    git(place, "push", "--quiet", "origin", "HEAD")
    merged = invoke("agent-merge 2 --unchecked --as @me", repo)
    assert (merged.code, "repository of its own" in merged.err) == (3, True)
