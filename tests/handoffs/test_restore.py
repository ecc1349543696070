"""Stored work comes back whole into a clean worktree, or nothing is changed and the way is told."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import ExitCode, NotSetUpError
from ghp_agents.handoffs.record import PATCHES, patch_path_of
from ghp_agents.handoffs.restore import NotRestoredError, Restored
from ghp_agents.state.record import Record
from tests.support.git import commit, git
from tests.support.handoffs import Station, begin_work, make_team

Worktree = Callable[[Path, str], Path]


@pytest.fixture
def here(repo: Path) -> Station:
    """worker-1 on its branch for #2, with a file of eight lines."""
    begin_work(repo)
    commit(repo, {"a": "1\n2\n3\n4\n5\n6\n7\n8\n"})
    return make_team().at(repo)


def next_one(here: Station, folder: Path) -> Station:
    return here.team.at(folder, "worker-2")


def fresh(here: Station, commit_id: str = "HEAD") -> Path:
    """A new worktree at the same commit."""
    path = here.folder.parent / "fresh"
    git(here.folder, "worktree", "add", "--quiet", "--detach", str(path), commit_id)
    return path


def refused(station: Station, **words: object) -> NotRestoredError:
    """Why the work cannot be restored; nothing may have changed."""
    before = git(station.folder, "status", "--porcelain")
    count = len(station.team.store.ledger())
    with pytest.raises(NotRestoredError) as caught:
        station.restore(**words)
    assert caught.value.exit_code == ExitCode.ERROR
    assert git(station.folder, "status", "--porcelain") == before
    assert len(station.team.store.ledger()) == count
    return caught.value


# ------------------------------------------------------------------------------ it comes back


def test_on_its_own_commit_only_files_change(here: Station) -> None:
    (here.folder / "a").write_text("changed\n")
    (here.folder / "new").write_bytes(b"\0\1")
    handoff = here.hand_over(to="worker-2").handoff
    path = fresh(here)
    restored = next_one(here, path).restore(issue="2")
    assert handoff.work
    assert restored == Restored(handoff, handoff.work, three_way=False)
    assert git(path, "status", "--porcelain").splitlines() == [" M a", "?? new"]
    assert ((path / "a").read_text(), (path / "new").read_bytes()) == ("changed\n", b"\0\1")


@pytest.mark.slow
def test_that_it_was_restored_is_known_to_all(here: Station) -> None:
    (here.folder / "new").write_text("x\n")
    handoff = here.hand_over(to="worker-2").handoff
    station = next_one(here, fresh(here))
    assert "Restore the uncommitted work (1 file)" in station.resume(issue="2").text
    station.restore(issue="2")
    entry = here.team.store.ledger()[-1]
    assert (entry.event, entry.actor, entry.object, entry.issue) == (
        "resume-apply", "worker-2", handoff.name, 2,
    )  # fmt: skip
    files = here.team.store.snapshot().files(f"{PATCHES}{handoff.id}/")
    content = next(data for path, data in files.items() if path.endswith(".json"))
    assert json.loads(content) == {
        "schemaVersion": 1,
        "handoff": handoff.name, "by": "worker-2", "person": False, "at": "2025-06-15T15:06:40Z",
        "threeWay": False, "conflicts": [],
    }  # fmt: skip
    text = here.resume().text
    assert "Agent worker-2 restored it at 2025-06-15T15:06:40Z." in text
    assert "Restore the uncommitted work" not in text


@pytest.mark.slow
def test_work_that_is_in_the_worktree_is_not_to_be_restored(here: Station) -> None:
    step = "Restore the uncommitted work"
    (here.folder / "new").write_text("x\n")
    here.hand_over(checkpoint=True)
    (here.folder / "new").write_text("more\n")  # the agent went on since
    assert step not in here.resume(issue="2").text
    station = next_one(here, fresh(here))
    assert step in station.resume(issue="2").text
    (station.folder / "other").write_text("y\n")  # not the work of the handoff
    assert step in station.resume(issue="2").text
    (station.folder / "new").write_text("x\n")  # the same as in the handoff
    assert step not in station.resume(issue="2").text
    git(station.folder, "add", "--all")
    git(station.folder, "commit", "--quiet", "-m", "Keep it")
    assert step not in station.resume(issue="2").text


