"""Folding: what it commits, what it leaves alone, and what it tidies up."""

import os
from pathlib import Path

import pytest

from ghp_agents.state.git.store import GitRefsStore
from tests.state.clones import private, said, say, store, workspace, write_presence
from tests.support.clock import ManualClock
from tests.support.git import git

LONG_AGO = 1_000_000_000.0
NOW = 1_750_000_000.0
DEAD = 2**30  # no process has such a number


def test_the_presence_of_many_is_one_commit(repo: Path) -> None:
    for number in range(30):
        fields = {"status": "idle", "epoch": 1, "seq": 1}
        write_presence(repo, f"worker-{number}", fields, NOW)
    assert store(repo).fold() == 1
    state = private(repo)
    assert git(state.path, "rev-list", "--count", state.ref) == "1"
    subject = git(state.path, "log", "-1", "--format=%s %an", state.ref)
    assert subject == f"presence {state.clone} 30 agents ghp-agents"


def test_a_record_carries_waiting_presence_with_it(repo: Path) -> None:
    write_presence(repo, "worker-1", {"status": "idle", "epoch": 1, "seq": 1}, NOW)
    say(repo, "one")
    assert store(repo).fold() == 0
    assert store(repo).snapshot(4e9).agents().keys() == {"worker-1"}
    assert said(repo) == ["one"]


@pytest.mark.parametrize("age", ["old", "new"])
def test_what_killed_writers_left_is_removed_once_nobody_can_be_at_work_on_it(
    repo: Path, age: str
) -> None:
    say(repo, "one")
    ours, state = workspace(repo).ghp_dir, private(repo).path
    left = [
        ours / "agents/worker-1.json.123.tmp",
        ours / "outbox/.x.record.0abc.tmp",
        ours / "cache/.folded.json.0abc.tmp",
        ours / "touched/00ff.123.tmp",
        state / "objects/tmp_obj_x",
        state / "objects/pack/tmp_pack_x",
        state / "objects/pack/pack-x.keep",
        state / "objects/tmp_objdir-bulk-fsync-x/17/x",
    ]
    for path in left:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("half")
    for path in (*left, left[-1].parent.parent):
        when = NOW - (61 if age == "old" else 59)
        os.utime(path, (when, when))
    GitRefsStore(workspace(repo, ManualClock(NOW))).fold()
    assert [path.exists() for path in left] == [age == "new"] * len(left)
    assert said(repo) == ["one"]


@pytest.mark.parametrize(
    ("age", "pid", "stays"), [(61, DEAD, False), (59, DEAD, True), (61, 0, True)]
)
def test_what_a_killed_hook_left_is_removed(
    repo: Path, tmp_path: Path, age: int, pid: int, stays: bool
) -> None:
    say(repo, "one")
    folder = tmp_path / f"ghp-edit-{pid or os.getpid()}-00ff"
    (folder / "objects").mkdir(parents=True)
    os.utime(folder, (NOW - age, NOW - age))
    ws = workspace(repo, ManualClock(NOW))
    ws.environ = {**ws.environ, "TMPDIR": str(tmp_path)}
    GitRefsStore(ws).fold()
    assert folder.exists() is stays


def test_files_that_others_keep_there_stay(repo: Path) -> None:
    say(repo, "one")
    theirs = [workspace(repo).ghp_dir / name for name in ("agents/README", "notes.txt", "cache/x")]
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("theirs")
        os.utime(path, (LONG_AGO, LONG_AGO))
    GitRefsStore(workspace(repo, ManualClock(NOW))).fold()
    assert all(path.exists() for path in theirs)


def test_the_background_is_told_when_it_is_needed_next(repo: Path) -> None:
    clock = ManualClock(NOW)
    ws = workspace(repo, clock)
    GitRefsStore(ws).sync()
    due = (ws.cache_dir / "due").stat().st_mtime
    assert due == NOW + ws.settings.fold_every
