"""A sweep's acts as lines: what was done, or what would be."""

from ghp_agents.claims.decision import Candidate
from ghp_agents.core.ids import CloneId, Timestamp
from ghp_agents.locks.lock import Lock
from ghp_agents.state.join import SyncReport, Tip
from ghp_agents.sweep.actions import ActionResult
from ghp_agents.sweep.messages import SweepLine
from ghp_agents.sweep.plan import (
    Absorb,
    Act,
    Close,
    EndLease,
    Finish,
    Free,
    FreeRight,
    Held,
    LeaseOf,
    Orphan,
    Prune,
    Recall,
    Silent,
    Tell,
    Unfinished,
    Warn,
)
from ghp_agents.sweep.report import lines
from ghp_agents.sweep.service import SweepResult

AT = Timestamp("2026-01-02T03:04:05Z")
HELD = Held(Lock("issue/1", "worker-1", 3, 1, AT, "n0nce", "", "abc"), "dead", 2_000.0)
DAY = 86_400.0


def planned(*acts: Act) -> list[SweepLine]:
    outcomes = tuple(ActionResult(act, False, "") for act in acts)
    return lines(SweepResult("release", True, (), outcomes, SyncReport(None), CloneId("a")))


def test_each_act_says_what_it_would_do() -> None:
    orphan = Orphan("branch", "agent/x", "x", "x is gone", "merged")
    acts: list[Act] = [
        Warn(1, HELD), Recall(1, HELD), Recall(1, None), Close(1, HELD),
        Free(1, HELD, 1), Free(1, HELD, 1, Candidate("worker-2", 1)), Free(1, HELD, 3, None, True),
        Finish(Unfinished(1, HELD.lock), 1, False), EndLease(LeaseOf("3f", "worker-1", "src/")),
        FreeRight(HELD), Absorb(Silent(Tip(CloneId("abc"), "1", 1, AT), 31 * DAY)),
        Prune(orphan), Tell("question", 7, "E-1: Which?"),
    ]  # fmt: skip
    dead = "worker-1 has been dead for 33 min"
    assert [(line.kind, line.issue, line.agent, line.to, line.text) for line in planned(*acts)] == [
        ("warn", 1, "worker-1", "", "comment that worker-1 has been silent for 33 min"),
        ("recall", 1, "worker-1", "", "remove the label agent:stale: worker-1 is not silent"),
        ("recall", 1, "", "", "remove the label agent:stale: no silent agent holds it"),
        ("close", 1, "worker-1", "", "release the claim of worker-1: the issue is closed"),
        ("free", 1, "worker-1", "", f"{dead}: put it back in the queue"),
        ("free", 1, "worker-1", "worker-2", f"{dead}: give it to worker-2"),
        ("free", 1, "worker-1", "", f"{dead}: ask a person"),
        ("finish", 1, "", "", "finish what an earlier sweep began"),
        ("endlease", None, "", "", "end the lease of src/ by worker-1, which is gone"),
        ("freeright", None, "worker-1", "", "release issue/1 of worker-1, which is dead"),
        ("absorb", None, "", "", "merge clone abc, silent for 31 d, into this one"),
        ("prune", None, "", "", "remove branch agent/x: x is gone; merged"),
        ("tell", 7, "", "", "E-1: Which?"),
    ]  # fmt: skip


def test_what_was_done_is_said_as_it_came_out() -> None:
    outcomes = (
        ActionResult(Warn(1, HELD), True, "commented on the issue"),
        ActionResult(Close(2, HELD), False, "left: it changed meanwhile"),
    )
    swept = SweepResult("release", False, (), outcomes, SyncReport(None), CloneId("a"))
    assert lines(swept) == [
        SweepLine("warn", 1, "worker-1", "", True, False, "commented on the issue"),
        SweepLine("close", 2, "worker-1", "", False, False, "left: it changed meanwhile"),
    ]
    assert swept.done == 1