def test_work_before_the_first_commit_comes_back(tmp_path: Path) -> None:
    team = make_team()
    for name in ("old", "new"):
        git(tmp_path, "init", "--quiet", name)
    (tmp_path / "old/a").write_text("a\n")
    team.at(tmp_path / "old").hand_over(issue="2")
    assert not team.at(tmp_path / "new", "worker-2").restore(issue="2").three_way
    assert (tmp_path / "new/a").read_text() == "a\n"


def test_an_earlier_handoff_can_be_chosen(here: Station) -> None:
    (here.folder / "new").write_text("first\n")
    first = here.hand_over(checkpoint=True).handoff
    (here.folder / "new").unlink()
    here.hand_over(checkpoint=True)
    assert "has no uncommitted work stored; none was found when it was written." in str(
        refused(here)
    )
    here.restore(handoff=first.name)
    assert (here.folder / "new").read_text() == "first\n"


def test_a_subfolder_is_as_good_a_place(here: Station) -> None:
    (here.folder / "d").mkdir()
    (here.folder / "d/new").write_text("x\n")
    here.hand_over(to="worker-2")
    path = fresh(here)
    (path / "sub").mkdir()
    next_one(here, path / "sub").restore(issue="2")
    assert (path / "d/new").read_text() == "x\n"


# ------------------------------------------------------------------------------ it is merged


def test_on_another_commit_it_is_merged(here: Station) -> None:
    (here.folder / "a").write_text("1\n2\n3\n4\n5\n6\n7\neight\n")
    here.hand_over(to="worker-2")
    path = fresh(here)
    commit(path, {"a": "one\n2\n3\n4\n5\n6\n7\n8\n"})
    restored = next_one(here, path).restore(issue="2")
    assert (restored.three_way, restored.conflicts) == (True, ())
    assert (path / "a").read_text() == "one\n2\n3\n4\n5\n6\n7\neight\n"


@pytest.mark.slow
def test_what_meets_other_changes_is_left_with_both_versions(here: Station) -> None:
    (here.folder / "a").write_text("mine\n")
    (here.folder / "b").write_text("b\n")
    here.hand_over(to="worker-2")
    path = fresh(here)
    commit(path, {"a": "theirs\n"})
    station = next_one(here, path)
    restored = station.restore(issue="2")
    assert restored.conflicts == ("a",)
    assert (path / "a").read_text() == "<<<<<<< ours\ntheirs\n=======\nmine\n>>>>>>> theirs\n"
    assert (path / "b").read_text() == "b\n"
    assert here.team.store.ledger()[-1].text == "with 1 conflict"
    assert "is not clean (2 uncommitted paths: `a`, `b`)" in str(refused(station, issue="2"))


# ------------------------------------------------------------------------------ it is refused


@pytest.mark.slow
def test_twice_is_refused_clearly(here: Station) -> None:
    (here.folder / "new").write_text("x\n")
    handoff = here.hand_over(to="worker-2").handoff
    assert str(refused(here)) == f"The work of {handoff.name} is already applied here."
    station = next_one(here, fresh(here))
    station.restore(issue="2")
    assert str(refused(station, issue="2")).endswith("is already applied here.")
    git(station.folder, "add", "--all")
    git(station.folder, "commit", "--quiet", "-m", "Keep it")
    assert str(refused(station, issue="2")).endswith("is already applied here.")


@pytest.mark.sample(1)
@pytest.mark.parametrize("dirt", ["changed", "staged", "new", "deleted"])
def test_a_worktree_that_is_not_clean_is_left_alone(here: Station, dirt: str) -> None:
    (here.folder / "a").write_text("changed\n")
    here.hand_over(to="worker-2")
    path = fresh(here)
    match dirt:
        case "changed":
            (path / "README.md").write_text("mine\n")
        case "staged":
            (path / "mine").write_text("mine\n")
            git(path, "add", "mine")
        case "new":
            (path / "mine").write_text("mine\n")
        case "deleted":
            (path / "README.md").unlink()
    error = refused(next_one(here, path), issue="2")
    name = "README.md" if dirt in ("changed", "deleted") else "mine"
    assert str(error) == f"This worktree is not clean (1 uncommitted path: `{name}`)."
    assert "git worktree add ../NAME" in error.hint


def test_ignored_files_do_not_count_as_dirt_but_are_never_overwritten(here: Station) -> None:
    (here.folder / "build").write_text("stored\n")
    here.hand_over(to="worker-2")
    path = fresh(here)
    commit(path, {".gitignore": "build\nother\n"})
    (path / "other").write_text("mine\n")
    (path / "build").write_text("mine\n")
    error = refused(next_one(here, path), issue="2")
    assert "build" in str(error)
    assert (path / "build").read_text() == "mine\n"


