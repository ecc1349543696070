"""A clone says of its quiet agents whether their processes run; that is no beat."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.hotpath import presence_file as presencefile
from ghp_agents.presence import client_process
from ghp_agents.presence.process_reports import report_processes
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def ws(repo: Path, clock: ManualClock) -> Workspace:
    return open_workspace(repo, os.environ, clock)


def beat(ws: Workspace, *, pid: int | None, epoch: int | None = 1, status: str = "testing") -> None:
    now, moment = ws.clock.now(), ws.clock.interval()
    pulse.beat(ws.folders, "alice", {"status": status}, now, pid=pid, epoch=epoch, moment=moment)
    os.utime(path(ws), (now, now))


def path(ws: Workspace) -> Path:
    return ws.ghp_dir / "agents/alice.json"


def told(ws: Workspace) -> tuple[object, object, object]:
    presence = presencefile.newest(ws.folders, "alice") or {}
    return presence.get("processRunsFor"), presence.get("silentFor"), presence["seq"]


def test_of_a_process_that_runs_it_is_said_once_in_ten_minutes(
    ws: Workspace, clock: ManualClock
) -> None:
    beat(ws, pid=os.getpid())
    clock.wait(299)
    assert report_processes(ws) == []
    clock.wait(1)
    before = path(ws).stat().st_mtime
    assert report_processes(ws) == ["alice"]
    assert told(ws) == (1_800, 300, 2)
    assert path(ws).stat().st_mtime == before
    clock.wait(599)
    assert report_processes(ws) == []
    clock.wait(1)
    assert report_processes(ws) == ["alice"]
    assert told(ws) == (1_800, 900, 3)
    beat(ws, pid=os.getpid(), epoch=None)
    assert told(ws) == (None, None, 4)


def test_of_a_process_that_ended_it_is_said_once(ws: Workspace, clock: ManualClock) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    beat(ws, pid=ended.pid)
    clock.wait(400)
    assert report_processes(ws) == ["alice"]
    assert told(ws) == (0, 400, 2)
    clock.wait(4_000)
    assert report_processes(ws) == []


@pytest.mark.parametrize(
    ("pid", "status"), [(None, "testing"), (os.getpid(), "stopped")], ids=["none", "stopped"]
)
def test_of_others_nothing_is_said(
    ws: Workspace, clock: ManualClock, pid: int | None, status: str
) -> None:
    beat(ws, pid=pid, status=status)
    clock.wait(400)
    assert report_processes(ws) == []


def test_after_a_day_nobody_vouches(ws: Workspace, clock: ManualClock) -> None:
    beat(ws, pid=os.getpid())
    clock.wait(86_400)
    assert report_processes(ws) == []


@pytest.mark.parametrize("step", [3_600, -3_600])
def test_whatever_is_done_to_the_clock_only_silence_counts(
    ws: Workspace, clock: ManualClock, step: float
) -> None:
    beat(ws, pid=os.getpid())
    clock.step(step)
    assert report_processes(ws) == []
    clock.wait(300)
    assert report_processes(ws) == ["alice"]
    assert told(ws) == (1_800, 300, 2)


def test_it_is_said_again_by_a_machine_that_was_started_anew(
    ws: Workspace, clock: ManualClock
) -> None:
    beat(ws, pid=os.getpid())
    clock.wait(300)
    assert report_processes(ws) == ["alice"]
    clock.restart()
    assert report_processes(ws) == ["alice"]


class BusyClock(ManualClock):
    """Somebody beats while the time is read."""

    beats: Callable[[], None] | None = None

    def interval(self) -> tuple[str, float]:
        beats, self.beats = self.beats, None
        if beats:
            beats()
        return super().interval()


def test_an_agent_that_beats_meanwhile_is_not_spoken_for(repo: Path) -> None:
    clock = BusyClock()
    ws = open_workspace(repo, os.environ, clock)
    beat(ws, pid=os.getpid())
    clock.wait(300)
    clock.beats = lambda: beat(ws, pid=os.getpid(), epoch=None)
    assert report_processes(ws) == []
    assert told(ws) == (None, None, 2)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the variables of a process")
def test_the_end_of_a_client_is_said_at_once_and_until_the_next_beat(ws: Workspace) -> None:
    client = subprocess.Popen(["sleep", "60"])
    beat(ws, pid=None)
    client_process.note(ws, "alice", client.pid, "mark-1")
    assert report_processes(ws) == []
    client.kill()
    client.wait()
    assert [report_processes(ws), report_processes(ws)] == [["alice"], []]
    presence = presencefile.newest(ws.folders, "alice") or {}
    assert presence["clientEnded"] is True
    beat(ws, pid=None, epoch=None, status="idle")
    assert "clientEnded" not in (presencefile.newest(ws.folders, "alice") or {})
