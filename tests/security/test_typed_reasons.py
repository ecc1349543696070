"""A reason is for people to read: whoever types the program's own sentences decides nothing."""

import json
from pathlib import Path

import pytest

from ghp_agents.claims.claim import fence_of
from ghp_agents.core.ids import Timestamp
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import is_last_resort
from ghp_agents.leases import overlaps as conflicts
from ghp_agents.leases import reconcile as settling
from ghp_agents.leases.overlaps import Overlap
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.leases.world import LeaseWorld, read_all
from ghp_agents.locks.lock import Lock, decode, encode
from ghp_agents.state import cause, ledger
from ghp_agents.state.cause import Cause
from ghp_agents.sweep import facts as sweep_sight
from tests.support.claimants import Claimant
from tests.support.clock import ManualClock
from tests.support.git import git
from tests.support.sweeps import questions
from tests.support.taking import take

AT = Timestamp("2025-06-15T15:06:40Z")


@pytest.fixture
def worker(repo: Path) -> Claimant:
    """An agent alone in a clone, with an issue."""
    git(repo, "config", "user.name", "Ada Lovelace")
    worker = Claimant(repo, "worker-1", ManualClock())
    worker.new("Parse the input")
    return worker


def deaths(worker: Claimant) -> dict[int, int]:
    """How often a sweep believes that the holder of an issue died."""
    return dict(sweep_sight.gather(LeaseWorld(worker.parts)).attempts)


def test_a_release_with_the_words_of_a_sweep_counts_as_no_death(worker: Claimant) -> None:
    for _ in range(3):
        worker.claim(1)
        worker.release(1, reason="swept: tidy-up")
    assert deaths(worker) == {}
    assert sweep_sight.gather(LeaseWorld(worker.parts)).unfinished == ()


@pytest.mark.parametrize("reason", ["merged by #7 into main", "its issue is closed"])
def test_a_release_with_the_words_of_a_merge_ends_no_work(worker: Claimant, reason: str) -> None:
    worker.claim(1)
    had = worker.presence
    lease = worker.release(1, reason=reason).lock
    assert lease
    fence = fence_of({1: lease}, "worker-1", had, worker.locks.clone)
    assert fence
    assert fence.words == (
        f"Your claim of #1 was released; nobody holds it. Reason given: «{reason}»."
    )
    assert fence.hint.startswith("Stop working on #1")


def test_a_claim_with_the_words_of_a_thief_is_a_claim(worker: Claimant) -> None:
    lease = worker.claim(1, reason="stolen: not at all, comment 12").lock
    assert lease.cause == Cause("claim", "worker-1")


def test_a_question_with_the_options_of_a_last_resort_is_an_ordinary_one(worker: Claimant) -> None:
    worker.claim(1)
    escalation.escalate(
        worker.parts, "How?", issue=1,
        options=("Try again", "Leave it to a person"),
    )  # fmt: skip
    (asked,) = questions(worker)
    assert not is_last_resort(asked)


def test_a_question_that_names_two_leases_is_not_the_one_about_their_overlap(
    worker: Claimant,
) -> None:
    first = take(worker.parts, LeaseRequest(patterns=("/src/a",))).hold
    second = first._replace(id="f" * 12, holder="worker-2")
    text = f"Two leases overlap: who should have it? ({first.short}) ({second.short})"
    escalation.escalate(worker.parts, text)
    log = read_all(worker.store.snapshot())[0][0]
    other = log._replace(request=log.request._replace(lease=second.id, clone="elsewhere"))  # type: ignore[arg-type]
    found = conflicts.find(worker.ws, [first, second], [log, other], questions(worker))
    assert [each.question for each in found] == [None]
    asked = settling._question([Overlap(first, second, "src/a")])
    escalation.ask_once(worker.parts, asked)
    found = conflicts.find(worker.ws, [first, second], [log, other], questions(worker))
    assert [each.question and each.question.question for each in found] == [asked]


# --------------------------------------------------------------- what older versions wrote


