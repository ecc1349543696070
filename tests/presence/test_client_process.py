"""The note of an agent's client: who reads it ends that process and no other."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.core.json_file import object_file
from ghp_agents.hotpath import alive, heartbeat
from ghp_agents.hotpath.background import SPAWNED
from ghp_agents.presence import client_process
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock


@pytest.fixture
def ws(repo: Path) -> Workspace:
    return open_workspace(repo, {"HOME": os.environ["HOME"]}, ManualClock())


@pytest.fixture
def client() -> Iterator["subprocess.Popen[bytes]"]:
    popen = subprocess.Popen(["sleep", "60"], start_new_session=True)
    yield popen
    popen.kill()
    popen.wait()


def test_the_noted_process_is_ended_once(ws: Workspace, client: "subprocess.Popen[bytes]") -> None:
    client_process.note(ws, "worker-1", client.pid)
    assert client_process.end(ws, "worker-1") is True
    assert client.wait(timeout=10) != 0
    assert not client_process._path(ws, "worker-1").exists()
    assert client_process.end(ws, "worker-1") is None


def test_one_that_has_ended_is_forgotten(ws: Workspace, client: "subprocess.Popen[bytes]") -> None:
    client_process.note(ws, "worker-1", client.pid)
    client.kill()
    client.wait()
    assert client_process.end(ws, "worker-1") is False
    assert client_process.end(ws, "worker-1") is None


@pytest.mark.parametrize(
    "changed",
    [{"space": "another-machine/pid:[1]"}, {"pid": 1}, {"pid": True}, {"pid": "x"}, {"started": 1}],
)
def test_a_note_that_is_not_of_here_ends_nothing(
    ws: Workspace, client: "subprocess.Popen[bytes]", changed: dict[str, object]
) -> None:
    client_process.note(ws, "worker-1", client.pid)
    file = object_file(client_process._path(ws, "worker-1"))
    file.write(file.read() | changed)
    assert client_process.end(ws, "worker-1") is None
    assert client.poll() is None


def test_another_start_time_ends_nothing(ws: Workspace, client: "subprocess.Popen[bytes]") -> None:
    client_process.note(ws, "worker-1", client.pid)
    file = object_file(client_process._path(ws, "worker-1"))
    file.write(file.read() | {"started": "an earlier boot 7"})
    assert client_process.end(ws, "worker-1") is False
    assert client.poll() is None


def test_the_end_of_a_tied_process_is_the_end_of_the_agent(
    ws: Workspace, client: "subprocess.Popen[bytes]"
) -> None:
    heartbeat.beat(ws.folders, "worker-1", {}, ws.clock.now(), epoch=1)
    assert alive.process_lives(ws.presence("worker-1") or {}) is None
    client_process.tie(ws, "worker-1", client.pid)
    assert alive.process_lives(ws.presence("worker-1") or {}) is True
    client.kill()
    client.wait()
    assert alive.process_lives(ws.presence("worker-1") or {}) is False
    client_process.tie(ws, "worker-1", None)
    assert alive.process_lives(ws.presence("worker-1") or {}) is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the variables of a process")
def test_a_client_has_ended_once_no_process_works_for_its_agent(
    ws: Workspace, client: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    mark = str(tmp_path)  # no other test has it
    client_process.note(ws, "worker-1", client.pid, mark)
    assert client_process.ended(ws, ["worker-1", "worker-2"]) == []
    rest = subprocess.Popen(["sleep", "60"], env={client_process.MARK: mark})
    news = subprocess.Popen(["sleep", "60"], env={client_process.MARK: mark, SPAWNED: "1"})
    try:
        client.kill()
        client.wait()
        assert client_process.ended(ws, ["worker-1"]) == [], "another process goes on for it"
        rest.kill()
        rest.wait()
        assert client_process.ended(ws, ["worker-1"]) == ["worker-1"]
        inside = open_workspace(ws.root, {**ws.environ, client_process.MARK: mark}, ManualClock())
        assert client_process.ended(inside, ["worker-1"]) == [], "the agent itself asks"
    finally:
        for x in (rest, news):
            x.kill()
            x.wait()
