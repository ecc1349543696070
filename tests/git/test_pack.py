"""Commits travel as a pack with the same ids, and a pack of others adds only what it should."""

from pathlib import Path

import pytest

from ghp_agents.git import process
from ghp_agents.git.pack import PackError, add_pack, take_pack
from tests.support.git import commit, git

LIMIT = 1_000_000


def nothing(new_path: str, added: bytes) -> str | None:
    return None


def take(folder: Path, limit: int = LIMIT) -> bytes:
    return take_pack(folder, git(folder, "rev-parse", "HEAD"), "", limit, nothing)


@pytest.fixture
def other(repo: Path, tmp_path: Path) -> Path:
    """A clone of `repo`, which gets commits meanwhile."""
    git(tmp_path, "clone", "--quiet", str(repo), str(tmp_path / "there"))
    return tmp_path / "there"


def add(other: Path, content: bytes, head: str, base: str) -> None:
    add_pack(other, str(other / ".git"), content, head, base)


def objects(folder: Path) -> set[str]:
    """The ids of all objects of a repository."""
    args = ("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return set(git(folder, *args).splitlines())


def test_the_same_commits_arrive(repo: Path, other: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    commit(repo, {"a": "1\n", "src/b": "2\n"}, "One")
    head = commit(repo, {"a": "3\n"}, "Two")
    content = take_pack(repo, head, base, LIMIT, nothing)
    add(other, content, head, base)
    add(other, content, head, base)
    assert git(other, "rev-list", head, f"^{base}") == git(repo, "rev-list", head, f"^{base}")
    assert objects(other) == objects(repo)
    assert git(other, "fsck", "--strict", "--no-dangling") == ""


def test_without_a_base_the_whole_history_is_packed(repo: Path, tmp_path: Path) -> None:
    head = commit(repo, {"a": "1\n"}, "One")
    git(tmp_path, "init", "--quiet", str(tmp_path / "empty"))
    add(tmp_path / "empty", take(repo), head, "")
    assert objects(tmp_path / "empty") == objects(repo)


def test_a_limit_is_kept(repo: Path) -> None:
    (repo / "data").write_bytes(b"".join(str(hash((n, "x"))).encode() for n in range(2_000)))
    git(repo, "add", "data")
    git(repo, "commit", "--quiet", "-m", "Data")
    size = len(take(repo))
    assert len(take(repo, size)) == size
    for limit in (size - 1, 100):
        with pytest.raises(PackError, match=r"^the commits are too large$"):
            take(repo, limit)


def test_every_added_line_and_new_file_is_screened(repo: Path) -> None:
    added_files: list[tuple[str, bytes]] = []
    base = git(repo, "rev-parse", "HEAD")
    commit(repo, {"new": "one\ndiff --git two\n"}, "One")
    git(repo, "checkout", "--quiet", "-b", "side", base)
    commit(repo, {"side": "three\n"}, "Side")
    git(repo, "merge", "--quiet", "--no-commit", "main")
    (repo / "side").write_text("only in the merge\n")
    git(repo, "commit", "--quiet", "--all", "-m", "Merge")
    git(repo, "rm", "--quiet", "new")
    git(repo, "commit", "--quiet", "-m", "Remove")

    def look(new_path: str, added: bytes) -> str | None:
        added_files.append((new_path, added))
        return None

    take_pack(repo, git(repo, "rev-parse", "HEAD"), base, LIMIT, look)
    lines = b"\n".join(added for _, added in added_files)
    assert {name for name, _ in added_files} >= {"new", "side"}
    for word in (b"one", b"diff --git two", b"three", b"only in the merge"):
        assert word in lines
    with pytest.raises(PackError, match=r"^it is secret$"):
        take_pack(repo, "HEAD", base, LIMIT, lambda path, added: "it is secret")


@pytest.mark.parametrize("part", [slice(0, 40), slice(12, None), slice(0, 0)])
def test_a_torn_pack_adds_nothing(repo: Path, other: Path, part: slice) -> None:
    base = git(repo, "rev-parse", "HEAD")
    head = commit(repo, {"a": "1\n"}, "One")
    before = objects(other)
    with pytest.raises(PackError):
        add(other, take_pack(repo, head, base, LIMIT, nothing)[part], head, base)
    assert objects(other) == before


def packed(repo: Path, *names: str) -> bytes:
    """A pack of exactly these objects."""
    text = "".join(f"{name}\n" for name in names).encode()
    return process.check(["pack-objects", "-q", "--stdout"], cwd=repo, stdin=text).out


def test_a_pack_that_lacks_an_object_adds_nothing(repo: Path, other: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    head = commit(repo, {"a": "1\n"}, "One")
    before = objects(other)
    with pytest.raises(PackError):
        add(other, packed(repo, head, git(repo, "rev-parse", "HEAD^{tree}")), head, base)
    with pytest.raises(PackError):
        add(other, packed(repo, git(repo, "rev-parse", "HEAD:a")), head, base)
    assert objects(other) == before


def test_what_the_branch_does_not_need_is_not_added(repo: Path, other: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    head = commit(repo, {"a": "1\n"}, "One")
    needed = git(repo, "rev-list", "--objects", "--no-object-names", head, f"^{base}").split()
    (repo / "other").write_text("another\n")
    extra = git(repo, "hash-object", "-w", "other")
    add(other, packed(repo, *needed, extra), head, base)
    assert set(needed) <= objects(other)
    assert extra not in objects(other)


def test_a_tree_with_a_git_folder_is_refused(repo: Path, other: Path) -> None:
    base = git(repo, "rev-parse", "HEAD")
    blob = git(repo, "rev-parse", "HEAD:README.md")
    inner = git(repo, "mktree", stdin=f"100644 blob {blob}\tconfig\n")
    tree = git(repo, "mktree", stdin=f"040000 tree {inner}\t.GIT\n")
    head = git(repo, "commit-tree", "-p", base, "-m", "Evil", tree)
    before = objects(other)
    with pytest.raises(PackError):
        add(other, packed(repo, head, tree, inner), head, base)
    assert objects(other) == before
