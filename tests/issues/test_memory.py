"""Issues in memory do what every tracker does."""

import pytest

from tests.contracts.issue_tracker import IssueTrackerContract, MakeTracker
from tests.support.clock import ManualClock
from tests.support.twins.issues import MemoryTracker


class TestMemoryTracker(IssueTrackerContract):
    @pytest.fixture
    def make(self, clock: ManualClock) -> MakeTracker:
        tracker = MemoryTracker(clock)
        return lambda: tracker
