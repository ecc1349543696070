"""The plan of a sweep: from facts to acts."""

import pytest

from ghp_agents.claims.decision import Candidate
from ghp_agents.core.ids import CloneId, IssueNumber, Timestamp
from ghp_agents.issues.issue import Issue
from ghp_agents.locks.lock import Lock
from ghp_agents.state.join import Tip
from ghp_agents.sweep.plan import (
    ALERT,
    CLONE_SILENT,
    DAY,
    POLICIES,
    REASSIGN,
    RELEASE,
    STALE_LABEL,
    Absorb,
    Act,
    Close,
    EndLease,
    Finish,
    Free,
    FreeRight,
    Held,
    LeaseOf,
    OpenQuestion,
    Orphan,
    Prune,
    Recall,
    Silent,
    SweepFacts,
    Tell,
    Unfinished,
    Warn,
    plan,
)

AT = Timestamp("2026-01-02T03:04:05Z")


def lease(name: str, holder: str | None = "worker-1", *, epoch: int = 1) -> Lock:
    return Lock(name, holder, 3, epoch, AT, "n0nce", "", "abc")


def claim(number: int, state: str = "active", holder: str = "worker-1", **more: bool) -> Held:
    return Held(lease(f"issue/{number}", holder), state, 700.0, **more)


def dead(number: int, holder: str = "worker-1") -> Held:
    return claim(number, "dead", holder, lapsed=True)


def issue(
    number: int, *labels: str, state: str = "open", blocked_by: tuple[int, ...] = ()
) -> Issue:
    blockers = tuple(IssueNumber(n) for n in blocked_by)
    return Issue(
        f"{number:08x}", IssueNumber(number), f"Issue {number}",
        state=state, labels=labels, blocked_by=blockers,
    )  # fmt: skip


def facts(*claims: Held, issues: tuple[Issue, ...] = (issue(1),), **more: object) -> SweepFacts:
    by_number = {int(x.number): x for x in issues}
    claimed = {held.lock.name: int(held.lock.name.removeprefix("issue/")) for held in claims}
    return SweepFacts(claims, by_number, claimed, **more)  # type: ignore[arg-type]


ONE = dead(1)
QUIET = claim(1, "stale")
ACTIVE = claim(1)
TWO, THREE = Candidate("worker-2", 4), Candidate("worker-3", 1, capabilities=("docs",))
MARKED = (issue(1, STALE_LABEL),)
SOLD = (issue(1, state="closed"),)
RUST = (issue(1, "needs:rust"),)
WAITS = (issue(1, blocked_by=(2,)), issue(2))
WAITED = (issue(1, blocked_by=(2,)), issue(2, state="closed"))


@pytest.mark.parametrize(
    ("given", "policy", "acts"),
    [
        # Nothing is left behind.
        (facts(), RELEASE, []),
        (facts(ACTIVE), RELEASE, []),
        (facts(Held(lease("issue/1", "Ann", epoch=0))), RELEASE, []),
        (facts(claim(1, "stopped")), RELEASE, []),
        (facts(claim(1, "unknown")), RELEASE, []),
        # The silent are told of once, and that is taken back.
        (facts(QUIET), RELEASE, [Warn(1, QUIET)]),
        (facts(QUIET), ALERT, [Warn(1, QUIET)]),
        (facts(QUIET, issues=MARKED), RELEASE, []),
        (facts(ACTIVE, issues=MARKED), RELEASE, [Recall(1, ACTIVE)]),
        (facts(issues=MARKED), RELEASE, [Recall(1, None)]),
        (facts(QUIET, issues=SOLD), RELEASE, [Close(1, QUIET)]),
        # The dead lose what they have, by policy.
        (facts(ONE), RELEASE, [Free(1, ONE, 1)]),
        (facts(ONE, issues=MARKED), RELEASE, [Free(1, ONE, 1)]),
        (facts(ONE), ALERT, [Tell("dead", 1, "worker-1 is dead"), Warn(1, ONE)]),
        (facts(ONE, issues=MARKED), ALERT, [Tell("dead", 1, "worker-1 is dead")]),
        (facts(ONE, workers=(TWO,)), RELEASE, [Free(1, ONE, 1)]),
        (facts(ONE, workers=(TWO,)), REASSIGN, [Free(1, ONE, 1, TWO)]),
        (facts(ONE), REASSIGN, [Free(1, ONE, 1)]),
        (facts(ONE, workers=(Candidate("worker-1", 9),)), REASSIGN, [Free(1, ONE, 1)]),
        # Only who can do it is given it, and only what can go on is given to anybody.
        (facts(ONE, issues=RUST, workers=(THREE,)), REASSIGN, [Free(1, ONE, 1)]),
        (facts(ONE, issues=RUST, workers=(TWO, THREE)), REASSIGN, [Free(1, ONE, 1, TWO)]),
        (facts(ONE, issues=WAITS, workers=(TWO,)), REASSIGN, [Free(1, ONE, 1)]),
        (facts(ONE, issues=WAITED, workers=(TWO,)), REASSIGN, [Free(1, ONE, 1, TWO)]),
        # After so many attempts a person is asked.
        (facts(ONE, attempts={1: 1}), RELEASE, [Free(1, ONE, 2)]),
        (facts(ONE, attempts={1: 2}), RELEASE, [Free(1, ONE, 3, None, True)]),
        (facts(ONE, attempts={1: 2}, workers=(TWO,)), REASSIGN, [Free(1, ONE, 3, None, True)]),
        # The claim of a closed issue goes whoever has it; of an unknown one nothing is done.
        (facts(ACTIVE, issues=SOLD), RELEASE, [Close(1, ACTIVE)]),
        (facts(ONE, issues=SOLD), ALERT, [Close(1, ONE)]),
        (facts(ONE, issues=()), RELEASE, []),
    ],
)
def test_what_becomes_of_a_claim(given: SweepFacts, policy: str, acts: list[Act]) -> None:
    assert plan(given, policy=policy) == acts


