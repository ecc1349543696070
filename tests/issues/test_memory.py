"""Issues in memory do what every tracker does."""

import pytest

from ghp_agents.clock import ManualClock
from ghp_agents.issues.memory import MemoryTracker
from ghp_agents.ports import IssueTracker
from tests.contracts.issue_tracker import IssueTrackerContract


class TestMemoryTracker(IssueTrackerContract):
    @pytest.fixture
    def tracker(self, clock: ManualClock) -> IssueTracker:
        return MemoryTracker(clock)
