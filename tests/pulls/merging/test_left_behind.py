"""What agents do after they have finished is listed until something else has it."""

from pathlib import Path

import pytest

from ghp_agents.core import moment
from ghp_agents.core.finding import warning
from ghp_agents.handoffs import left_work
from ghp_agents.handoffs.service import handoff
from ghp_agents.hotpath.quoting import path_word
from ghp_agents.pulls.merging import left_behind
from tests.support.ghp import invoke
from tests.support.git import commit, git
from tests.support.repos import Restored
from tests.support.road import Road, merged, with_pull

BRANCH = "agent/worker-1/1-parse-files"
SAVES = "ghp agent-handoff --issue 1 --as worker-1"


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(with_pull).repo)


def left(road: Road) -> list[tuple[str, str, str]]:
    """How much is left, what, and what saves it."""
    house = road.house("@me").offline
    found = left_behind.find(house, house.store.snapshot())
    return [(x.amount, x.details, x.command) for x in found]


def change(place: Path) -> None:
    """A changed, a staged, a deleted and some new files."""
    (place / "a.txt").write_text("two\n")
    (place / "new").mkdir()
    for name in ("new/b.txt", "new/c.txt", "d.txt"):
        (place / name).write_text(f"{name}\n")
    git(place, "add", "d.txt")


@pytest.mark.slow
def test_files_changed_after_a_finish_are_all_counted_before_and_after_the_merge(
    road: Road,
) -> None:
    assert left(road) == []
    change(road.work)
    names = "a.txt, d.txt, new/b.txt, new/c.txt"
    assert left(road) == [("4 files", f"{names}: not in #2", SAVES)]
    merged(road.merge(2))
    assert left(road) == [("4 files", f"{names}: #1 is merged", SAVES)]
    git(road.work, "reset", "--quiet", "--hard")
    git(road.work, "clean", "--quiet", "-df")
    assert left(road) == []


@pytest.mark.slow
def test_a_handoff_of_the_agent_ends_the_list_and_one_by_this_clone_does_not(road: Road) -> None:
    change(road.work)
    merged(road.merge(2))
    (saved,) = left_work.save_of(road.house("@me"), "worker-1")
    assert [x[1].partition("; ")[2] for x in left(road)] == [f"{saved.handoff.name} has a copy"]
    done = invoke(SAVES.removeprefix("ghp "), road.folder, clock=road.clock)
    assert "with 4 uncommitted files" in done.err
    assert left(road) == []
    (road.work / "a.txt").write_text("three\n")
    assert [x[0] for x in left(road)] == ["4 files"]


def test_what_a_handoff_may_not_store_stays_on_the_list(road: Road) -> None:
    (road.work / "id_rsa").write_text("secret\n")
    (road.work / "b.txt").write_text("two\n")
    handoff(road.house("worker-1", road.work), issue="1")
    assert [x[:2] for x in left(road)] == [("1 file", "id_rsa: not in #2")]


@pytest.mark.slow
def test_commits_on_a_detached_head_and_on_the_branch_are_listed(road: Road) -> None:
    place = road.work
    commit(place, {"b.txt": "two\n"})
    then = f"cd {place} && ghp agent-finish"
    assert left(road) == [("1 commit", f"on {BRANCH}: not in #2", then)]
    git(place, "reset", "--quiet", "--hard", "HEAD^")
    git(place, "checkout", "--quiet", "--detach")
    oid = commit(place, {"b.txt": "other\n"})
    (place / "c.txt").write_text("three\n")
    details = f"c.txt, commit {oid[:12]}, which no branch has: not in #2"
    assert left(road) == [("1 file and 1 commit", details, SAVES)]
    invoke(SAVES.removeprefix("ghp "), road.folder, clock=road.clock)
    ((amount, _, command),) = left(road)
    assert amount == "1 commit"
    git(road.folder, *command.split()[1:])
    assert left(road) == []


