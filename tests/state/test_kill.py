"""Kill -9 at any point: what was acknowledged is there, nothing is torn, the next one tidies up."""

import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.clock import SystemClock
from ghp_agents.hotpath import presence_file as presencefile
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.state.presence import position
from ghp_agents.workspace import open_workspace
from tests.contracts.state_store import everything, exchange
from tests.state.clones import RECORDS, private
from tests.state.victims import Nursery, kill
from tests.support.clock import ManualClock
from tests.support.git import git
from tests.support.thorough import count

Clones = Callable[[int], list[Path]]

KILLS = count(320, sample=80)
WRITERS = 4  # at a time, in two clones
MOST_ACTS = 2  # that a writer is let do; then it is killed within the next one
TIMEOUT_S = 5.0  # seconds, for a writer that gets no turn


def storm(folders: list[Path], logs: Path, chance: random.Random) -> list[str]:
    """Let writers work in clones and kill each at some point; what was acknowledged to them."""
    alive: list[tuple[int, Path]] = []
    with Nursery() as nursery:
        for number in range(KILLS + WRITERS):
            if number >= WRITERS:
                pid, log = alive.pop(0)
                let_live(log, chance)
                kill(pid, git_too=chance.random() < 0.5)
            if number < KILLS:
                slot = number % WRITERS
                log = logs / f"{number}.log"
                seed = chance.randrange(2**32)
                folder = folders[slot % len(folders)]
                alive.append((nursery.start(folder, f"w-{slot}", seed, log), log))
    return [line for log in sorted(logs.iterdir()) for line in log.read_text().splitlines()]


def let_live(log: Path, chance: random.Random) -> None:
    """Wait until a writer has done some acts, and then for a part of the next one: how long that
    is depends on the machine, and on what else it has to do."""
    tick = threading.Event()
    acts, begun = chance.randint(0, MOST_ACTS), time.monotonic()
    while time.monotonic() - begun < TIMEOUT_S and done(log) < acts:
        tick.wait(0.002)
    an_act = max(0.03, (time.monotonic() - begun) / (acts + 1))
    tick.wait(chance.uniform(0, an_act))


def done(log: Path) -> int:
    """How much a writer has done."""
    return log.read_bytes().count(b"\n") if log.exists() else 0


def store(folder: Path, ahead: float = 0.0) -> GitRefsStore:
    clock = ManualClock(SystemClock().now() + ahead)
    return GitRefsStore(open_workspace(folder, dict(os.environ), clock))


@pytest.mark.slow
@pytest.mark.long
def test_nothing_acknowledged_is_lost_and_the_next_command_tidies_up(
    clones: Clones, remote: Path, tmp_path: Path
) -> None:
    seed = int(os.environ.get("GHP_TEST_SEED", random.randrange(2**32)))
    print(f"To see this run again: GHP_TEST_SEED={seed}")  # noqa: T201 - shown when it fails
    folders, logs = clones(2), tmp_path / "logs"
    logs.mkdir()
    lines = storm(folders, logs, random.Random(seed))

    assert [line for line in lines if line.startswith(("error", "trouble"))] == []
    acknowledged = {line.split()[1] for line in lines if line.startswith("said ")}
    assert len(acknowledged) > KILLS / 10, "the writers lived too short to say anything"

    for folder in folders:
        # As if a minute later: what could still belong to a living process is then nobody's.
        begun = time.monotonic()
        store(folder, ahead=61).fold()
        assert time.monotonic() - begun < 1
        assert leavings(folder) == []
        git(private(folder).path, "fsck", "--strict", "--no-dangling")
    stores = [store(folder) for folder in folders]
    reports = exchange(stores)
    assert [report.trouble for report in reports] == [None] * len(reports)
    git(remote, "fsck", "--strict", "--no-dangling")

    assert everything(stores[0]) == everything(stores[1])
    names = [path.removeprefix(RECORDS) for path in stores[0].snapshot().files(RECORDS)]
    in_ledger = sorted(entry.id for entry in stores[0].ledger() if entry.event == "note")
    assert acknowledged <= set(names)
    assert in_ledger == names, "each is said once, and there is nothing that nobody said"
    agents = store(folders[0]).snapshot(SystemClock().now() + 600).agents()
    for line in lines:
        if line.startswith("beat "):
            _, name, epoch, seq = line.split()
            assert position(agents[name]) >= (int(epoch), int(seq)), line
    assert [list(one.snapshot().problems()) for one in stores] == [[], []]
    assert [one.fold() for one in stores] == [0, 0]


def leavings(folder: Path) -> list[str]:
    """What killed processes leave, in our part of a clone."""
    signs = ("*.tmp", "*.lock", "tmp_*", "fast_import_crash_*", f"*{presencefile.UNREADABLE}")
    ours = folder / ".git/ghp"
    paths = {path for sign in signs for path in ours.rglob(sign)}
    kept = {
        ours / "state.lock",
        ours / "fold.lock",
        ours / "sync.lock",
        *ours.glob("agents/.*.lock"),
    }
    return sorted(str(path.relative_to(ours)) for path in paths - kept)
