"""A commit that was taken out of main does not come back with a branch that still has it."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.escalations import service as escalation
from ghp_agents.leases import settled_questions
from ghp_agents.pulls.branches import branch_records, rewritten_main
from ghp_agents.pulls.merging.merge_batch import Passed
from tests.support.ghp import invoke
from tests.support.git import commit, git
from tests.support.repos import Restored, Site
from tests.support.road import Road

BRANCH = "agent/worker-1/1-parse-files"


def rewritten(site: Site) -> None:
    """worker-1 has a pull request that began before a commit was taken out of main."""
    road = Road(site.make_clones()[0])
    road.issue()
    road.put({"secret.env": "KEY=1\n"}, "A mistake")
    road.done("worker-1", 1, {"a.txt": "a\n"})
    road.sync()
    git(road.folder, "reset", "--quiet", "--hard", "HEAD^")
    commit(road.folder, {"fine.txt": "fine\n"}, "Without the mistake")
    git(road.folder, "push", "--quiet", "--force", "origin", "main")


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(rewritten).clones[0])


def refused(road: Road) -> RefusedError:
    with pytest.raises(RefusedError) as error:
        road.finish("worker-1", road.work)
    return error.value


def open_questions(road: Road) -> list[str]:
    house = road.house("@me")
    return [x.name for x in settled_questions.read(house.world) if x.is_open]


@pytest.mark.slow
def test_finish_and_queue_refuse_it_until_the_branch_is_without_it(
    road: Road, tmp_path: Path
) -> None:
    error = refused(road)
    oid = git(road.work, "rev-parse", "HEAD^")[:12]
    assert str(error) == (
        f"main was rewritten: 1 commit that is still in {BRANCH} was removed from it: {oid} "
        "«A mistake». Nothing was changed."
    )
    (skipped,) = road.queue()
    assert isinstance(skipped, Passed)
    assert (skipped.why, skipped.hint) == (str(error), error.hint)
    with pytest.raises(RefusedError, match="main was rewritten"):
        road.merge(2)
    shown = invoke("agent-pull show 2", road.folder, clock=road.clock).out.splitlines()
    assert f"fits main: no, it has commits that were removed from main: {oid}" in shown
    assert [line for line in shown if "waits" in line] == [f"waits for: {open_questions(road)[0]}"]
    updating = invoke("agent-update", road.work, {"GHP_AGENT": "worker-1"}, clock=road.clock)
    assert (updating.code, str(error) in updating.err) == (3, True)
    road.sync()
    git(tmp_path, "clone", "--quiet", str(road.remote), "other")
    other = Road(tmp_path / "other", road.clock)
    other.sync()
    steps, head = error.hint.split("`"), git(road.work, "rev-parse", "HEAD")
    git(road.work, *steps[1].removeprefix("git ").split())
    assert (open_questions(road), len(open_questions(other))) == ([], 1)
    assert steps[3] == "ghp agent-finish"
    road.finish("worker-1", road.work)
    road.sync()
    other.sync()
    assert open_questions(other) == [], "it knows the branch as it was"
    git(road.work, "branch", "--quiet", "fine")
    git(road.work, "reset", "--quiet", "--hard", head)
    again = refused(road).hint.split("`")[5].split()[2]
    assert open_questions(road) == [again]
    git(road.work, "reset", "--quiet", "--hard", "fine")
    road.finish("worker-1", road.work)
    assert [type(outcome).__name__ for outcome in road.queue()] == ["Merged"]
    assert road.trunk == ["README.md", "a.txt", "fine.txt"]


@pytest.mark.slow
def test_only_a_person_lets_it_come_back(road: Road) -> None:
    name = refused(road).hint.split("`")[5].split()[2]
    house = road.house("worker-2")
    escalation.answer(house, name, "approve")
    assert "a person refused" not in str(refused(road)), "an agent's answer is advice"
    escalation.answer(road.house("@me"), name, "refuse")
    assert str(refused(road)).endswith(f", and a person refused it: {name}.")
    escalation.answer(road.house("@me"), name, "approve")
    road.finish("worker-1", road.work)
    assert [type(outcome).__name__ for outcome in road.queue()] == ["Merged"]
    assert "secret.env" in road.trunk


@pytest.mark.slow
def test_a_clone_that_never_saw_the_old_main_knows_it_from_the_others(
    road: Road, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", str(road.remote), "fresh")
    (skipped,) = Road(tmp_path / "fresh", road.clock).queue()
    assert isinstance(skipped, Passed)
    assert skipped.why.startswith("main was rewritten: 1 commit that is still in ")


@pytest.mark.slow
def test_another_main_branch_or_one_that_moved_on_takes_nothing_out(restored: Restored) -> None:
    road = Road(restored(rewritten).clones[0])
    house = road.house("@me")
    head = git(road.work, "rev-parse", "HEAD")
    git(road.folder, "merge", "--quiet", "--no-edit", BRANCH)
    trunk = git(road.folder, "rev-parse", "main")
    rewritten_main.refuse(house, "main", trunk, BRANCH, head)
    elsewhere = git(road.folder, "rev-parse", "HEAD^1")
    rewritten_main.refuse(house, "develop", elsewhere, BRANCH, head)
    records = branch_records.read_records(house.store.snapshot().files(branch_records.FOLDER))[0]
    assert [(x.main, x.began_at) for x in records] == [
        ("main", git(road.work, "rev-parse", "HEAD^"))
    ]