def old(name: str, holder: str | None, reason: str) -> Lock:
    """A right as a version without causes wrote it."""
    lease = Lock(name, holder, 2, 1, AT, "n", reason)
    fields = json.loads(encode(lease))
    del fields["cause"]
    return decode(json.dumps(fields).encode(), "r")


@pytest.mark.parametrize(
    ("name", "holder", "reason", "expected"),
    [
        ("issue/1", None, "swept: worker-1 is dead", Cause(cause.SWEPT, ref="dead")),
        ("issue/1", "w", "given by Ada: swept: v is gone", Cause(cause.SWEPT, ref="gone")),
        ("issue/1", "w", "given by Ada", Cause(cause.GIVEN, "Ada")),
        ("issue/1", "w", "given by Ada: try this", Cause(cause.GIVEN, "Ada")),
        ("issue/1", "w", "stolen: in a hurry", Cause(cause.STEAL)),
        ("issue/1", None, "its issue is closed", Cause(cause.CLOSED)),
        ("issue/1", None, "merged by #3 into main", Cause(cause.MERGED)),
        (
            "issue/1", "w", "stolen: Ada by /agent assign, comment 12",
            Cause(cause.ORDERED, ref="comment 12"),
        ),
        ("sweeper", "Ada", "clone 3f9a0c1d2e4b", Cause(cause.SWEEP, ref="3f9a0c1d2e4b")),
        ("issue/1", "w", "merged by #3 into main", Cause(cause.UNKNOWN)),
        ("issue/1", None, "not needed", Cause(cause.UNKNOWN)),
    ],
)  # fmt: skip
def test_a_right_of_an_older_version_has_its_cause_in_its_reason(
    name: str, holder: str | None, reason: str, expected: Cause
) -> None:
    assert old(name, holder, reason).cause == expected


def test_an_older_version_held_the_trunk_from_the_clone_in_its_reason() -> None:
    assert old("trunk", "w", "merging #3, in clone 3f9a0c1d2e4b").clone == "3f9a0c1d2e4b"
    assert old("issue/1", "w", "work, in clone 3f9a0c1d2e4b").clone == ""


def test_an_older_release_by_a_sweep_counts_as_a_death() -> None:
    message = (
        "release Ada #1\n\nswept: worker-1 is dead; held by worker-1\n\n"
        "Event: release\nPerson: Ada\nIssue: 1\nGeneration: 1\nId: 3f9a\nClock: 4\nClone: c1\n"
    )
    (entry,) = ledger.entries("0" * 40, AT, message)
    assert entry.cause == cause.SWEPT
    (entry,) = ledger.entries("0" * 40, AT, message.replace("Clock", "Cause: release\nClock"))
    assert entry.cause == cause.RELEASE


@pytest.mark.parametrize("value", ["swept", 7, None, [], {"kind": 7}, {"kind": ["swept"]}])
def test_a_cause_that_is_none_decides_nothing(value: object) -> None:
    fields = json.loads(encode(Lock("issue/1", None, 2, 1, AT, "n", "swept: w is dead")))
    found = decode(json.dumps(fields | {"cause": value}).encode(), "r")
    assert found.cause == Cause(cause.UNKNOWN)


def test_what_this_version_writes_always_has_a_cause(worker: Claimant) -> None:
    worker.claim(1)
    worker.release(1)
    state = worker.ws.ghp_dir / "state.git"
    history = git(state, "rev-list", "refs/ghp/lease/issue/1").split()
    records = [json.loads(git(state, "show", f"{oid}:lease.json")) for oid in history]
    assert [each["cause"] for each in records] == [
        {"kind": "release", "by": "worker-1"},
        {"kind": "claim", "by": "worker-1"},
    ]
    kinds = [(each.event, each.cause) for each in worker.store.ledger() if each.issue == 1]
    assert [x for x in kinds if x[0] in ("claim", "release")] == [
        ("claim", "claim"),
        ("release", "release"),
    ]
