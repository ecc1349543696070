"""All issues of a large repository are read by few requests, as a list by REST would have them."""

import time
from collections.abc import Iterable
from typing import Any

import pytest

from ghp_agents.github.tracker import mirror
from ghp_agents.github.tracker.mirror import Mirror
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.ghp import invoke
from tests.support.github import ADMIN, WORKER_1, GitHub

AT = "2026-01-02T03:04:05Z"


def rows(count: int) -> Iterable[dict[str, Any]]:
    """Issues; every fifth is open, some have a body."""
    for number in range(1, count + 1):
        at = time.gmtime(1_770_000_000 + number)
        yield {
            "login": (ADMIN, WORKER_1, "github-actions[bot]")[number % 3],
            "title": f"Issue {number}",
            "body": "### Goal\r\n\r\nIt works." if number % 7 == 0 else None,
            "state": "open" if number % 5 == 0 else "closed",
            "created_at": AT,
            "updated_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", at),
        }


def sweep(odd: GitHub, name: str) -> tuple[Mirror, list[str]]:
    """What a sweep in a new clone knows of the issues, and what it asked that was not answered with
    "not modified"."""
    clock = ManualClock(1_790_000_000.0)
    odd.proxy.clock = clock
    folder, mark = odd.clone(name), len(odd.proxy.exchanges)
    env = {**odd.environment(ADMIN), "GHP_BACKGROUND": "0"}
    done = invoke("agent-sweep --ephemeral", folder, env, clock=clock)
    assert done.code == 0, done.err
    asked = [str(x) for x in odd.proxy.since(mark) if not x.not_modified]
    known = mirror.load(open_workspace(folder, env, clock), f"{odd.host}/{odd.repository}")
    assert known is not None
    return known, asked


@pytest.mark.slow
def test_a_sweep_of_5000_unchanged_issues_costs_less_than_50_requests_without_a_cache(
    odd: GitHub,
) -> None:
    odd.twin.fill(rows(5_000))
    known, asked = sweep(odd, "first")
    assert len(known.issues) == 5_000
    assert len(asked) <= 35, asked


@pytest.mark.slow
@pytest.mark.parametrize("count", [100, 301])
def test_graphql_and_rest_tell_the_same(odd: GitHub, count: int) -> None:
    odd.twin.fill(rows(count))
    whole, _ = sweep(odd, "one")
    odd.refuse("POST /graphql", 403, "Resource not accessible by integration")
    listed, asked = sweep(odd, "other")
    assert whole == listed
    assert {*whole.issues} == {*range(1, count + 1)}
    assert sum("GET" in x and "/issues?" in x for x in asked) >= count // 100
