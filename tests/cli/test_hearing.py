"""A command that depends on others hears them first, and lets them hear when it is done."""

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghp_agents.core import files
from tests.support.clock import ManualClock
from tests.support.ghp import Result, invoke, succeed
from tests.support.git import commit, git

Clones = Callable[[int], list[Path]]
ALONE = {"GHP_BACKGROUND": "0"}
NOBODY = "No agents yet. Start one with `ghp agent-start --next --as NAME`.\n"
NEVER = "Last news from origin: never (0 other clones); run `ghp agent-sync` to get news.\n"
SILENT = (
    "Warning: Could not ask origin who is there: `git ls-remote` did not finish within 1.5 s.\n"
    "Hint: This is what this clone knows. `ghp agent-sync` waits longer for the remote.\n"
)


@pytest.fixture
def stalled() -> Iterator[str]:
    """The address of a remote that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"git://127.0.0.1:{server.getsockname()[1]}/repo.git"


def status(folder: Path, words: str = "", clock: ManualClock | None = None) -> Result:
    return invoke(f"agent-status {words}", folder, ALONE, clock=clock)


def is_used(folder: Path) -> bool:
    return (folder / ".git/ghp").exists()


def working(folder: Path) -> None:
    succeed(folder, "agent-heartbeat --status testing --as worker-1", "agent-sync")


def test_a_sync_that_runs_already_hears_for_it(clones: Clones) -> None:
    one, other = clones(2)
    working(one)
    succeed(other, "agent-init --no-probe")
    with files.locked(other / ".git/ghp/sync.lock"):
        code, out, err = status(other)
    assert (code, out) == (0, "")
    assert err.startswith(
        "Warning: Could not ask origin who is there: another process of this clone is syncing with "
        "it.\nHint: This is what this clone knows."
    )


def test_a_fresh_clone_hears_who_is_there(clones: Clones) -> None:
    one, other = clones(2)
    working(one)
    assert not is_used(other)
    assert status(other, "--offline") == (0, "", NOBODY + NEVER)
    assert [*json.loads(status(other, "--json").out)["agents"]] == ["worker-1"]


def test_where_nobody_uses_it_nothing_is_created(clones: Clones) -> None:
    (one,) = clones(1)
    assert status(one) == (0, "", NOBODY + NEVER)
    assert invoke("agent-status", one, {"GHP_BACKGROUND": "1"}) == (0, "", NOBODY + NEVER)
    assert not is_used(one)
    assert git(one, "for-each-ref", "refs/ghp") == ""


def test_a_remote_that_does_not_answer_is_named_and_costs_little(
    clones: Clones, stalled: str
) -> None:
    (one,) = clones(1)
    git(one, "remote", "set-url", "origin", stalled)
    assert status(one) == (0, "", SILENT + NOBODY + NEVER)
    assert status(one, "--offline") == (0, "", NOBODY + NEVER)
    assert not is_used(one)


@pytest.mark.slow
def test_an_idle_clone_asks_again_after_a_minute_unless_somebody_is_known(
    clones: Clones,
) -> None:
    one, other = clones(2)
    clock = ManualClock()
    succeed(other, "agent-issue new Parse --as @me")
    assert invoke("agent-sync", other, clock=clock).code == 0
    working(one)
    assert json.loads(status(other, "--json", clock).out)["agents"] == {}
    clock.wait(61)
    assert [*json.loads(status(other, "--json", clock).out)["agents"]] == ["worker-1"]
    succeed(one, "agent-heartbeat --status idle --as worker-1", "agent-sync")
    clock.wait(61)
    fields = json.loads(status(other, "--json", clock).out)["agents"]["worker-1"]
    assert fields["status"] == "testing"  # it is known to be alive, so nobody was asked


def finished(folder: Path) -> Result:
    """worker-1 finishes #1 here."""
    succeed(folder, "agent-issue new Parse --as @me", "agent-start 1 --as worker-1")
    place = Path(invoke("agent-where 1", folder).out.strip())
    commit(place, {"a.txt": "one\n"})
    return invoke("agent-finish --as worker-1", place, {"GHP_BACKGROUND": "1"})


@pytest.mark.slow
def test_finish_is_heard_before_it_says_done(clones: Clones) -> None:
    one, other = clones(2)
    assert finished(one).out == "2\n"
    succeed(other, "agent-sync --no-push")
    assert [each["number"] for each in json.loads(invoke("agent-pulls --json", other).out)] == [2]


@pytest.mark.slow
def test_the_queue_hears_the_others_first_and_says_how_old_its_news_is(clones: Clones) -> None:
    one, other = clones(2)
    succeed(other, "agent-sync")
    finished(one)
    done = invoke("agent-merge --queue --unchecked --as @me", other, ALONE)
    assert (done.code, done.out) == (0, "2\n")
    assert done.err.startswith("Last news from origin: 0 s ago.\n")


def test_a_queue_that_cannot_hear_says_so(clones: Clones) -> None:
    (one,) = clones(1)
    succeed(one, "agent-sync")
    git(one, "remote", "set-url", "origin", str(one / "nowhere"))
    err = invoke("agent-merge --queue --as @me", one, ALONE).err
    assert err.startswith("Warning: Could not ask origin for finished work: ")
    assert "\nHint: Last news from origin: " in err
    assert "; what was finished later is not in the queue.\n" in err
