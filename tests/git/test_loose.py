"""Loose objects: read and written as git does it, and what is not loose is read by git."""

from pathlib import Path

import pytest

from ghp_agents.git import loose
from ghp_agents.git.loose import NotLooseError
from ghp_agents.git.objects import TreeEntry, read_objects
from tests.support.git import commit
from tests.support.git import git as run_git


def names(repo: Path) -> list[str]:
    top = run_git(repo, "rev-parse", "HEAD")
    tree = run_git(repo, "rev-parse", "HEAD^{tree}")
    return [
        *(top, tree, f"{top}:", f"{top}:a", f"{top}:a/b.txt", f"{tree}:a/b.txt", f"{top}:none"),
        *(f"{top}:a/none", f"{top}:a/b.txt/c", "refs/heads/main", "refs/heads/main:a", "refs/none"),
    ]


@pytest.fixture
def clone(repo: Path) -> Path:
    commit(repo, {"a/b.txt": "text\n" * 1000})
    return repo


@pytest.mark.parametrize("packed", ["", "--all", "again"])
@pytest.mark.parametrize("largest", [None, 100])
def test_every_object_is_as_git_reads_it(clone: Path, packed: str, largest: int | None) -> None:
    if packed:
        run_git(clone, "repack", "-a", "-d", "-q")
    if packed == "again":
        commit(clone, {"a/c.txt": "more\n"})
    folder, wanted = clone / ".git", names(clone)
    with read_objects(folder, largest=largest) as reader:
        expected = reader.read(wanted)
    with loose.read_objects(folder, largest=largest) as reader:
        assert reader.read(wanted) == expected
        assert [reader.read([name])[0] for name in wanted] == expected


def test_a_loose_object_is_read_without_a_process(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = names(clone)
    monkeypatch.setenv("PATH", "/nowhere")
    with loose.read_objects(clone / ".git") as reader:
        assert [read is not None for read in reader.read(wanted)] == [True] * 6 + [False] * 3 + [
            True, True, False,
        ]  # fmt: skip


def test_a_damaged_object_is_not_read_by_us(clone: Path) -> None:
    oid = run_git(clone, "rev-parse", "HEAD")
    path = clone / ".git/objects" / oid[:2] / oid[2:]
    whole = path.read_bytes()
    path.chmod(0o600)
    for content in (b"", b"junk", whole[:-12], whole[:20]):
        path.write_bytes(content)
        with pytest.raises(NotLooseError):
            loose.read(str(clone / ".git/objects"), oid)


@pytest.mark.parametrize(("form", "length"), [("sha1", 40), ("sha256", 64)])
def test_git_reads_what_we_write_and_killed_writers_leave_nothing_in_the_way(
    tmp_path: Path, form: str, length: int
) -> None:
    run_git(tmp_path, "init", "-q", "--bare", f"--object-format={form}", "state")
    new = loose.NewObjects(str(tmp_path / "state/objects"), length)
    blob = new.add("blob", b"content")
    tree = new.add("tree", loose.tree({"f": TreeEntry("100644", "f", blob)}))
    who = "A <a@b.invalid> 1700000000 +0000"
    top = new.add("commit", loose.commit(tree, [], who, who, "Say f\n"))
    assert not [*(tmp_path / "state/objects").glob("??/*")]
    new.flush()
    new.flush()  # what exists is kept
    run_git(tmp_path / "state", "update-ref", "refs/heads/main", top)
    assert run_git(tmp_path / "state", "cat-file", "blob", "main:f") == "content"
    assert run_git(tmp_path / "state", "fsck", "--strict", "--no-dangling") == ""
    assert [*(tmp_path / "state/objects").glob("*.tmp")] == []


def test_a_few_commits_are_followed_and_only_git_can_tell_of_merges(
    repo: Path,
) -> None:
    folder, first = f"{repo}/.git/objects", run_git(repo, "rev-parse", "HEAD")
    second = commit(repo, {"a": "1\n"}, "Second")
    third = commit(repo, {"a": "2\n"}, "Third")
    contents = loose.commits_between(folder, third, first)
    assert contents is not None
    assert [content.rpartition(b"\n\n")[2].strip() for content in contents] == [b"Third", b"Second"]
    assert loose.commits_between(folder, second, second) == []
    assert len(loose.commits_between(folder, third, None) or []) == 3
    assert loose.commits_between(folder, second, third) is None  # it is not before
    run_git(repo, "checkout", "--quiet", "-b", "side", first)
    commit(repo, {"b": "1\n"})
    run_git(repo, "merge", "--quiet", "--no-edit", third)
    assert loose.commits_between(folder, run_git(repo, "rev-parse", "HEAD"), first) is None
