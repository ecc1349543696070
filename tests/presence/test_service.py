"""Presence as a service: registering, renewing, renaming, and who lives, as clones see it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.hotpath import presence_file as presencefile
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.sync import service as sync
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.ghp import invoke, run_ghp, succeed
from tests.support.git import git
from tests.support.twins.issues import MemoryTracker
from tests.support.twins.locks import Board, MemoryLocks

WORKER = AgentName("worker-1")
Clones = Callable[[int], list[Path]]


class Desk:
    """One agent's or person's place in a clone, with a clock of its own."""

    def __init__(self, folder: Path, clock: ManualClock, **environ: str) -> None:
        self.clock = clock
        self.ws: Workspace = open_workspace(folder, {**os.environ, **environ}, clock)
        self.store = GitRefsStore(self.ws)
        self.parts = make_context(self.ws, self.store)

    def beat(self, **fields: object) -> str:
        beaten = presence.heartbeat(self.ws, self.store, WORKER, fields)
        for path in Path(self.ws.ghp_dir / "agents").glob("*.json"):
            os.utime(path, (self.clock.now(), self.clock.now()))
        return beaten

    def sees(self) -> dict[str, AgentView]:
        views = presence.list_agents(self.parts, self.store.snapshot())
        return {view.name: view for view in views}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def test_a_first_beat_registers_the_agent(repo: Path, clock: ManualClock) -> None:
    desk = Desk(repo, clock)
    assert desk.beat(status="planning") == "moved"
    assert desk.store.snapshot().agents() == {
        "worker-1": {
            "issue": None,
            "status": "planning",
            "lastAction": "Started",
            "timestamp": "2025-06-15T15:06:40Z",
            "epoch": 1,
            "seq": 1,
            "startedAt": "2025-06-15T15:06:40Z",
            "lastProgress": "2025-06-15T15:06:40Z",
            "kind": "shell",
            "branch": "main",
            "worktree": "repo",
        }
    }


def test_the_issue_of_a_new_agent_is_that_of_its_branch(
    repo: Path, worktree: Callable[[Path, str], Path], clock: ManualClock
) -> None:
    desk = Desk(worktree(repo, "147-dashboard"), clock)
    desk.beat()
    assert desk.sees()["worker-1"].presence["issue"] == 147


def test_another_session_goes_on_with_the_issue_that_the_agent_claimed(
    repo: Path, clock: ManualClock
) -> None:
    Desk(repo, clock, GHP_SESSION="s-1").beat(issue=12, generation=2)
    desk = Desk(repo, clock, GHP_SESSION="s-2")
    assert desk.beat(status="planning") == "moved"
    presence = desk.sees()["worker-1"].presence
    assert (presence["epoch"], presence["issue"], presence["generation"]) == (2, 12, 2)
    desk.beat(issue=13)  # another issue, which it did not claim
    again = Desk(repo, clock, GHP_SESSION="s-3")
    again.beat()
    presence = again.sees()["worker-1"].presence
    assert presence["issue"] is None
    assert "generation" not in presence


@pytest.mark.slow
def test_an_agent_that_moves_to_another_clone_gets_a_higher_epoch(
    clones: Clones, clock: ManualClock
) -> None:
    here, other = (Desk(folder, clock) for folder in clones(2))
    here.beat(status="stopped")
    here.store.sync()
    other.store.sync()
    other.beat(status="testing")
    other.store.sync()
    here.store.sync()
    presences = {
        tuple(sorted(desk.sees()["worker-1"].presence.items(), key=str)) for desk in (here, other)
    }
    assert len(presences) == 1
    assert dict(presences.pop())["epoch"] == 2


def test_a_new_session_starts_again_with_a_higher_epoch(repo: Path, clock: ManualClock) -> None:
    Desk(repo, clock, GHP_SESSION="one").beat(status="done")
    Desk(repo, clock, GHP_SESSION="two").beat(status="planning")
    presence = presencefile.newest(Desk(repo, clock).ws.folders, WORKER)
    assert presence is not None
    assert (presence["epoch"], presence["seq"], presence["session"]) == (2, 1, "two")


@pytest.mark.slow
def test_two_clones_that_both_move_one_name_are_rivals_to_both(
    clones: Clones, clock: ManualClock
) -> None:
    desks = [Desk(folder, clock) for folder in clones(2)]
    for _ in range(5):
        for desk in desks:
            desk.beat(lastAction=f"at {clock.now()}")
            desk.store.sync()
            desk.sees()
            clock.wait(20)
    for desk in desks:
        names = {rivalry.agent for rivalry in presence.rivalries(desk.ws)}
        assert names == {"worker-1"}


@pytest.mark.parametrize(
    ("silent", "expected"),
    [
        (599, Liveness.ACTIVE),
        (601, Liveness.STALE),
        (1_801, Liveness.DEAD),
        (86_401, Liveness.GONE),
    ],
)
def test_an_agent_here_is_as_alive_as_its_file_is_young(
    repo: Path, clock: ManualClock, silent: float, expected: Liveness
) -> None:
    desk = Desk(repo, clock)
    desk.beat()
    clock.wait(silent)
    assert desk.sees()["worker-1"].liveness is expected


@pytest.mark.slow
@pytest.mark.parametrize("skew", [-3_600, 0, 3_600])
def test_an_agent_elsewhere_is_judged_by_the_observers_own_clock(
    clones: Clones, clock: ManualClock, skew: float
) -> None:
    folder, elsewhere = clones(2)
    observer, agent = Desk(folder, clock), Desk(elsewhere, ManualClock(clock.now() + skew))
    agent.beat(status="implementing")
    agent.store.sync()
    observer.store.sync()
    assert observer.sees()["worker-1"].liveness is Liveness.ACTIVE
    clock.wait(601)
    assert observer.sees()["worker-1"].liveness is Liveness.ACTIVE, "no news since, so nobody knows"
    observer.store.sync()
    assert observer.sees()["worker-1"].liveness is Liveness.STALE
    agent.clock.wait(601)
    agent.beat(lastAction="back")
    agent.store.sync()
    observer.store.sync()
    assert observer.sees()["worker-1"].liveness is Liveness.ACTIVE
    clock.wait(1_801)
    observer.store.sync()
    assert observer.sees()["worker-1"].liveness is Liveness.DEAD


def test_an_agent_whose_process_ended_is_dead_at_once(repo: Path, clock: ManualClock) -> None:
    import subprocess

    ended = subprocess.Popen(["true"])
    ended.wait()
    desk = Desk(repo, clock, GHP_AGENT_PID=str(ended.pid))
    desk.beat()
    assert desk.sees()["worker-1"].liveness is Liveness.DEAD


def test_an_agent_whose_process_runs_is_at_most_stale(repo: Path, clock: ManualClock) -> None:
    desk = Desk(repo, clock, GHP_AGENT_PID=str(os.getpid()))
    desk.beat()
    clock.wait(7_200)
    assert desk.sees()["worker-1"].liveness is Liveness.STALE


def test_an_agent_that_said_goodbye_is_not_missed(repo: Path, clock: ManualClock) -> None:
    desk = Desk(repo, clock)
    desk.beat(status="stopped")
    clock.wait(7_200)
    assert desk.sees()["worker-1"].liveness is Liveness.STOPPED


def test_the_document_leaves_out_who_is_gone(repo: Path, clock: ManualClock) -> None:
    desk = Desk(repo, clock)
    desk.beat()
    clock.wait(90_000)
    assert presence.document(list(desk.sees().values())) == {"agents": {}}


def test_a_worktree_that_gets_another_name_stops_the_old_one(
    repo: Path, clock: ManualClock
) -> None:
    desk = Desk(repo, clock)
    presence.rename(desk.ws, desk.store, WORKER)
    presence.rename(desk.ws, desk.store, AgentName("worker-2"))
    statuses = {name: view.presence["status"] for name, view in desk.sees().items()}
    assert statuses == {"worker-1": "stopped", "worker-2": "idle"}
    assert (desk.ws.git_dir / "ghp-agent").read_text() == "worker-2\n"


def test_nothing_private_to_the_machine_is_published(repo: Path, clock: ManualClock) -> None:
    desk = Desk(repo, clock, GHP_AGENT_PID=str(os.getpid()), GHP_SESSION="secret-session")
    desk.beat()
    desk.store.fold()
    fields = desk.store.snapshot().agents()["worker-1"]
    assert "local" not in fields
    assert os.uname().nodename not in str(fields)


@pytest.mark.slow
def test_a_look_back_judges_by_the_time_of_then_and_remembers_nothing(
    clones: Clones, clock: ManualClock
) -> None:
    here, other = (Desk(folder, clock) for folder in clones(2))
    began = clock.now()
    other.beat(status="testing")
    other.store.sync()
    here.store.sync()
    clock.wait(900)
    other.beat(status="done")
    other.store.sync()
    here.store.sync()
    here.sees()
    clock.wait(1_800)
    here.store.sync()
    assert here.sees()["worker-1"].liveness is Liveness.DEAD
    noted = (here.ws.cache_dir / "sightings.json").read_bytes()

    for after, status, verdict in (
        (0, "testing", Liveness.ACTIVE),
        (700, "testing", Liveness.STALE),
        (900, "done", Liveness.ACTIVE),
    ):
        snapshot = here.store.snapshot(began + after)
        (view,) = presence.look_back(here.ws, snapshot, began + after)
        assert (view.presence["status"], view.liveness, view.is_here) == (status, verdict, False)
    assert (here.ws.cache_dir / "sightings.json").read_bytes() == noted
    assert here.sees()["worker-1"].liveness is Liveness.DEAD


@pytest.mark.slow
def test_who_is_gone_is_not_published(clones: Clones, remote: Path, clock: ManualClock) -> None:
    desk = Desk(clones(1)[0], clock)
    desk.beat()
    locks, board = MemoryLocks(clock, Board()), MemoryTracker(clock)
    for silent, expected in ((0, True), (90_000, False)):
        clock.wait(silent)
        report = sync.sync(make_context(desk.ws, desk.store, locks, board), publish=True)
        assert report.trouble is None
        published = git(remote, "show", "ghp-state:.ghp/agent-status.json")
        assert ('"worker-1"' in published) is expected


@pytest.mark.slow
def test_a_command_in_anothers_worktree_does_not_move_the_agent_there(repo: Path) -> None:
    succeed(repo, "agent-issue new Parse", "agent-issue new Write")
    succeed(repo, "agent-start 1 --as e1", "agent-start 2 --as e2")
    place = Path(invoke("agent-where 2", repo).out.strip())
    before = presencefile.newest([str(repo / ".git/ghp")], "e1") or {}
    succeed(place, "agent-escalate Why? --as e1", "agent-status --set testing --as e1")
    assert run_ghp("agent-heartbeat --action Look --as e1", place).code == 0
    after = presencefile.newest([str(repo / ".git/ghp")], "e1") or {}
    assert [after[key] for key in ("branch", "worktree")] == [
        before[key] for key in ("branch", "worktree")
    ]
    assert (after["branch"], after["lastAction"]) == ("agent/e1/1-parse", "Look")


@pytest.mark.parametrize(
    ("fields", "works"),
    [
        ({"lastAction": "Started", "seq": 1}, False),
        ({"lastAction": "Started", "seq": 2}, True),
        ({"lastAction": "Started", "seq": 1, "session": "s-1"}, True),
        ({"lastAction": "Look", "seq": 1}, True),
    ],
)
def test_an_agent_is_at_work_once_more_than_its_registration_is_known(
    fields: dict[str, object], works: bool
) -> None:
    view = AgentView("worker-1", fields, Liveness.ACTIVE, 0.0, True)
    assert presence.is_at_work(view) is works
