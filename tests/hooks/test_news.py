"""What happens in one clone reaches a session in another one, after at most one exchange."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.support.ghp import succeed
from tests.support.hooks import SILENT, call, context, payload

LEAD = "ghp-agents has news for this agent:\n"
PERSON = "«Test Person» (a person)"
SHOW = "`ghp agent-issue show 1` shows all."


@pytest.fixture
def two(clones: Callable[[int], list[Path]]) -> tuple[Path, Path]:
    """worker-1 has a session in the second clone and holds #1; worker-2 is in the first."""
    one, other = clones(2)
    succeed(one, "agent-init --agent worker-2", "agent-issue new Parse --as @me")
    succeed(one, "agent-issue new Write --as @me", "agent-sync")
    succeed(other, "agent-init --agent worker-1", "agent-sync")
    assert call("claude", payload("claude-SessionStart-startup", other), other).code == 0
    succeed(other, "agent-claim 1", "agent-sync")
    succeed(one, "agent-sync")
    assert step(other) == ""
    return one, other


def step(folder: Path) -> str:
    """What the agent reads after its next batch of tools."""
    done = call("claude", payload("claude-PostToolBatch", folder), folder)
    return "" if done == SILENT else context(done)


CASES = {
    "commented": (
        ["agent-issue comment 1 'Dark mode only?' --as @me"],
        f"{PERSON} commented on #1: «Dark mode only?». {SHOW}",
    ),
    "given": (
        ["agent-claim 2", "agent-release 2 --to worker-1 --reason Tired"],
        "worker-2 gave #2 to you. Reason given: «Tired». Run `ghp agent-start 2`.",
    ),
    "handed over": (
        ["agent-claim 2", "agent-handoff --issue 2 --to worker-1 --note 'Go on.'"],
        "worker-2 handed #2 over to you. Read `ghp agent-resume --issue 2`, then run "
        "`ghp agent-start 2`.",
    ),
    "unblocked": (
        ["agent-issue block 1 --by 2 --as @me", "agent-issue close 2 --as @me"],
        f"{PERSON} changed #1: «blocked by #2». {SHOW}\n"
        f"{PERSON} closed #2, which blocked your #1. Nothing else blocks it: go on.",
    ),
}


@pytest.mark.parametrize(
    ("lines", "heard"),
    [
        pytest.param(*case, marks=[] if name == "given" else [pytest.mark.slow], id=name)
        for name, case in CASES.items()
    ],
)
def test_a_session_hears_at_its_next_step(
    two: tuple[Path, Path], lines: Sequence[str], heard: str
) -> None:
    one, other = two
    succeed(one, *lines, "agent-sync")
    assert step(other) == ""
    succeed(other, "agent-sync")
    assert step(other) == LEAD + heard
    assert step(other) == ""
