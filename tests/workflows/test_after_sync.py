"""A sync continues workflows; a command does so only where there are some."""

import os
from pathlib import Path

from ghp_agents.state.sender_budget import SenderBudget
from ghp_agents.workflows.after_sync import advance
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.twins.state import MemoryStore


def test_a_command_of_a_clone_without_workflows_looks_at_nothing_else(repo: Path) -> None:
    store = MemoryStore(ManualClock())
    ctx = make_context(open_workspace(repo, os.environ, ManualClock(), "worker-1"), store)
    assert advance(ctx, SenderBudget(store.snapshot()), in_command=True) == []
