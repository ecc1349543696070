"""An agent hears once that its work no longer merges with main, whoever merged, wherever."""

from pathlib import Path

import pytest

from tests.support.ghp import invoke, succeed
from tests.support.git import commit, git, refs
from tests.support.hooks import call, payload
from tests.support.news import LEAD, hear, step
from tests.support.repos import Restored, Site

TEN = "".join(f"{number}\n" for number in range(1, 11))
DO = "Run `ghp agent-update`: it changes nothing here, shows both sides and says what to do."
HEARD = (
    "main moved, and your work no longer merges with it: a.txt (line 2 of your work, line 2 of "
    "main), b.txt (line 1 of your work, lines 1-2 of main). The cause is #3 «Parse» by worker-1. "
    f"{DO}"
)


@pytest.fixture
def two(restored: Restored) -> tuple[Path, Path, Path]:
    """worker-1 works in the first clone, worker-2 has a session in a worktree of the second."""
    one, other = restored(both_work).clones
    return one, other, place_of(other, 2)


def both_work(site: Site) -> None:
    one, other = site.make_clones()
    commit(one, {"a.txt": TEN, "b.txt": "1\n", "c.txt": "1\n"})
    git(one, "push", "--quiet", "origin", "main")
    git(other, "pull", "--quiet", "origin", "main")
    succeed(one, "agent-init", "agent-issue new Parse", "agent-issue new Write", "agent-sync")
    succeed(other, "agent-init", "agent-sync")
    place = started(other, 2, "worker-2")
    assert call("claude", payload("claude-SessionStart-startup", place), place).code == 0
    succeed(place, "agent-sync")
    assert step(place) == ""


def started(clone: Path, number: int, agent: str) -> Path:
    """The worktree of an agent on an issue."""
    succeed(clone, f"agent-start {number} --as {agent}")
    return place_of(clone, number)


def place_of(clone: Path, number: int) -> Path:
    return Path(invoke(f"agent-where {number}", clone).out.strip())


def changed(line: int, text: str) -> str:
    return TEN.replace(f"{line}\n", f"{text}\n", 1)


def merge(clone: Path, **files: str) -> None:
    """worker-1 changes files for #1, and that is merged."""
    place = started(clone, 1, "worker-1")
    commit(place, {f"{name}.txt": text for name, text in files.items()})
    succeed(place, "agent-finish")
    succeed(clone, "agent-merge 1 --unchecked --as @me", "agent-sync")


@pytest.mark.slow
def test_a_session_in_another_clone_hears_once_that_its_work_no_longer_merges(
    two: tuple[Path, Path, Path],
) -> None:
    one, other, place = two
    commit(place, {"a.txt": changed(2, "two")})
    (place / "b.txt").write_text("2\n")
    merge(one, a=changed(2, "deux"), b="3\n4\n", c="3\n")
    before = refs(other, "refs/remotes")
    assert step(place) == ""
    succeed(place, "agent-sync")
    assert step(place) == LEAD + HEARD
    assert refs(other, "refs/remotes") == before
    succeed(place, "agent-sync")
    assert step(place) == ""


@pytest.mark.slow
def test_what_merges_is_no_news_though_both_changed_the_file(
    two: tuple[Path, Path, Path],
) -> None:
    one, _, place = two
    (place / "a.txt").write_text(changed(2, "two"))
    merge(one, a=changed(9, "neuf"), c="3\n")
    succeed(place, "agent-sync")
    assert step(place) == ""


@pytest.mark.slow
def test_whoever_merged_its_own_work_hears_nothing(two: tuple[Path, Path, Path]) -> None:
    one, _, _ = two
    merge(one, a="3\n")
    assert not any("main moved" in line for line in hear(one, "worker-1"))


@pytest.mark.slow
def test_the_same_conflict_is_told_again_only_when_main_changes_it_again(
    two: tuple[Path, Path, Path],
) -> None:
    one, other, place = two
    (place / "a.txt").write_text(changed(2, "two"))
    git(one, "switch", "--quiet", "main")
    heard = []
    for files in ({"a.txt": changed(2, "deux")}, {"c.txt": "3\n"}, {"a.txt": changed(2, "zwei")}):
        commit(one, files)
        git(one, "push", "--quiet", "origin", "main")
        git(other, "fetch", "--quiet")
        succeed(place, "agent-sync")
        heard.append(step(place))
    lines = "a.txt (line 2 of your work, line 2 of main)"
    text = f"{LEAD}main moved, and your work no longer merges with it: {lines}. {DO}"
    assert heard == [text, "", text]


@pytest.mark.slow
def test_of_a_conflict_that_went_away_nothing_is_said(two: tuple[Path, Path, Path]) -> None:
    one, other, place = two
    commit(place, {"b.txt": "2\n"})
    commit(one, {"b.txt": "3\n"})
    git(one, "push", "--quiet", "origin", "main")
    git(other, "fetch", "--quiet")
    succeed(place, "agent-sync")
    git(place, "merge", "--quiet", "--strategy=ours", "--no-edit", "origin/main")
    assert step(place) == ""


@pytest.mark.slow
def test_the_others_of_a_clone_hear_of_a_merge_from_the_background(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHP_BACKGROUND", "0")
    commit(repo, {"a.txt": TEN})
    succeed(repo, "agent-init", "agent-issue new Parse", "agent-issue new Write")
    place = started(repo, 2, "worker-2")
    assert call("claude", payload("claude-SessionStart-startup", place), place).code == 0
    (place / "a.txt").write_text(changed(2, "two"))
    work = started(repo, 1, "worker-1")
    commit(work, {"a.txt": changed(2, "deux")})
    succeed(work, "agent-finish")
    step(place)
    succeed(repo, "agent-merge 1 --unchecked --as @me", "agent-sync --background")
    assert step(place) == (
        f"{LEAD}main moved, and your work no longer merges with it: a.txt (line 2 of your work, "
        f"line 2 of main). The cause is #3 «Parse» by worker-1. {DO}"
    )
    assert step(place) == ""
    short = "No longer merges with main in a.txt: `ghp agent-update` shows both sides."
    assert f"worker-2: {short}\n" in invoke("agent-status", repo).err
    assert f"- {short}\n" in invoke("agent-resume", place).out


@pytest.mark.slow
def test_where_git_cannot_tell_files_that_both_changed_are_named(
    two: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _, place = two
    (place / "a.txt").write_text(changed(2, "two"))
    merge(one, a=changed(9, "neuf"))
    monkeypatch.setattr("ghp_agents.conflicts.service.MERGE_TREE", (99,))
    succeed(place, "agent-sync")
    assert step(place) == (
        f"{LEAD}main moved: #3 «Parse» by worker-1 changed 1 file that you changed, too: a.txt. To "
        "get it now, run `ghp agent-update`."
    )


@pytest.mark.slow
def test_a_left_over_worktree_of_a_closed_issue_is_in_nobodys_way(
    two: tuple[Path, Path, Path],
) -> None:
    one, other, place = two
    (place / "b.txt").write_text("2\n")
    merge(one, b="3\n4\n")
    succeed(place, "agent-sync")
    assert "No longer merges with main" in invoke("agent-status", other).err
    git(other, "fetch", "--quiet")
    assert "worker-2" in invoke("agent-conflicts", other).out
    succeed(other, "agent-issue close 2 --reason Merged --as @me", "agent-sync")
    assert "No longer merges with main" not in invoke("agent-status", other).err
    assert invoke("agent-conflicts --json", other).code == 0
    assert "worker-2" not in invoke("agent-conflicts", other).out
    assert "main moved" not in step(place)