def test_into_the_worktree_of_another_issue_it_is_noticed(
    here: Station, worktree: Worktree
) -> None:
    (here.folder / "new").write_text("x\n")
    here.hand_over(to="worker-2")
    other = next_one(here, worktree(here.folder, "worker-2/3-other"))
    assert other.restore(issue="2").other_issue == 3


@pytest.mark.slow
def test_in_the_middle_of_something_it_is_refused(here: Station) -> None:
    (here.folder / "a").write_text("changed\n")
    here.hand_over(to="worker-2")
    path = fresh(here)
    other = commit(path, {"b": "1\n"})
    git(path, "checkout", "--quiet", "HEAD~1")
    commit(path, {"c": "1\n"})
    git(path, "merge", "--quiet", "--no-commit", "--no-ff", other)
    git(path, "rm", "--quiet", "--force", "b")
    assert str(refused(next_one(here, path), issue="2")) == (
        "This worktree is not clean (in the middle of a merge)."
    )


def test_a_commit_that_is_not_here_is_named_with_the_way_to_get_it(
    clones: Callable[[int], list[Path]],
) -> None:
    mine, theirs = clones(2)
    begin_work(mine)
    team = make_team()
    base = commit(mine, {"a": "1\n"})
    (mine / "a").write_text("2\n")
    team.at(mine).hand_over(checkpoint=True)
    error = refused(team.at(theirs, "worker-2"), issue="2")
    assert str(error) == (
        f"This clone does not have commit {base[:12]}, on branch agent/worker-1/2-dashboard, "
        "on which the work is based."
    )
    assert error.hint == (
        "Run `git fetch origin agent/worker-1/2-dashboard`. If that fails, worker-1 must push it "
        "first."
    )


def test_work_that_does_not_fit_says_where_it_does(here: Station) -> None:
    base = git(here.folder, "rev-parse", "HEAD")
    (here.folder / "a").write_text("changed\n")
    handoff = here.hand_over(to="worker-2").handoff
    git(here.folder, "checkout", "--quiet", "--force", "HEAD")
    git(here.folder, "rm", "--quiet", "a")
    git(here.folder, "commit", "--quiet", "-m", "Remove it")
    error = refused(next_one(here, here.folder), issue="2")
    assert str(error) == (
        f"The work of {handoff.name} does not apply to this commit: a: does not exist in index."
    )
    assert f"It applies to branch agent/worker-1/2-dashboard, commit {base[:12]}" in error.hint
    assert f"`git worktree add --detach ../restored {base[:12]}`" in error.hint


def test_without_a_handoff_there_is_nothing_to_restore(here: Station) -> None:
    assert str(refused(here)) == "There is no handoff to restore from."


def test_where_all_was_left_out_that_is_said(here: Station) -> None:
    (here.folder / ".env").write_text("A=1\n")
    here.hand_over()
    assert "has no uncommitted work stored: none of it could be stored." in str(refused(here))


def test_a_bare_repository_is_no_place_to_restore_into(remote: Path) -> None:
    station = make_team().at(remote)
    with pytest.raises(NotSetUpError):
        station.restore(issue="2")


@pytest.mark.parametrize("fate", ["missing", "changed"])
def test_a_patch_that_is_not_the_one_stored_is_never_applied(here: Station, fate: str) -> None:
    (here.folder / "new").write_text("x\n")
    handoff = here.hand_over(to="worker-2").handoff
    path = fresh(here)
    station = next_one(here, path)
    place = patch_path_of(handoff)
    if fate == "changed":
        evil = b"diff --git a/x b/x\n" + b"z" * 500  # greater, so it wins the join
        record = Record("handoff", handoff.by, handoff.name, "x", handoff.at, 99, ((place, evil),))
        here.team.store.commit([record], here.team.store.snapshot().revision)
        assert "does not match its checksum." in str(refused(station, issue="2"))
    else:
        from ghp_agents.handoffs.record import path_of, render

        other = make_team()
        document = ((path_of(handoff), render(handoff, "")),)
        record = Record("handoff", handoff.by, handoff.name, "x", handoff.at, 1, document)
        other.store.commit([record], other.store.snapshot().revision)
        error = refused(other.at(path, "worker-2"), issue="2")
        assert str(error) == f"This clone does not have the patch of {handoff.name}."
