"""Races, by construction: what happens in between happens in between, every time."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from ghp_agents.core.clock import SystemClock
from ghp_agents.core.errors import StateMovedError
from ghp_agents.core.ids import Actor
from ghp_agents.ports import Snapshot
from ghp_agents.state.git import fold as folding
from ghp_agents.state.git import outbox
from ghp_agents.state.git import sync as syncing
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.state.private_repo import SEEN_REFS
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from tests.state.clones import (
    AT,
    RECORDS,
    note,
    private,
    said,
    say,
    store,
    workspace,
    write_presence,
)
from tests.state.conftest import Start
from tests.state.worker import finish, kill, let_go
from tests.support import repos
from tests.support.clock import ManualClock
from tests.support.gate import FileGate
from tests.support.git import git, refs
from tests.support.hosts import executable

MOVE = "open /refs/ghp/clone/"  # the step that moves the ref

Clones = Callable[[int], list[Path]]


# ------------------------------------------------------------------------ inside of a decision


@pytest.mark.slow
@pytest.mark.parametrize("rival", ["commits", "folds", "syncs", "parts from its twin"])
def test_whatever_a_rival_does_while_one_decides_both_are_right(
    clones: Clones, tmp_path: Path, rival: str
) -> None:
    one, other = clones(2)
    say(one, "before")
    store(one).sync()
    say(other, "elsewhere")
    store(other).sync()
    tries: list[int] = []

    def act() -> None:
        if rival == "commits":
            say(one, "rival")
        elif rival == "folds":
            write_presence(one, "worker-2", {"epoch": 1, "seq": 1}, 1.75e9)
            assert store(one).fold() == 1
        elif rival == "syncs":
            assert store(one).sync().news == 1
        else:
            twin = tmp_path / "twin"
            git(tmp_path, "clone", "--quiet", str(one), str(twin))
            (twin / ".git/config").write_text((one / ".git/config").read_text())
            shutil.copytree(one / ".git/ghp", twin / ".git/ghp")
            repos.from_elsewhere(twin)
            say(twin, "by the twin")
            store(twin).sync()
            say(one, "rival")
            assert store(one).sync().notes

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        tries.append(len(snapshot.files(RECORDS)))
        if len(tries) == 1:
            act()
        return None, [note("mine", snapshot.clock + 1)]

    transact(store(one), decide)
    store(one).sync()
    store(other).sync()
    assert {"before", "mine", "elsewhere"} <= set(said(one))
    assert said(one) == said(other)
    assert ("rival" in said(one)) == (rival in ("commits", "parts from its twin"))
    if rival != "syncs":  # news from others are no reason to decide again: they are their own
        assert len(tries) == 2


# ------------------------------------------------------------------------ inside of a fold


@pytest.mark.slow
def test_a_sync_during_a_fold_sends_what_was_there_and_the_fold_adds_to_it(
    clones: Clones, tmp_path: Path, start: Start
) -> None:
    one, other = clones(2)
    say(one, "first")
    say(other, "theirs")
    store(other).sync()
    gate = FileGate(tmp_path / "gate", MOVE)
    folder = start(one, "say:second", env=gate.env)
    gate.wait()
    report = syncing.sync(workspace(one), send=True)
    assert (report.fetched, report.pushed, report.news, report.trouble) == (True, True, 1, None)
    gate.open()
    finish(folder)
    assert store(one).sync().pushed
    store(other).sync()
    assert said(one) == said(other) == ["first", "second", "theirs"]


@pytest.mark.slow
def test_who_reads_during_a_fold_sees_the_record_before_and_after(
    repo: Path, tmp_path: Path, start: Start
) -> None:
    outbox.put(workspace(repo), [note("waiting", 1)], OSError("the lock was held"))
    gate = FileGate(tmp_path / "gate", MOVE)
    folder = start(repo, "fold", env=gate.env)
    gate.wait()
    assert list(store(repo).snapshot().files(RECORDS)) == [f"{RECORDS}waiting"]
    taken = store(repo).snapshot()
    gate.open()
    finish(folder)
    assert list(taken.files(RECORDS)) == [f"{RECORDS}waiting"]
    assert said(repo) == ["waiting"]


@pytest.mark.slow
def test_a_beat_during_a_fold_waits_for_nobody_and_is_in_the_next_one(
    repo: Path, tmp_path: Path, start: Start
) -> None:
    write_presence(repo, "worker-1", {"epoch": 1, "seq": 1}, 1.75e9)
    gate = FileGate(tmp_path / "gate", MOVE)
    folder = start(repo, "fold", env=gate.env)
    gate.wait()
    write_presence(repo, "worker-1", {"epoch": 1, "seq": 2}, 1.75e9)
    assert store(repo).snapshot().agents()["worker-1"]["seq"] == 2
    gate.open()
    finish(folder)
    assert [store(repo).fold(), store(repo).fold()] == [1, 0]
    assert store(repo).snapshot(4e9).agents()["worker-1"]["seq"] == 2


@pytest.mark.slow
def test_a_record_said_while_the_lock_is_held_for_long_waits_and_counts(
    repo: Path, tmp_path: Path, start: Start
) -> None:
    gate = FileGate(tmp_path / "gate", MOVE)
    folder = start(repo, "say:first", env=gate.env)
    gate.wait()
    say(repo, "second")
    assert store(repo).sync_status().waiting == 2
    assert list(store(repo).snapshot().files(RECORDS)) == [f"{RECORDS}first", f"{RECORDS}second"]
    gate.open()
    finish(folder)
    assert store(repo).fold() == 1
    assert said(repo) == ["first", "second"]


STEPS = (
    "os.rename /queue/",
    "open /objects/",
    "os.rename /objects/",
    MOVE,
    "os.rename /refs/ghp/clone/",
    "os.remove /queue/",
)


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_wherever_a_writer_is_killed_what_it_queued_is_committed_once_and_stops_nobody(
    repo: Path, tmp_path: Path, start: Start, step: str
) -> None:
    say(repo, "first")
    gate = FileGate(tmp_path / "gate", step)
    folder = start(repo, "say:second", env=gate.env)
    gate.wait()
    assert kill(folder) == []
    state = private(repo)
    (state.path / "fast_import_crash_12345").write_text("report of an older version")
    say(repo, "third")
    assert store(repo).fold() == 0
    names = ["first", "third"] if step == STEPS[0] else ["first", "second", "third"]
    assert said(repo) == sorted(entry.id for entry in store(repo).ledger()) == names
    assert [*state.path.rglob("*.lock"), *state.path.glob("fast_import_crash_*")] == []
    assert state.run("fsck", "--strict").code == 0


def test_who_waits_is_acknowledged_by_the_fold_of_another(repo: Path) -> None:
    say(repo, "first")
    ws = workspace(repo)
    queued = [outbox.enqueue(ws, [note(name, 2)]) for name in ("second", "third")]
    assert said(repo) == ["first", "second", "third"]  # who decides sees what is queued
    say(repo, "fourth")
    before = refs(private(repo).path)

    def lock_nothing() -> AbstractContextManager[list[int]]:
        raise AssertionError("it was folded already")

    for path in queued:
        folding.flush(ws, private(repo), path, lock_nothing)
    assert store(repo).fold() == 0
    assert refs(private(repo).path) == before
    assert said(repo) == ["first", "fourth", "second", "third"]
    assert len(store(repo).ledger()) == 4


def test_what_was_queued_since_is_a_reason_to_decide_again(repo: Path) -> None:
    say(repo, "first")
    snapshot = store(repo).snapshot()
    outbox.enqueue(workspace(repo), [note("rival", snapshot.clock + 1)])
    with pytest.raises(StateMovedError):
        store(repo).commit([note("mine", snapshot.clock + 1)], snapshot.revision)
    assert said(repo) == ["first", "rival"]


@pytest.mark.slow
def test_eight_processes_at_once_lose_nothing_and_each_keeps_its_order(
    repo: Path, start: Start
) -> None:
    names = [[f"{writer}-{step}" for step in range(4)] for writer in "abcdefgh"]
    crowd = [start(repo, *(f"say:{name}" for name in some)) for some in names]
    for process in crowd:
        finish(process)
    said_in_order = [entry.id for entry in store(repo).ledger()]
    assert [[name for name in said_in_order if name[0] == some[0][0]] for some in names] == names
    assert len(said_in_order) == 32
    assert [*(workspace(repo).ghp_dir / outbox.QUEUE).iterdir()] == []


def test_a_fold_killed_before_it_emptied_the_outbox_is_not_folded_twice(repo: Path) -> None:
    ws = workspace(repo)
    event = Record("sweep", Actor("worker-1"), "#1", "s-1", AT, 3, ())
    outbox.put(ws, [note("a", 1), note("b", 2), event], OSError("the lock was held"))
    left = {path: path.read_bytes() for path in (ws.ghp_dir / "outbox").iterdir()}
    assert store(repo).fold() == 3
    for path, content in left.items():
        path.write_bytes(content)
    before = store(repo).ledger()
    assert store(repo).fold() == 0
    assert store(repo).ledger() == before
    assert [entry.id for entry in before] == ["a", "b", "s-1"]
    assert list((ws.ghp_dir / "outbox").iterdir()) == []


def test_a_fold_killed_before_it_noted_what_it_has_seen_commits_nothing_again(repo: Path) -> None:
    write_presence(repo, "worker-1", {"epoch": 1, "seq": 1}, 1.75e9)
    assert store(repo).fold() == 1
    (workspace(repo).cache_dir / "folded.json").unlink()
    assert store(repo).fold() == 0


# ------------------------------------------------------------------------ first commands


@pytest.mark.slow
def test_many_first_commands_at_once_lose_nothing(clone: Path, start: Start) -> None:
    crowd = [start(clone, "wait", f"say:{number}", f"beat:w-{number}:1") for number in range(6)]
    for process in crowd:
        let_go(process)
    for process in crowd:
        finish(process)
    store(clone).sync()
    assert said(clone) == [str(number) for number in range(6)]
    assert len(refs(private(clone).path, "refs/ghp/clone")) == 1


# ------------------------------------------------------------------------ without the lock


@pytest.fixture
def lockless(clones: Clones) -> Iterator[list[Path]]:
    """Clones in which nobody can take a lock: a folder is in the place of each lock file."""
    folders = clones(2)
    for folder in folders:
        for name in (folding.LOCK, folding.FOLD_LOCK, syncing.LOCK):
            (workspace(folder).ghp_dir / name).mkdir(parents=True)
    yield folders
    for folder in folders:
        assert (workspace(folder).ghp_dir / folding.LOCK).is_dir(), "the lock was back"


@pytest.mark.slow
def test_two_first_commands_in_a_fresh_clone_make_one_repository(
    lockless: list[Path], tmp_path: Path, start: Start
) -> None:
    clone, _ = lockless
    gate = FileGate(tmp_path / "gate", "os.rename /ghp/state.git")
    first = start(clone, "say:first", env=gate.env)
    gate.wait()
    say(clone, "second")
    name = private(clone).clone
    gate.open()
    finish(first)
    assert private(clone).clone == name
    assert said(clone) == ["first", "second"]
    assert [path.name for path in (clone / ".git/ghp").glob(".state.*")] == []


@pytest.mark.slow
def test_a_rival_in_the_middle_of_a_fold_is_found_out_by_comparing(
    lockless: list[Path], tmp_path: Path, start: Start
) -> None:
    one, _ = lockless
    say(one, "before")
    gate = FileGate(tmp_path / "gate", MOVE)
    folder = start(one, "say:first", "fold", env=gate.env)
    gate.wait()
    say(one, "rival")
    gate.open()
    finish(folder)
    assert said(one) == ["before", "first", "rival"]


@pytest.mark.slow
def test_two_folds_of_one_outbox_commit_it_once(
    lockless: list[Path], tmp_path: Path, start: Start
) -> None:
    one, _ = lockless
    say(one, "before")
    outbox.put(workspace(one), [note("waiting", 9)], OSError("the lock was held"))
    gate = FileGate(tmp_path / "gate", MOVE)
    folder = start(one, "fold", env=gate.env)
    gate.wait()
    assert store(one).fold() == 1
    gate.open()
    finish(folder)
    assert said(one) == ["before", "waiting"]


@pytest.mark.slow
def test_a_crowd_without_locks_loses_nothing_and_syncs(lockless: list[Path], start: Start) -> None:
    one, other = lockless
    crowd = [
        start(one, *(f"say:{name}-{number}" for number in range(6)), "fold", "sync")
        for name in ("a", "b", "c", "d")
    ]
    for process in crowd:
        finish(process)
    say(other, "elsewhere")
    assert store(other).sync().trouble is None
    expected = sorted([*(f"{name}-{n}" for name in "abcd" for n in range(6)), "elsewhere"])
    assert said(other) == expected


@pytest.mark.slow
def test_a_fetch_that_another_process_overtakes_is_tried_again(
    lockless: list[Path], tmp_path: Path
) -> None:
    one, other = lockless
    say(other, "first")
    store(other).sync()
    store(one).sync()
    say(other, "second")
    store(other).sync()
    say(one, "mine")
    state = private(one)
    seen_ref = min(refs(state.path, SEEN_REFS))
    # While the remote packs what is asked for, somebody else moves the ref that it is for.
    overtake = executable(
        tmp_path / "overtake",
        f"[ -e {tmp_path}/once ] || git --git-dir={state.path} update-ref {seen_ref} {state.ref}\n"
        f'touch {tmp_path}/once\nexec "$@"\n',
    )
    git(one, "config", "--global", "uploadpack.packObjectsHook", str(overtake))
    assert store(one).sync().trouble is None
    assert (tmp_path / "once").exists()
    assert said(one) == ["first", "mine", "second"]


def test_a_stale_ref_lock_is_broken_once_nobody_can_hold_it_any_more(lockless: list[Path]) -> None:
    one, _ = lockless
    say(one, "before")
    state = private(one)
    lock = state.path / f"{state.ref}.lock"
    lock.write_text("")
    late = GitRefsStore(workspace(one, ManualClock(SystemClock().now() + 61)))
    write_presence(one, "worker-1", {"epoch": 1, "seq": 1}, 1.75e9)
    assert late.fold() == 1
    assert not lock.exists()
