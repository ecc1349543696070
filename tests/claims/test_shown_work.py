"""What ended elsewhere is not shown as an agent's work any more."""

import json
from pathlib import Path

import pytest

from tests.support.ghp import invoke, succeed
from tests.support.git import commit
from tests.support.hooks import call, payload
from tests.support.repos import Restored, Site


@pytest.fixture
def two(restored: Restored) -> tuple[Path, Path]:
    """worker-1 of the second clone has finished #1; the first clone knows."""
    one, other = restored(finished).clones
    return one, Path(invoke("agent-where 1", other).out.strip())


def finished(site: Site) -> None:
    one, other = site.make_clones()
    succeed(one, "agent-issue new Parse --as @me", "agent-sync")
    succeed(other, "agent-sync", "agent-start 1 --as worker-1")
    place = Path(invoke("agent-where 1", other).out.strip())
    commit(place, {"a.txt": "one\n"})
    succeed(place, "agent-finish --as worker-1", "agent-sync")
    succeed(one, "agent-sync")


def fields(folder: Path) -> tuple[object, ...]:
    shown = json.loads(invoke("agent-status --json --as @me", folder).out)["agents"]["worker-1"]
    return tuple(shown.get(key) for key in ("status", "issue", "pull", "lastAction"))


def status_line(folder: Path) -> str:
    message = payload("statusline-claude", folder)
    return call("claude-statusline", message, folder, {"GHP_AGENT": "worker-1"}).out.decode()


ENDS = {
    "merged": ("agent-merge 2 --unchecked --as @me", "#1 was merged by #2 into main as "),
    "released": (
        "agent-release 1 --reason Enough --as @me",
        "#1 was released: Enough",
    ),
    "given away": ("agent-release 1 --to worker-2 --as @me", "#1 is claimed by worker-2"),
    "stopped": ("agent-stop worker-1 --as @me", "#1 was released: worker-1 was stopped"),
}


@pytest.mark.parametrize("how", ENDS)
@pytest.mark.slow
def test_after_it_ended_in_another_clone_nobody_says_otherwise(
    two: tuple[Path, Path], how: str
) -> None:
    one, place = two
    assert fields(place)[:3] == ("reviewing", 1, 2)
    assert status_line(place) == "worker-1 · #1 reviewing"
    line, action = ENDS[how]
    status = "stopping" if how == "stopped" else "idle"
    succeed(one, line, "agent-sync")
    shown = fields(one)
    assert (shown[:3], str(shown[3]).startswith(action)) == ((status, None, None), True), shown
    succeed(place, "agent-sync --as @me")
    assert fields(place) == shown
    assert status_line(place) == f"worker-1 · {status}"
