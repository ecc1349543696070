"""New commits: compared and swapped, whoever says what."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghp_agents.core.errors import StateMovedError, UsageError
from ghp_agents.core.ids import Actor
from ghp_agents.git.process import GitError
from ghp_agents.hotpath import own_file
from ghp_agents.state.new_commits import NewCommit, add_commits
from ghp_agents.state.private_repo import StateRepository, open_repository
from tests.state.clones import workspace
from tests.support.git import git

NOW = 1_750_000_000.0


@pytest.fixture
def state(repo: Path) -> StateRepository:
    return open_repository(workspace(repo))


def add(state: StateRepository, head: str | None, *names: str, ref: str = "") -> str:
    commits = [NewCommit(f"Say {name}\n", {name: name.encode()}, None, NOW) for name in names]
    add_commits(state, ref or state.ref, head, commits, NOW)
    return git(state.path, "rev-parse", ref or state.ref)


def tree(state: StateRepository) -> list[str]:
    return git(state.path, "ls-tree", "-rz", "--name-only", state.ref).split("\0")[:-1]


def test_commits_come_one_on_another(state: StateRepository) -> None:
    add(state, add(state, None, "a", "b"), "c")
    assert git(state.path, "log", "--format=%s", state.ref) == "Say c\nSay b\nSay a"
    assert tree(state) == ["a", "b", "c"]


def test_who_comes_from_an_older_head_or_from_none_is_told_and_adds_nothing(
    state: StateRepository,
) -> None:
    first = add(state, None, "a")
    second = add(state, first, "b")
    for head in (first, None):
        with pytest.raises(StateMovedError):
            add(state, head, "c")
    assert git(state.path, "rev-parse", state.ref) == second
    assert tree(state) == ["a", "b"]


def test_a_ref_that_cannot_be_made_at_all_did_not_move(state: StateRepository) -> None:
    add(state, None, "a", ref="refs/ghp/clone/x/y")
    with pytest.raises(GitError, match="update-ref"):
        add(state, None, "b", ref="refs/ghp/clone/x")


def test_a_head_that_is_nowhere_is_an_error(state: StateRepository) -> None:
    with pytest.raises(GitError, match="is missing"):
        add(state, "0" * 39 + "1", "a")


@pytest.mark.parametrize("path", ["", "/a", "../a", "a/../b", ".git/config", "a\nb", "a\\b", "a/"])
def test_a_path_that_could_leave_the_tree_is_refused_before_anything_is_written(
    state: StateRepository, path: str
) -> None:
    with pytest.raises(UsageError, match="not a path"):
        add(state, None, "good", path)
    with pytest.raises(AssertionError, match="rev-parse"):
        git(state.path, "rev-parse", "--verify", state.ref)


@pytest.mark.slow
@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    name=st.text(st.characters(), max_size=20),
    message=st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=40),
    content=st.binary(max_size=40),
)
def test_any_name_any_message_any_content(
    state: StateRepository, name: str, message: str, content: bytes
) -> None:
    head = git(state.path, "for-each-ref", "--format=%(objectname)", state.ref) or None
    commit = NewCommit(message, {"a b/ü": content}, Actor(name, is_person=True), NOW)
    add_commits(state, state.ref, head, [commit], NOW)
    shown = state.check("cat-file", "commit", state.ref).out
    head_lines, _, text = shown.partition(b"\n\n")
    assert text == message.encode("utf-8", "replace")
    author = head_lines.decode().splitlines()[-2]
    assert author.endswith("@people.invalid> 1750000000 +0000")
    assert author.count("<") == author.count(">") == 1
    assert state.check("cat-file", "blob", f"{state.ref}:a b/ü").out == content
    assert state.run("fsck", "--strict").code == 0


def test_git_finds_what_was_written_whole_and_as_it_would_have_written_it(
    state: StateRepository,
) -> None:
    paths = {"a/b": b"1", "a.c": b"2", "a0": b"3", "a/c/d": b"4", "b": b"\0" * 10_000}
    commit = NewCommit("Say all\n", paths, None, NOW)
    add_commits(state, state.ref, None, [commit], NOW)
    tree = state.check("rev-parse", f"{state.ref}^{{tree}}").text
    listed = state.check("ls-tree", tree).out
    assert state.check("mktree", stdin=listed).text == tree  # git sorts the entries itself
    assert state.run("fsck", "--strict").code == 0
    assert {path: state.check("cat-file", "blob", f"{tree}:{path}").out for path in paths} == paths


def test_a_packed_history_is_continued(state: StateRepository) -> None:
    head = add(state, None, "a/b", "a/c")
    state.check("repack", "-a", "-d", "-q")
    state.check("pack-refs", "--all", "--prune")
    last = add(state, head, "a/d")
    assert tree(state) == ["a/b", "a/c", "a/d"]
    assert state.check("rev-parse", f"{last}^").text == head


def test_without_room_on_the_disk_no_ref_moves(
    state: StateRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = add(state, None, "a")

    def fail(path: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(own_file, "sync", fail)
    with pytest.raises(GitError, match="No space left"):
        add(state, head, "b")
    assert git(state.path, "rev-parse", state.ref) == head
    assert [*(state.path / "objects").glob("*.tmp")] == []


def test_a_commit_can_leave_out_files_and_then_has_no_empty_folders(state: StateRepository) -> None:
    head = add(state, None, "a", "b/c", "b/d/e", "f/g")
    gone = NewCommit("Leave\n", {"h": b"h"}, None, NOW, left_out=("a", "b/d/e", "f/g", "x/y"))
    add_commits(state, state.ref, head, [gone], NOW)
    assert tree(state) == ["b/c", "h"]
    git(state.path, "fsck", "--strict", "--no-dangling")