def test_a_merge_names_the_worktree_that_has_left_the_branch(road: Road) -> None:
    git(road.work, "checkout", "--quiet", "--detach")
    oid = commit(road.work, {"b.txt": "other\n"})
    (note,) = merged(road.merge(2)).notes
    assert note.startswith(
        f"Kept the worktree {road.work}: worker-1 left 1 commit (commit {oid[:12]}"
    )
    assert f"git branch worker-1-1-{oid[:7]} {oid[:12]}" in note


@pytest.mark.slow
def test_work_in_progress_and_work_on_what_was_sent_back_are_not_listed(road: Road) -> None:
    road.issue("Another")
    (road.start("worker-1", 3).path / "b.txt").write_text("two\n")
    assert left(road) == []
    change(road.work)
    sent_back = ["agent-review", "2", "--request-changes", "Test it", "--as", "@me"]
    assert "attention: it left 4 files" in invoke("agent-status", road.folder).out
    invoke(sent_back, road.folder, clock=road.clock)
    assert "it left" not in invoke("agent-status", road.folder).out


@pytest.mark.slow
def test_every_command_that_lists_what_waits_names_the_files_and_what_saves_them(
    road: Road,
) -> None:
    change(road.work)
    merged(road.merge(2))
    for words in (
        "agent-status worker-1",
        "agent-report",
        "agent-doctor",
        "agent-sweep --prune --as @me",
    ):
        done = invoke(words, road.folder, clock=road.clock)
        shown = " ".join((done.out + done.err).split())
        assert "4 files" in shown, words
        assert "a.txt, d.txt, new/b.txt, new/c.txt" in shown, words
        assert SAVES in shown, words
    assert SAVES in invoke("agent-status", road.folder, clock=road.clock).out
    assert road.work.is_dir()


@pytest.mark.slow
def test_what_was_left_is_named_with_the_command_that_saves_it(restored: Restored) -> None:
    road = Road(restored(with_pull).repo)
    house = road.house("@me").offline
    assert list(left_behind.check(house)) == []
    (road.work / "new.txt").write_text("x\n")
    moment.end()
    place = path_word(str(road.work))
    assert list(left_behind.check(house)) == [
        warning(
            "left-work",
            f"worker-1 left 1 file in {place}: new.txt: not in #2.",
            "Save it: ghp agent-handoff --issue 1 --as worker-1",
        )
    ]


@pytest.mark.slow
def test_what_main_or_a_remote_has_is_not_left_and_no_handoff_has_a_copy_of_a_repository(
    road: Road, tmp_path: Path
) -> None:
    change(road.work)
    (road.work / "own.txt").write_text("x\n")
    merged(road.merge(2))
    road.put({"a.txt": "two\n", "new/b.txt": "new/b.txt\n", "d.txt": "d.txt\n"})
    assert left(road) == [("2 files", "new/c.txt, own.txt: #1 is merged", SAVES)]
    git(road.work, "add", "--all")
    git(road.work, "stash", "--quiet")
    stays = ("1 stash", "a stash stays in this clone: #1 is merged", "git stash list")
    assert left(road) == [stays]
    git(road.work, "stash", "drop", "--quiet")
    git(road.folder, "init", "--quiet", str(road.work / "nested"))
    commit(road.work / "nested", {"x.txt": "x\n"})
    left_work.save_of(road.house("@me"), "worker-1")
    details = "nested, which no handoff stores: #1 is merged"
    then = f"cd {road.work / 'nested'} && git add --all && git commit && git push"
    assert left(road) == [("1 repository in it", details, then)]


@pytest.mark.slow
def test_commits_that_only_a_checkpoint_stores_are_listed_until_they_were_sent(
    road: Road, tmp_path: Path
) -> None:
    git(road.folder, "init", "--quiet", "--bare", str(tmp_path / "hub"))
    git(road.folder, "remote", "add", "origin", str(tmp_path / "hub"))
    git(road.folder, "push", "--quiet", "origin", "main", BRANCH)
    merged(road.merge(2))
    commit(road.work, {"late.txt": "late\n"})
    ((amount, _, command),) = left(road)
    assert (amount, command) == ("1 commit", f"git push origin {BRANCH}")
    git(road.folder, *command.split()[1:])
    assert left(road) == []
