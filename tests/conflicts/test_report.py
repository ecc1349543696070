"""What a report says of itself."""

from ghp_agents.conflicts.definitions import LostDefinition
from ghp_agents.conflicts.report import ConflictReport, ConflictWarning, PairConflict
from ghp_agents.conflicts.work import AgentWork

ONE = AgentWork(("worker-1",), 1, "one", "", "c1")
LOST = LostDefinition("f", "function", "worker-1", "b.py", 1, "g", "", "worker-2", "a.py", (3,))
TWO = AgentWork(("worker-2",), None, "two", "", "c2")


def test_a_warning_is_no_conflict() -> None:
    warning = ConflictWarning(("worker-1", "worker-2"), "a.py", 3, "worker-1 renames f.", LOST)
    assert ConflictReport("main", warnings=(warning,)).is_clean
    assert not ConflictReport("main", (ONE, TWO), (PairConflict(ONE, TWO, ()),)).is_clean
