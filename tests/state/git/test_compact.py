"""A compaction in git: one commit, which the history keeps whole."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.state.join import Settled
from tests.contracts.absorption import joined
from tests.contracts.state_store import exchange, say
from tests.state.clones import GitField, private
from tests.support.git import git

GONE = Settled(frozenset({".ghp/notes/a.md", ".ghp/notes/b.md"}), frozenset({".ghp/notes/c.md"}))


@pytest.fixture
def field(remote: Path, clones: Callable[[int], list[Path]], repo: Path) -> GitField:
    return GitField(remote, clones, repo)


def paths(folder: Path) -> list[str]:
    """The paths at a clone's tip."""
    state = private(folder)
    return git(state.path, "ls-tree", "-r", "--name-only", state.ref).splitlines()


@pytest.mark.slow
def test_settled_records_leave_the_tip_and_are_in_its_history(field: GitField) -> None:
    one, other = field.store(0), field.store(1)
    say(field, one, "a", "d")
    say(field, other, "b", "c")
    exchange([one, other])
    before = joined(one)
    assert (one.compact([GONE]), one.compact([GONE])) == (1, 0)
    assert paths(field.folder(0)) == [".ghp/notes/d.md", ".ghp/settled.json"]
    state = private(field.folder(0))
    assert git(state.path, "ls-tree", "-r", "--name-only", f"{state.ref}^2") == ".ghp/notes/a.md"
    assert git(state.path, "log", "-1", "--format=%s", state.ref) == "compact 1 settled record"
    exchange([one, other])
    assert other.compact([GONE]) == 2
    assert one.sync().trouble is None
    exchange([one, other])
    assert joined(one) == joined(other) == before
    assert list(one.snapshot().present(".ghp/notes/")) == [".ghp/notes/d.md"]
    assert list(one.snapshot().settled([".ghp/notes/"])) == [f".ghp/notes/{x}.md" for x in "abc"]
    git(state.path, "fsck", "--strict", "--no-dangling")


def test_a_new_record_has_a_higher_clock_than_before_the_compaction(field: GitField) -> None:
    one = field.store(0)
    say(field, one, "a")
    clock = one.snapshot().clock
    one.compact([GONE])
    assert one.snapshot().clock == clock
    say(field, one, "e")
    assert [entry.object for entry in one.ledger()] == ["N-a", "N-e"]


def test_a_clone_without_commits_has_nothing_to_compact(field: GitField) -> None:
    assert field.store(0).compact([GONE]) == 0


def test_a_clone_that_names_a_missing_commit_is_a_problem_and_hides_nothing(
    field: GitField,
) -> None:
    one = field.store(0)
    say(field, one, "a", "d")
    state = private(field.folder(0))
    text = '{"commits": ["%s"]}' % ("1" * 40)
    blob = git(state.path, "hash-object", "-w", "--stdin", stdin=text)
    notes = git(state.path, "rev-parse", f"{state.ref}:.ghp/notes")
    inner = git(
        state.path,
        "mktree",
        stdin=f"040000 tree {notes}\tnotes\n100644 blob {blob}\tsettled.json\n",
    )
    outer = git(state.path, "mktree", stdin=f"040000 tree {inner}\t.ghp\n")
    odd = git(state.path, "commit-tree", outer, "-p", state.ref, stdin="Odd")
    git(state.path, "update-ref", state.ref, odd)
    snapshot = field.store(0).snapshot()
    assert list(snapshot.files(".ghp/notes/")) == [".ghp/notes/a.md", ".ghp/notes/d.md"]
    (problem,) = snapshot.problems()
    assert problem.reason == f"its commit {'1' * 40} is missing"
