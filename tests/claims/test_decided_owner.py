"""A claim moves to the agent that a person chose, and only from those that were in question."""

from ghp_agents.claims import decided_owner
from ghp_agents.core.ids import Actor
from ghp_agents.locks.names import claim_name
from tests.support.claimants import Claimant

ANN = Actor("Ann Example", is_person=True)


def test_it_moves_from_one_of_the_former_agents_only(one: Claimant, two: Claimant) -> None:
    one.claim(1)
    two.beat()
    ctx = one.parts
    issue = ctx.tracker.get(1)
    for former, holder in ((("worker-3",), "worker-1"), (("worker-1",), "worker-2")):
        decided_owner.give(ctx, issue, former, "worker-2", ANN, "decided in E-1")
        lock = ctx.locks.read(claim_name(1))
        assert lock is not None
        assert (lock.holder, ctx.tracker.get(1).assignees) == (holder, (holder,))
