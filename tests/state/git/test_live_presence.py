"""Live presence: no beat is overlooked, and none is read twice for nothing."""

import os
from pathlib import Path

import pytest

from ghp_agents.core.clock import SystemClock
from ghp_agents.state.git import live_presence as live
from ghp_agents.state.presence import Presence
from ghp_agents.workspace import Workspace, open_workspace
from tests.state.clones import write_presence

LONG_AGO = 1_700_000_000.0
SAID: Presence = {"status": "idle", "epoch": 1, "seq": 7}


@pytest.fixture
def ws(repo: Path) -> Workspace:
    return open_workspace(repo, dict(os.environ), SystemClock())


def test_what_a_fold_has_seen_is_not_read_again(ws: Workspace, repo: Path) -> None:
    write_presence(repo, "worker-1", SAID, LONG_AGO)
    first = live.read_live(ws, {})
    assert first.changed == {"worker-1": SAID}
    live.remember(ws, first.signatures)
    again = live.read_live(ws, {"worker-1": SAID})
    assert again.changed == {}
    assert again.signatures == first.signatures
    assert again.beaten == {"worker-1": LONG_AGO}


def test_a_beat_is_read_again_after_the_commit_of_the_one_before_was_lost(
    ws: Workspace, repo: Path
) -> None:
    write_presence(repo, "worker-1", SAID, LONG_AGO)
    live.remember(ws, live.read_live(ws, {}).signatures)
    # The private repository was restored from a backup, or is read as it was before the fold.
    assert live.read_live(ws, {}).changed == {"worker-1": SAID}
    assert live.read_live(ws, {"worker-1": {"epoch": 1, "seq": 6}}).changed == {"worker-1": SAID}


def test_a_beat_in_the_same_tick_and_inode_as_the_one_before_is_not_taken_for_it(
    ws: Workspace, repo: Path
) -> None:
    path = write_presence(repo, "worker-1", SAID, ws.clock.now())
    first = live.read_live(ws, {})
    live.remember(ws, first.signatures)
    before = path.stat()
    path.write_text(path.read_text().replace("7", "9"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert live.read_live(ws, {"worker-1": SAID}).changed["worker-1"]["seq"] == 9


@pytest.mark.parametrize("note", [b"", b"[]", b"{", b'{"worker-1": [1]}', b'{"worker-1": "x"}'])
def test_a_note_that_cannot_be_read_only_costs_time(ws: Workspace, repo: Path, note: bytes) -> None:
    write_presence(repo, "worker-1", SAID, LONG_AGO)
    live.remember(ws, live.read_live(ws, {}).signatures)
    (ws.cache_dir / live.FOLDED).write_bytes(note)
    assert live.read_live(ws, {"worker-1": SAID}).changed == {"worker-1": SAID}


def test_the_spare_folder_counts_as_much_as_the_clones_own(ws: Workspace, repo: Path) -> None:
    write_presence(repo, "worker-1", SAID, LONG_AGO)
    spare = ws.spare_dir / "agents/worker-1.json"
    spare.parent.mkdir(parents=True)
    spare.write_text('{"status": "done", "epoch": 1, "seq": 8, "local": {}}')
    os.utime(spare, (LONG_AGO + 60, LONG_AGO + 60))
    first = live.read_live(ws, {})
    assert first.changed == {"worker-1": {"status": "done", "epoch": 1, "seq": 8}}
    assert first.beaten == {"worker-1": LONG_AGO + 60}
    live.remember(ws, first.signatures)
    assert live.read_live(ws, first.changed).changed == first.changed


def test_what_is_no_presence_is_a_problem_and_hides_nobody(ws: Workspace, repo: Path) -> None:
    path = write_presence(repo, "worker-1", SAID, LONG_AGO)
    torn, folder = path.with_name("torn.json"), path.with_name("folder.json")
    torn.write_text('{"status": "idle", "epo')
    folder.mkdir()
    for name in (".worker-1.lock", "worker-1.json.7.tmp", "Not A Name.json", "..json"):
        path.with_name(name).write_text("{}")
    first = live.read_live(ws, {})
    assert first.changed == {"worker-1": SAID}
    assert {problem.place for problem in first.problems} == {str(torn), str(folder)}


def test_a_link_to_nowhere_is_passed_by(ws: Workspace, repo: Path) -> None:
    path = write_presence(repo, "worker-1", SAID, LONG_AGO)
    path.with_name("gone.json").symlink_to("/nowhere")
    assert live.read_live(ws, {}).changed == {"worker-1": SAID}
