"""A copy of a clone, and a second life of a name, have nothing of what the first one holds."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.claims import service as claim
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import AgentName
from ghp_agents.guard import evaluate as ruling
from ghp_agents.leases import service as leases
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.presence import service as presence
from ghp_agents.state.private_repo import find_repository
from tests.support import repos
from tests.support.claimants import Claimant
from tests.support.clock import ManualClock
from tests.support.holding import holds
from tests.support.taking import take

STAGING = LeaseRequest(name="staging-db", strict=True)


@pytest.fixture
def original(clone: Path) -> Claimant:
    """worker-1, which holds #1 and a strict lease of staging-db."""
    worker = Claimant(clone, "worker-1", ManualClock())
    worker.new("Parse the input")
    worker.claim(1)
    take(worker.parts, STAGING)
    worker.sync()
    return worker


def copied(original: Claimant, name: str = "copy") -> Claimant:
    """The same agent in a copy of its clone."""
    folder = original.ws.folder
    to = Path(shutil.copytree(folder, folder.with_name(name), symlinks=True))
    return Claimant(to, original.name, original.clock)


def check(one: Claimant) -> str:
    """What `agent-check` says of an edit."""
    (verdict,) = ruling.judge(one.parts, AgentName(one.name), ["parse.py"])
    return verdict.kind if verdict.is_refused else "allowed"


@pytest.mark.slow
def test_a_copied_clone_holds_nothing_from_the_beginning(original: Claimant) -> None:
    copy = copied(original)
    assert (holds(copy), check(copy)) == (False, "fenced")
    assert (holds(original), check(original)) == (True, "allowed")


@pytest.mark.slow
def test_the_agent_in_a_copied_clone_is_told_where_its_claim_is(original: Claimant) -> None:
    copy = copied(original)
    with pytest.raises(RefusedError) as caught:
        claim.verify(copy.parts, "worker-1", 1)
    assert str(caught.value) == (
        f"#1 is claimed by worker-1 in another clone since {original.locks.known()[0].acquired_at}"
        ", not in this one."
    )
    assert caught.value.hint == (
        "Continue in the other clone. If this clone is a copy and the other is gone, take "
        "over: `ghp agent-claim 1 --steal --reason TEXT`."
    )
    assert copy.claim(1, steal=True, reason="the other clone is gone").how == "steal"
    assert (holds(copy), holds(original)) == (True, False)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["the copy", "the original"])
def test_after_syncs_the_original_still_holds_and_the_copy_does_not(
    original: Claimant, first: str
) -> None:
    copy = copied(original)
    pair = (copy, original) if first == "the copy" else (original, copy)
    for one in (*pair, *pair):
        one.beat(lastAction="Works")
        one.sync()
    assert (holds(copy), check(copy)) == (False, "fenced")
    assert (holds(original), check(original)) == (True, "allowed")


@pytest.mark.slow
def test_the_copy_neither_gives_back_nor_takes_a_strict_lease(original: Claimant) -> None:
    copy = copied(original)
    with pytest.raises(RefusedError, match="staging-db is leased by worker-1"):
        take(copy.parts, STAGING)
    with pytest.raises(RefusedError, match="and worker-1 is still running"):
        leases.release(copy.parts, name="staging-db")
    assert not take(original.parts, STAGING).is_new


@pytest.mark.slow
def test_a_moved_clone_is_the_same_clone(original: Claimant, tmp_path: Path) -> None:
    shutil.move(original.ws.folder, tmp_path / "moved")
    moved = Claimant(tmp_path / "moved", "worker-1", original.clock)
    assert (holds(moved), check(moved)) == (True, "allowed")
    moved.sync()
    assert holds(moved)


@pytest.mark.slow
def test_a_clone_that_was_copied_to_another_disk_and_deleted_was_moved(original: Claimant) -> None:
    copy = Path(shutil.copytree(original.ws.folder, original.ws.folder.with_name("disk2")))
    shutil.rmtree(original.ws.folder)
    moved = Claimant(copy, "worker-1", original.clock)
    assert (holds(moved), check(moved)) == (True, "allowed")


@pytest.mark.slow
def test_a_copy_of_a_moved_clone_is_noticed_too(original: Claimant, tmp_path: Path) -> None:
    shutil.move(original.ws.folder, tmp_path / "moved")
    moved = Claimant(tmp_path / "moved", "worker-1", original.clock)
    moved.sync()
    copy = copied(moved, "copy-of-moved")
    assert (holds(copy), holds(moved)) == (False, True)


@pytest.mark.slow
def test_a_copy_from_another_machine_parts_when_they_meet(original: Claimant) -> None:
    copy = copied(original)
    repos.from_elsewhere(copy.ws.folder)
    original.beat(lastAction="Works")
    original.sync()
    copy.beat(lastAction="Works, too")
    copy.sync()
    ids = [find_repository(one.ws) for one in (original, copy)]
    assert ids[0]
    assert ids[1]
    assert ids[0].clone != ids[1].clone
    assert (holds(copy), holds(original)) == (False, True)


@pytest.mark.slow
def test_one_name_in_two_clones_is_two_holders(
    original: Claimant, clones: Callable[[int], list[Path]]
) -> None:
    (folder,) = clones(1)
    other = Claimant(folder, "worker-1", original.clock)
    other.sync()
    assert not holds(other)
    with pytest.raises(
        RefusedError,
        match=r"worker-1 is at work in another clone .*\. Two agents cannot have one name",
    ):
        other.claim(1)
    with pytest.raises(RefusedError, match="staging-db is leased by worker-1"):
        take(other.parts, STAGING)
    with pytest.raises(RefusedError, match="and worker-1 is still running"):
        leases.release(other.parts, name="staging-db")
    assert holds(original)


def test_an_agent_that_is_started_again_in_its_clone_keeps_what_it_has(original: Claimant) -> None:
    before = original.presence["epoch"]
    original.beat(status="stopped")
    (original.ws.ghp_dir / "agents/worker-1.json").unlink()
    original.beat(status="idle")
    assert original.presence["epoch"] > before
    assert holds(original)
    assert not take(original.parts, STAGING).is_new


@pytest.mark.slow
def test_a_copy_from_elsewhere_believes_the_original_of_who_goes_on_only_there(
    original: Claimant,
) -> None:
    copy = copied(original)
    repos.from_elsewhere(copy.ws.folder)
    original.clock.wait(60)
    original.beat(lastAction="Works")
    original.sync()
    copy.sync()
    (seen,) = presence.list_agents(copy.parts, copy.store.snapshot())
    assert (seen.presence["lastAction"], seen.is_here) == ("Works", False)
    assert (holds(copy), check(copy)) == (False, "fenced")
    original.clock.wait(60)
    copy.beat(lastAction="Works in the copy")
    (seen,) = presence.list_agents(copy.parts, copy.store.snapshot())
    assert (seen.presence["lastAction"], seen.is_here) == ("Works in the copy", True)
    assert (holds(copy), check(copy)) == (False, "fenced")
    assert (holds(original), check(original)) == (True, "allowed")
