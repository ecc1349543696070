"""A person whose colleague set the repository up hears that the own client has no hooks."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.doctor import findings
from tests.support.ghp import succeed

Clones = Callable[[int], list[Path]]
TEXT = (
    "Agents work on this repository, and Claude Code has no hooks here: its edits are not guarded."
)


@pytest.fixture
def second(clones: Clones) -> Path:
    """The clone of the second person, after the first one's agent has worked."""
    first, other = clones(2)
    succeed(first, "agent-heartbeat --status testing --as worker-1", "agent-sync")
    return other


def said(folder: Path) -> list[str]:
    return [str(found["text"]) for found in findings(folder).get("unguarded", [])]


@pytest.mark.slow
def test_a_client_that_is_used_without_hooks_is_named(second: Path, home: Path) -> None:
    (home / ".claude").mkdir()
    assert said(second) == [], "this clone knows of no agents yet"
    succeed(second, "agent-sync")
    assert said(second) == [TEXT]
    succeed(second, "agent-init --no-probe --hooks claude")
    assert said(second) == []


@pytest.mark.slow
def test_who_uses_no_client_or_has_hooks_for_all_repositories_hears_nothing(
    second: Path, home: Path
) -> None:
    succeed(second, "agent-sync")
    assert said(second) == []
    (home / ".claude").mkdir()
    succeed(second, "agent-init --hooks claude --user")
    assert said(second) == []
