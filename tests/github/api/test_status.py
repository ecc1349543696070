"""How a clone stands with GitHub."""

from pathlib import Path

from ghp_agents.github.api import errors
from ghp_agents.github.api import status as standing
from ghp_agents.github.api.outbox import Job, Outbox
from ghp_agents.github.api.rate_limit import Budget, RateLimits
from ghp_agents.github.api.status import GitHubStatus
from tests.support.clock import ManualClock


def test_a_standing_of_nothing_known_is_empty(tmp_path: Path) -> None:
    box = Outbox(tmp_path, ManualClock(), "a")
    assert standing.of(RateLimits(), box, 100.0) == GitHubStatus()


def test_a_budget_whose_hour_is_over_is_full_again(tmp_path: Path) -> None:
    box = Outbox(tmp_path, ManualClock(), "a")
    limits = RateLimits({"core": Budget(5_000, 0, 100.0), "search": Budget(30, 0, 900.0)})
    assert standing.of(limits, box, 100.0) == GitHubStatus(remaining=5_000, limit=5_000)


def test_what_waits_and_what_was_refused_is_counted(tmp_path: Path) -> None:
    box = Outbox(tmp_path, ManualClock(), "a")

    def refuse(job: Job) -> None:
        raise errors.GoneError("Gone.", hint="h")

    box.add(Job("a", "comment", "1", "a comment"))
    box.flush(refuse)
    box.add(Job("b", "comment", "2", "a comment"))
    box.add(Job("c", "comment", "3", "a comment"))
    status = standing.of(RateLimits(), box, 100.0)
    assert (status.queued, status.refused) == (2, 1)
