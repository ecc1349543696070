"""An agent whose waiting process was killed is what it was before, as soon as somebody looks."""

from pathlib import Path

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.leases.reconcile import reconcile
from ghp_agents.presence import wait as pause
from ghp_agents.presence import wait_status as waiters
from ghp_agents.presence.service import heartbeat, register
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.leases import Yard, make_yard
from tests.support.twins.state import MemoryStore

WORKER = AgentName("worker-1")
ABOUT = "Waits for src/:"


@pytest.fixture
def ws(repo: Path) -> Workspace:
    workspace = open_workspace(repo, {}, ManualClock())
    register(
        workspace, MemoryStore(workspace.clock), WORKER, {"status": "testing", "lastAction": "Runs"}
    )
    return workspace


@pytest.fixture
def killed(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that waited, and could put nothing away: what it left is there, and no lock."""
    with monkeypatch.context() as patch:
        patch.setattr(waiters, "_forget", lambda word: None)
        with pause.presence(ws, WORKER, "blocked", ABOUT) as beat:
            beat(f"{ABOUT} 1st in line")
        ws.clock.wait(60)
        beat(f"{ABOUT} 1st in line")


def shown(ws: Workspace) -> tuple[object, object]:
    presence = ws.presence(WORKER) or {}
    return presence.get("status"), presence.get("lastAction")


def words(ws: Workspace) -> list[Path]:
    return [*Path(ws.folders[0], waiters.FOLDER).iterdir()]


@pytest.mark.usefixtures("killed")
def test_it_is_mended_once_and_the_word_is_gone(ws: Workspace) -> None:
    assert shown(ws) == ("blocked", f"{ABOUT} 1st in line")
    waiters.restore_status(ws, ["worker-2"])
    assert shown(ws) == ("blocked", f"{ABOUT} 1st in line"), "another's"
    waiters.restore_status(ws, [WORKER])
    assert (shown(ws), words(ws)) == (("testing", "Runs"), [])


@pytest.mark.usefixtures("killed")
@pytest.mark.parametrize(
    ("fields", "then"),
    [
        ({"status": "implementing"}, ("implementing", "Runs")),
        ({"lastAction": "Reads"}, ("testing", "Reads")),
        ({"status": "blocked", "lastAction": "Waits for #3"}, ("blocked", "Waits for #3")),
        ({}, ("testing", "Runs")),
    ],
)
def test_what_the_agent_says_itself_stays(
    ws: Workspace, fields: dict[str, str], then: tuple[str, str]
) -> None:
    heartbeat(ws, MemoryStore(ws.clock), WORKER, fields)
    assert shown(ws) == then


@pytest.mark.usefixtures("killed")
def test_the_next_one_who_waits_goes_back_to_what_was_before_both(ws: Workspace) -> None:
    with pause.presence(ws, WORKER, "blocked", "Waits for docs/:") as beat:
        beat("Waits for docs/: 1st in line")
    assert shown(ws) == ("testing", "Runs")


def test_while_the_process_waits_nothing_is_mended(ws: Workspace) -> None:
    with pause.presence(ws, WORKER, "blocked", ABOUT) as beat:
        beat(f"{ABOUT} 1st in line")
        waiters.restore_status(ws, [WORKER])
        assert shown(ws) == ("blocked", f"{ABOUT} 1st in line")
    assert words(ws) == []


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"agent": "worker-1"}', b"\xff"])
def test_a_word_that_cannot_be_read_is_thrown_away(ws: Workspace, content: bytes) -> None:
    folder = Path(ws.folders[0], waiters.FOLDER)
    folder.mkdir()
    (folder / "worker-1.0000.json").write_bytes(content)
    waiters.restore_status(ws, [WORKER])
    assert (shown(ws), words(ws)) == (("testing", "Runs"), [])


def test_a_sync_mends_those_of_its_clone_who_live(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard: Yard = make_yard(repo)

    def status() -> object:
        return (yard.ws(WORKER).presence(WORKER) or {}).get("status")

    yard.edit(WORKER, "README.md")
    with monkeypatch.context() as patch:
        patch.setattr(waiters, "_forget", lambda word: None)
        with pause.presence(yard.ws(WORKER), WORKER, "blocked", ABOUT) as beat:
            beat(f"{ABOUT} 1st")
        beat(f"{ABOUT} 2nd")
    yard.store.beat(WORKER, yard.ws(WORKER).presence(WORKER) or {})
    assert status() == "blocked"
    reconcile(yard.parts(None))
    assert status() == "idle"
