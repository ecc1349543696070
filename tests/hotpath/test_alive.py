"""Whether an agent lives, by its file: the same as the slow road says of an agent of this clone."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghp_agents.core.ids import Actor
from ghp_agents.hotpath import alive as living
from ghp_agents.hotpath import fastjson as quickjson
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.hotpath import presence_file as presencefile
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.context import make_context

NOW = 1_750_000_000.0
ENDED = 4_194_303  # the highest process number; nobody runs under it


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    silent=st.sampled_from([0.0, 599.0, 600.0, 1_799.0, 1_800.0, 86_399.0, 86_400.0, -5.0]),
    status=st.sampled_from(["implementing", "stopped", "idle"]),
    pid=st.sampled_from([None, os.getpid(), ENDED]),
    space=st.sampled_from(["here", "elsewhere"]),
    spare=st.booleans(),
)
def test_the_fast_road_says_what_the_slow_one_says(
    repo: Path, silent: float, status: str, pid: int | None, space: str, spare: bool
) -> None:
    ws = open_workspace(repo, {"HOME": str(repo)}, ManualClock(NOW))
    local: dict[str, Any] = {}
    if pid is not None:
        local = {"pid": pid, "space": pulse.process_space() if space == "here" else "another"}
    record = {"issue": None, "status": status, "epoch": 1, "seq": 1, "local": local}
    for number, folder in enumerate(ws.folders):
        path = Path(folder, "agents/worker-1.json")
        path.unlink(missing_ok=True)
        if number == int(spare):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(quickjson.encode(record))
            os.utime(path, (NOW - silent, NOW - silent))
    store = GitRefsStore(ws)
    world = LeaseWorld(make_context(ws, store))
    assert living.lives(ws.folders, "worker-1", NOW) is world.lives(Actor("worker-1"))


@pytest.mark.parametrize("agent", ["worker-2", "../worker-1", "", "A B"])
def test_of_whom_there_is_no_file_nothing_is_said(tmp_path: Path, agent: str) -> None:
    folders = [str(tmp_path)]
    pulse.beat(folders, "worker-1", {}, NOW, epoch=1)
    assert living.lives(folders, agent, NOW) is None


def test_a_file_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents/worker-1.json").write_text("{")
    assert presencefile.newest([str(tmp_path)], "worker-1") is None
    assert living.lives([str(tmp_path)], "worker-1", NOW) is None
