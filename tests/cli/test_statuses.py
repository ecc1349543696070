"""`--status` of a heartbeat: any word is saved; for an unknown one, the known ones are named."""

import json
from pathlib import Path

import pytest

from tests.support.ghp import invoke, run_ghp

KNOWN = "Known: idle, planning, implementing, testing, reviewing, waiting, blocked, done, stopped."


@pytest.mark.parametrize(
    ("status", "hint"),
    [("flying", KNOWN), ("testign", f"Did you mean testing? {KNOWN}")],
)
def test_an_unknown_status_is_saved_with_a_warning(repo: Path, status: str, hint: str) -> None:
    command = f"agent-heartbeat --as worker-1 --status {status}"
    for call in (run_ghp, invoke):  # with and without the fast path
        warning = f"Warning: '{status}' is not a known status; it is saved as it is.\n"
        assert call(command, repo) == (0, "", f"{warning}Hint: {hint}\n")
    document = json.loads(invoke("agent-status --json agent,status", repo).out)
    assert document == [{"agent": "worker-1", "status": status}]


def test_agent_status_sets_an_unknown_status_with_the_same_warning(repo: Path) -> None:
    assert invoke("agent-status --as worker-1 --set testign", repo) == (
        0,
        "",
        "Warning: 'testign' is not a known status; it is saved as it is.\n"
        f"Hint: Did you mean testing? {KNOWN}\n✓ worker-1 is testign.\n",
    )


def test_a_known_status_prints_nothing(repo: Path) -> None:
    assert run_ghp("agent-heartbeat --as worker-1 --status testing", repo) == (0, "", "")
