"""Records of rights that a hand wrote, and rights under a bad connection."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from ghp_agents.claims import holder_liveness as claim_sight
from ghp_agents.core.errors import GhpError, RefusedError, UnknownError
from ghp_agents.core.ids import Timestamp
from ghp_agents.issues.numbers import next_number
from ghp_agents.leases import service as leases
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.locks.git import GitLocks
from ghp_agents.locks.lock import Lock, LockMovedError, decode, encode
from tests.contracts.lock_service import at_once
from tests.locks.fields import CloneField
from tests.support.claimants import Claimant
from tests.support.clock import ManualClock
from tests.support.doctor import finding, findings
from tests.support.ghp import invoke
from tests.support.git import commit, git
from tests.support.hosts import hook, workspace
from tests.support.taking import take

Clones = Callable[[int], list[Path]]
AT = Timestamp("2025-06-15T15:06:40Z")
SOURCES = LeaseRequest(patterns=("/src/",), strict=True)
HOUR = 3_600.0


def push_right(clone: Path, lease: Lock, ref: str = "") -> None:
    """What somebody who may push can put in the place of a right."""
    made = commit(clone, {"lease.json": encode(lease).decode()}, "By hand")
    git(clone, "push", "--quiet", "--force", "origin", f"{made}:{ref or 'refs/ghp/lease/'}"
        + ("" if ref else lease.name))  # fmt: skip


# ------------------------------------------------------------------ what a hand put there


def test_a_folder_in_the_place_of_a_right_is_named_with_what_to_do(clones: Clones) -> None:
    here, other = clones(2)
    push_right(other, Lock("issue/1", "mallory", 1, 0, AT, "n"), "refs/ghp/lease/issue/1/x")
    with pytest.raises(GhpError) as caught:
        GitLocks(workspace(here)).acquire("issue/1", "worker-1", expected=None)
    assert str(caught.value) == (
        "refs/ghp/lease/issue/1/x blocks a lock on origin: git cannot have a ref and a folder "
        "of refs with the same name."
    )
    assert caught.value.hint == (
        "This program never creates such a ref. Check it, then delete it: `git push origin "
        ":refs/ghp/lease/issue/1/x`."
    )
    git(here, "push", "--quiet", "origin", ":refs/ghp/lease/issue/1/x")
    assert GitLocks(workspace(here)).acquire("issue/1", "worker-1", expected=None)


@pytest.mark.slow
def test_numbers_at_their_end_are_an_error_that_says_what_to_do(clones: Clones) -> None:
    here, other = clones(2)
    locks = GitLocks(workspace(here))
    assert next_number(locks, "worker-1") == 1
    push_right(other, Lock("numbers", "mallory", 10**9, 0, AT, "n"))
    with pytest.raises(UnknownError) as caught:
        next_number(locks, "worker-1")
    assert "the lock `numbers` has reached its last generation" in str(caught.value)
    assert ":refs/ghp/lease/numbers" in caught.value.hint
    git(here, "push", "--quiet", "origin", ":refs/ghp/lease/numbers")
    assert next_number(GitLocks(workspace(here)), "worker-1", used={1, 2}) == 3


def test_a_right_at_its_end_begins_anew_once_its_ref_is_deleted(clones: Clones) -> None:
    here, other = clones(2)
    locks = GitLocks(workspace(here))
    push_right(other, Lock("issue/1", None, 2**53 - 1, 1, AT, "n"))
    with pytest.raises(RefusedError, match="can no longer be acquired") as caught:
        locks.acquire("issue/1", "worker-1", expected=locks.read("issue/1"))
    assert ":refs/ghp/lease/issue/1" in caught.value.hint
    git(here, "push", "--quiet", "origin", ":refs/ghp/lease/issue/1")
    assert locks.read("issue/1") is None
    assert locks.acquire("issue/1", "worker-1", expected=None).generation == 1


@pytest.mark.slow
def test_a_forged_lease_of_everything_is_freed_by_a_person(clones: Clones) -> None:
    here, other = clones(2)
    worker = Claimant(here, "worker-1", ManualClock())
    forged = Lock("path/0a1b", "Nobody At All", 1, 0, AT, "n", patterns=("*",))
    push_right(other, forged)
    with pytest.raises(RefusedError, match="Nobody At All"):
        take(worker.parts, SOURCES)
    person = Claimant(here, "@me", worker.clock)
    person.sync()
    leases.release(person.parts, ["L-0a1b"], reason="it was forged")
    assert take(worker.parts, SOURCES).is_new


# ------------------------------------------------------------------ who has which record


def test_a_record_names_its_clone_and_its_end() -> None:
    until = Timestamp("2025-06-15T17:06:40Z")
    lease = Lock("path/0a1b", "w", 1, 1, AT, "n", "", "r", ("src/",), clone="c1", until=until)
    fields = json.loads(encode(lease))
    assert (fields["clone"], fields["until"]) == ("c1", until)
    assert decode(encode(lease), "r") == lease


@pytest.mark.parametrize("wrong", [{"until": 7}, {"until": "soon"}, {"clone": 7}, {"clone": []}])
def test_a_record_with_a_clone_or_an_end_that_is_none_is_no_right(wrong: dict[str, object]) -> None:
    fields = json.loads(encode(Lock("issue/1", "w", 1, 1, AT, "n")))
    with pytest.raises(ValueError, match=r"not a lock record|isoformat"):
        decode(json.dumps(fields | wrong).encode(), "r")


@pytest.mark.slow
def test_a_right_of_an_unknown_major_version_is_nobodys_and_named_by_the_doctor(
    clones: Clones,
) -> None:
    here, other = clones(2)
    worker = Claimant(here, "worker-1", ManualClock())
    worker.new("Parse the input")
    newer = json.loads(encode(Lock("issue/1", "worker-2", 1, 1, AT, "n"))) | {"schemaVersion": 2}
    made = commit(other, {"lease.json": json.dumps(newer)}, "By a newer version")
    git(other, "push", "--quiet", "origin", f"{made}:refs/ghp/lease/issue/1")
    with pytest.raises(UnknownError) as caught:
        worker.claim(1)
    assert caught.value.hint == "Update ghp-agents to the version that wrote it."
    assert invoke("agent-sync", here).code == 0
    done = invoke("agent-claim 1 --as worker-1", here)
    text = "its schemaVersion is 2, and this program knows 1."
    assert (done.code, done.err.splitlines()[0]) == (
        4, f"Error: Cannot read the lock issue/1 on this clone: {text}",
    )  # fmt: skip
    found = findings(here)["unreadable"]
    assert found == [
        finding(
            "warning",
            f"lock issue/1: {text}",
            "Update ghp-agents to the version that wrote it.",
        )
    ]


@pytest.mark.slow
def test_a_record_of_an_older_version_is_its_holders_in_each_clone(clones: Clones) -> None:
    here, other = clones(2)
    worker = Claimant(here, "worker-1", ManualClock())
    worker.new("Parse the input")
    worker.beat()
    old = json.loads(encode(Lock("issue/1", "worker-1", 1, 1, AT, "n", "why")))
    del old["cause"]
    made = commit(other, {"lease.json": json.dumps(old)}, "By an older version")
    git(other, "push", "--quiet", "origin", f"{made}:refs/ghp/lease/issue/1")
    assert worker.claim(1).how == "mine"


# ------------------------------------------------------------------ a time limit


@pytest.mark.slow
def test_a_strict_lease_whose_holder_was_lost_ends_by_itself(clones: Clones) -> None:
    clock = ManualClock()
    lost, here = (
        Claimant(folder, name, clock)
        for folder, name in zip(clones(2), ("lost", "here"), strict=True)
    )
    take(lost.parts, SOURCES._replace(ttl=2 * HOUR))  # and never a sync: its disk is gone
    here.sync()
    clock.wait(HOUR)
    here.sync()
    with pytest.raises(RefusedError, match="is leased by lost"):
        take(here.parts, SOURCES)
    clock.wait(HOUR)
    here.sync()
    assert take(here.parts, SOURCES).is_new


@pytest.mark.parametrize("ahead", [0.0, 10 * HOUR, -10 * HOUR])
def test_no_clock_ends_anothers_lease_early(clones: Clones, ahead: float) -> None:
    clock = ManualClock()
    other = ManualClock(clock.now() + ahead)
    folders = clones(2)
    holder, here = Claimant(folders[0], "holder", clock), Claimant(folders[1], "here", other)
    take(holder.parts, SOURCES._replace(ttl=2 * HOUR))
    (right,) = here.locks.list("path/")
    assert not claim_sight.is_over(here.ws, right, here.locks.clone)
    other.wait(2 * HOUR - 1)
    assert not claim_sight.is_over(here.ws, right, here.locks.clone)
    other.wait(1)
    assert claim_sight.is_over(here.ws, right, here.locks.clone)


# ------------------------------------------------------------------ races and lost answers


def lossy(field: CloneField) -> None:
    """Of each three changes of a right the answer to two is lost, after they happened."""
    count = field.remote / "count"
    field.on_written(
        f"echo x >> {count}\n"
        f"[ $(( $(wc -l < {count}) % 3 )) -eq 0 ] && exit 0\n"
        'case "$(ps -o comm= -p $PPID)" in git*) kill -9 $PPID;; esac\n'
    )


@pytest.mark.slow
def test_of_claims_that_race_with_lost_answers_one_wins_and_knows_it(
    remote: Path, clones: Clones
) -> None:
    field = CloneField(remote, clones)
    rivals = [field.locks() for _ in range(3)]
    lossy(field)
    claim = [
        partial(rival.acquire, "issue/1", f"worker-{number}", expected=None)
        for number, rival in enumerate(rivals)
    ]
    got = at_once(claim)
    winners = [lease for lease in got if isinstance(lease, Lock)]
    assert len(winners) == 1
    assert sum(isinstance(each, LockMovedError) for each in got) == 2
    hook(remote, "reference-transaction", "exit 0\n")
    assert rivals[0].read("issue/1") == winners[0]


def test_of_overlapping_strict_leases_with_lost_answers_never_two_are_held(
    remote: Path, clones: Clones
) -> None:
    field = CloneField(remote, clones)
    clock = ManualClock()
    pair = [Claimant(folder, f"worker-{n}", clock) for n, folder in enumerate(clones(2))]
    lossy(field)
    wanted = [SOURCES, SOURCES._replace(patterns=("/src/a/",))]
    held = 0
    for one, what in zip(pair, wanted, strict=True):
        try:
            held += take(one.parts, what).is_new
        except RefusedError:
            continue
    assert held == 1
