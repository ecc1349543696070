"""What a thousand folds leave in `state.git` with ten agents, and what the maintenance costs that
keeps it small. The bound is for folds as moves bring them about: before each, one agent has another
status and action. Printed beside it are folds as the minute brings them about: before each, all ten
beat with a new action, and two of them move; much of what that leaves is the new texts. The
slowest fold is one that did the maintenance that was due; one more before and after the folds
makes both ends the same kind of state."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.figure import Figure, count, milliseconds
from bench.place import Place, git, open_app, size
from bench.timing import took
from ghp_agents.hotpath import heartbeat
from ghp_agents.state.git import repack
from ghp_agents.state.private_repo import open_repository
from ghp_agents.wiring import App
from tests.support.clock import ManualClock

ENOUGH = 500.0  # kB
AGENTS = 10
PAUSE = 60.0  # seconds between two folds
STATUSES = ("planning", "implementing", "testing", "reviewing", "waiting")
ACTIONS = (
    "Created dashboard command skeleton",
    "Edited src/dashboard/view.py",
    "Ran the tests: 41 passed, 2 failed",
    "Made the table sort by the time of the last beat",
    "Ran the tests: all passed",
    "Read the diff against the trunk",
    "Asked which of the two layouts to keep",
)

FieldsAt = Callable[[int, int], dict[str, Any] | None]  # by fold and agent


def measure(place: Place) -> list[Figure]:
    """Bytes for each thousand folds, after maintenance."""
    folds = 60 if place.quick else 1_000
    return [
        *_grow(place, folds, _one_moves, "one of ten agents moves", ENOUGH),
        *_grow(place, folds, _all_beat, "ten agents beat, two move", None),
    ]


def _grow(
    place: Place, folds: int, fields_at: FieldsAt, who: str, bound: float | None
) -> list[Figure]:
    clone = place.repository("growth")
    clock = ManualClock()
    _fold(clone, clock, 0, fields_at)
    before = _maintained(clone)
    most, slowest = 0, 0.0
    for step in range(1, folds + 1):
        slowest = max(slowest, took(partial(_fold, clone, clock, step, fields_at)))
        if step % 20 == 0:
            most = max(most, size(_state(clone))[1])
    after = _maintained(clone)
    git(_state(clone), "fsck", "--strict", "--no-dangling")
    grown = (after[0] - before[0]) / folds  # bytes for each fold: kilobytes for each thousand
    note = (
        f"{count(after[1] / 1000)} kB of disk after {folds:,} folds, at most {count(most / 1000)}"
    )
    name = f"state.git for each 1,000 folds: {who}"
    detail = {"folds": folds, "bytes": after[0], "onDisk": after[1], "mostOnDisk": most}
    return [
        Figure("growth", name, grown, "kB", bound, note=note, detail=detail),
        Figure("growth", f"slowest fold: {who}", milliseconds(slowest), "ms"),
    ]


def _one_moves(step: int, agent: int) -> dict[str, Any] | None:
    return _at_work(step // AGENTS * 5, agent) if agent == step % AGENTS or step == 0 else None


def _all_beat(step: int, agent: int) -> dict[str, Any] | None:
    return _at_work(step, agent)


def _at_work(step: int, agent: int) -> dict[str, Any]:
    """An agent's presence: a new action in each step, a new status in every fifth."""
    return {
        "status": STATUSES[(step + agent) // 5 % len(STATUSES)],
        "issue": 1 + agent + (step + 7 * agent) // 40 * AGENTS,
        "lastAction": ACTIONS[(step + 2 * agent) % len(ACTIONS)],
        "branch": f"agent/worker-{agent + 1}/dashboard",
    }


def _fold(clone: Path, clock: ManualClock, step: int, fields_at: FieldsAt) -> None:
    """Write the new heartbeats of this step, and fold."""
    clock.wait(PAUSE)
    parts = App(clone, {"GHP_BACKGROUND": "0"}, clock=clock)
    for agent in range(AGENTS):
        new = fields_at(step, agent)
        if new is None:
            continue
        heartbeat.beat(
            parts.ws.folders,
            f"worker-{agent + 1}",
            new,
            clock.now() - 5 * agent,
            epoch=1 if step == 0 else None,
            session=f"{agent:08x}-0d7e-4f4b-9a53-1f5f0e7c3b21",
            progress=new["lastAction"].endswith("passed"),
        )
    if parts.store.fold() != 1:
        raise RuntimeError("a fold of changed agents is one commit")


def _maintained(clone: Path) -> tuple[int, int]:
    """The size after maintenance."""
    ws = open_app(clone).ws
    if not repack.run(ws, open_repository(ws)):
        raise RuntimeError("the maintenance could not be done")
    return size(_state(clone))


def _state(clone: Path) -> Path:
    return clone / ".git/ghp/state.git"
