"""Issues in memory do what every tracker does."""

import pytest

from ghp_agents.core.clock import ManualClock
from ghp_agents.issues.memory import MemoryTracker
from tests.contracts.issue_tracker import IssueTrackerContract, MakeTracker


class TestMemoryTracker(IssueTrackerContract):
    @pytest.fixture
    def make(self, clock: ManualClock) -> MakeTracker:
        tracker = MemoryTracker(clock)
        return lambda: tracker
