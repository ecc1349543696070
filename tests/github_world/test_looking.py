"""Whether a write was done is looked up at GitHub, and never in what it said before."""

import os

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.faults import Asked, Fault, in_turn, writes
from tests.support.github import ADMIN, WORKER_1, GitHub


@pytest.mark.parametrize("lost", [Fault.CUT_AFTER, Fault.BAD_GATEWAY_AFTER, Fault.HALF])
def test_a_comment_is_said_once_though_an_old_list_is_shown_after_it(
    github: GitHub, lost: Fault
) -> None:
    number = github.issue("One")
    environment = os.environ | github.environment(WORKER_1)
    tracker = App(github.clone("one"), environment, clock=ManualClock()).tracker
    tracker.comment(number, "Hello.", Actor("worker-1"))
    faults = in_turn(lost, where=writes())
    lies = in_turn(Fault.STALE, where=lambda request: request.path.endswith("/comments"))

    def fault(request: Asked) -> Fault | None:
        return faults(request) if request.writes else lies(request) if is_lost() else None

    def is_lost() -> bool:
        return any(exchange.fault is lost for exchange in github.proxy.exchanges)

    github.proxy.faults = fault
    marker = "<!-- ghp:escalation E-1 -->"
    tracker.comment(number, f"How fast?\n\n{marker}", Actor("worker-1"), marker=marker)
    assert is_lost()
    assert [
        exchange.asked.verb for exchange in github.proxy.exchanges if exchange.asked.writes
    ] == ["POST"] * 2
    assert len(github.act(ADMIN, "GET", f"issues/{number}/comments")) == 2