@pytest.mark.parametrize(
    "more",
    [
        facts(ONE, issues=(issue(1, "agent:needs-human"),), workers=(TWO,)),
        facts(ONE, issues=(issue(1, "epic"),), workers=(TWO,)),
        facts(ONE, workers=(TWO,))._replace(last_resorts={1: "E-1"}),
        facts(ONE, workers=(TWO,))._replace(stopped={1}),
        facts(ONE, issues=(issue(1)._replace(assignees=("worker-3",)),), workers=(TWO,)),
    ],
)
def test_what_the_decision_forbids_is_given_to_nobody(more: SweepFacts) -> None:
    assert plan(more, policy=REASSIGN) == [Free(1, ONE, 1)]


def test_the_nearest_gets_it() -> None:
    done = issue(9, state="closed")._replace(parent=IssueNumber(7), assignees=("worker-3",))
    issues = (issue(1)._replace(parent=IssueNumber(7)), done)
    near = Candidate("worker-3", 1)
    acts = plan(facts(ONE, issues=issues, workers=(TWO, near)), policy=REASSIGN)
    assert acts == [Free(1, ONE, 1, near)]


def test_the_least_loaded_gets_the_next_and_each_adds_to_its_load() -> None:
    claims = [dead(1), dead(2), dead(3), claim(4, holder="worker-2")]
    issues = tuple(issue(number) for number in (1, 2, 3, 4))
    acts = plan(
        facts(*claims, issues=issues, workers=(TWO, Candidate("worker-3", 1))), policy=REASSIGN
    )
    given = [act.to.name for act in acts if isinstance(act, Free) and act.to]
    assert given == ["worker-3", "worker-2", "worker-3"]


def test_an_issue_that_goes_by_two_numbers_has_the_attempts_of_both() -> None:
    both = issue(1)._replace(other_numbers=(IssueNumber(1_000_000_007),))
    given = facts(ONE, issues=(both,), attempts={1_000_000_007: 2})
    assert plan(given) == [Free(1, ONE, 3, None, True)]


@pytest.mark.parametrize("policy", POLICIES)
def test_what_a_killed_sweep_began_is_finished_under_every_policy(policy: str) -> None:
    begun = Unfinished(1, lease("issue/1", None))
    given = Unfinished(1, lease("issue/1", "worker-2"))
    assert plan(facts(unfinished=(begun,)), policy=policy) == [Finish(begun, 1, False)]
    tried = facts(unfinished=(begun,), attempts={1: 2})
    assert plan(tried, policy=policy) == [Finish(begun, 3, True)]
    tried = facts(unfinished=(given,), attempts={1: 2})
    assert plan(tried, policy=policy) == [Finish(given, 3, False)]


@pytest.mark.parametrize("policy", POLICIES)
def test_what_the_gone_have_goes_under_every_policy(policy: str) -> None:
    gone = Held(lease("path/abc"), "gone", 9e4, lapsed=True, gone=True)
    merely_dead = Held(lease("name/port"), "dead", 2e3, lapsed=True)
    trunk = Held(lease("trunk"), "dead", 2e3, lapsed=True)
    left = LeaseOf("3f9a", "worker-1", "src/")
    given = facts(locks=(gone, merely_dead, trunk), leases=(left,))
    assert plan(given, policy=policy) == [FreeRight(gone), FreeRight(trunk), EndLease(left)]


def test_only_clones_that_are_silent_for_a_month_are_absorbed() -> None:
    tips = [Tip(CloneId(name), "abc", 1, AT) for name in ("a", "b")]
    clones = (Silent(tips[0], CLONE_SILENT - 1), Silent(tips[1], CLONE_SILENT))
    assert plan(facts(clones=clones)) == [Absorb(clones[1])]


def test_questions_that_wait_for_a_day_are_told_the_longest_first() -> None:
    questions = [
        OpenQuestion(f"E-{name}", "worker-1", number, "Which?", waits)
        for name, number, waits in (("1", 1, DAY - 1), ("2", 2, DAY), ("3", None, 2 * DAY))
    ]
    assert plan(facts(questions=tuple(questions))) == [
        Tell("question", None, "E-3 of worker-1: Which?"),
        Tell("question", 2, "E-2 of worker-1: Which?"),
    ]


def test_what_nobody_owns_is_listed_and_removed_only_if_asked_and_safe() -> None:
    merged = Orphan("branch", "agent/worker-1/1-x", "worker-1", "worker-1 is gone", "merged")
    unsafe = Orphan("worktree", "/w", "worker-1", "worker-1 is gone", kept="a merge is in progress")
    given = facts(orphans=(merged, unsafe))
    first = Tell(
        "orphan", None,
        "branch agent/worker-1/1-x: worker-1 is gone; merged: `ghp agent-sweep --prune` removes it",
    )  # fmt: skip
    second = Tell("orphan", None, "worktree /w: worker-1 is gone; a merge is in progress")
    assert plan(given) == [first, second]
    assert plan(given, prune=True) == [Prune(merged), second]


def test_the_reason_of_a_swept_claim_names_who_had_it() -> None:
    assert Free(1, ONE, 1).reason == "swept: worker-1 is dead"
