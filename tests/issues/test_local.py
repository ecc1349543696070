"""Local issues do what every tracker does, and what only issues without a server have to."""

import pytest

from ghp_agents.clock import ManualClock
from ghp_agents.ports import IssueTracker
from tests.contracts.issue_tracker import IssueTrackerContract
from tests.issues.places import Team


class TestLocalTrackerInMemory(IssueTrackerContract):
    @pytest.fixture
    def tracker(self, clock: ManualClock) -> IssueTracker:
        return Team(clock).clone("c1").tracker
