"""The commits of worktrees and their merge base, with as few git processes as possible."""

import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest

from ghp_agents.hotpath import merge_bases
from ghp_agents.hotpath.merge_bases import KEPT, Heads, head
from tests.support.git import commit, git


def heads(repo: Path, *git_dirs: Path) -> list[str]:
    reader = Heads(str(repo), str(repo / ".git"), os.environ, monotonic() + 60)
    return reader.of([str(git_dir) for git_dir in git_dirs])


@pytest.mark.parametrize("how", ["loose", "packed", "detached", "symbolic"])
def test_the_commit_of_a_worktree_is_read_from_files(
    repo: Path, worktree: Callable[[Path, str], Path], how: str
) -> None:
    linked = worktree(repo, "2")
    git_dir = repo / ".git/worktrees" / linked.name
    oid = commit(linked, {"b": "b"})
    if how == "packed":
        git(repo, "pack-refs", "--all")
    if how == "detached":
        git(linked, "checkout", "--quiet", "--detach")
    if how == "symbolic":
        git(repo, "symbolic-ref", "refs/heads/alias", "refs/heads/agent/2")
        git(linked, "symbolic-ref", "HEAD", "refs/heads/alias")
    assert head(str(repo / ".git"), str(git_dir)) == oid
    assert heads(repo, repo / ".git", git_dir) == [git(repo, "rev-parse", "HEAD"), oid]


def test_what_files_do_not_tell_git_is_asked(
    repo: Path, worktree: Callable[[Path, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    linked = worktree(repo, "2")
    git_dir = repo / ".git/worktrees" / linked.name
    monkeypatch.setattr(merge_bases, "head", lambda *_: "")  # as with reftables
    commit(linked, {"b": "b"})
    expected = [git(place, "rev-parse", "HEAD") for place in (repo, linked)]
    assert heads(repo, repo / ".git", git_dir) == expected


@pytest.mark.parametrize("text", ["", "ref: refs/heads/none\n", "ref: ../../x\n", "ref: /etc\n"])
def test_a_worktree_without_a_commit_has_none(repo: Path, text: str) -> None:
    (repo / ".git/HEAD").write_text(text)
    assert head(str(repo / ".git"), str(repo / ".git")) == ""
    assert heads(repo, repo / ".git") == [""]


def test_a_merge_base_is_asked_for_once(
    repo: Path, worktree: Callable[[Path, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    linked = worktree(repo, "2")
    start = git(repo, "rev-parse", "HEAD")
    mine, theirs = commit(repo, {"a": "a"}), commit(linked, {"b": "b"})

    def ask(*pairs: tuple[str, str]) -> list[str]:
        where = str(repo), str(repo / ".git/ghp")
        return merge_bases.merge_bases(*where, pairs, os.environ, monotonic() + 60)

    assert ask((mine, theirs), (mine, mine), (theirs, mine), (start, mine)) == [
        start, mine, start, start,
    ]  # fmt: skip
    monkeypatch.setenv("PATH", "/nowhere")
    assert ask((theirs, mine)) == [start]
    with pytest.raises(FileNotFoundError):
        ask((theirs, start))


def test_the_memory_is_bounded_and_survives_damage(repo: Path) -> None:
    folder = str(repo / ".git/ghp")
    bases = {f"{n:040x} {n + 1:040x}": f"{n:040x}" for n in range(2 * KEPT)}
    merge_bases._keep(folder, bases)
    cached = merge_bases._cached(folder)
    assert list(cached) == list(bases)[-KEPT:]
    Path(folder, "cache", merge_bases.NAME).write_bytes(b"\xff\n a b\n" + b"0" * 40 + b"\n")
    assert merge_bases._cached(folder) == {}


@pytest.mark.parametrize("how", ["loose", "packed", "symbolic"])
def test_the_commit_of_a_ref_is_read_from_files(repo: Path, how: str) -> None:
    expected = git(repo, "rev-parse", "main")
    if how == "packed":
        git(repo, "pack-refs", "--all")
    if how == "symbolic":
        git(repo, "symbolic-ref", "refs/remotes/origin/main", "refs/heads/main")
    ref = "refs/remotes/origin/main" if how == "symbolic" else "refs/heads/main"
    assert merge_bases.tip(str(repo / ".git"), ref) == expected


@pytest.mark.parametrize("ref", ["", "HEAD", "refs/../HEAD", "refs/heads/none"])
def test_of_no_ref_there_is_no_commit(repo: Path, ref: str) -> None:
    assert merge_bases.tip(str(repo / ".git"), ref) == ""
