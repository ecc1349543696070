"""What a thousand folds leave in `state.git`, and what the maintenance costs that keeps it small.
Ten agents at work, all of which say something new before each fold; the folds do the maintenance
that is due by themselves, and one more at the end packs what is left, so that the state at the
beginning and at the end is the same kind."""

from pathlib import Path

from bench.figure import Figure, count
from bench.place import Place, git, house, size
from bench.timing import took
from ghp_agents import pulse
from ghp_agents.clock import ManualClock
from ghp_agents.repository import open_repository
from ghp_agents.store.refs import upkeep
from ghp_agents.wiring import House

ENOUGH = 500.0  # kB
AGENTS = 10
STEPS = (
    ("implementing", "Created dashboard command skeleton"),
    ("implementing", "Edited src/dashboard/view.py"),
    ("testing", "Ran the tests: 41 passed, 2 failed"),
    ("implementing", "Made the table sort by the time of the last beat"),
    ("testing", "Ran the tests: all passed"),
    ("reviewing", "Read the diff against the trunk"),
    ("waiting", "Asked which of the two layouts to keep"),
)
PAUSE = 60.0  # seconds between two folds


def measure(place: Place) -> list[Figure]:
    """Bytes for each thousand folds, after maintenance."""
    folds = 60 if place.quick else 1_000
    clone = place.repository("growth")
    clock = ManualClock()
    _work(clone, clock, 0)
    before, _ = _maintained(clone)
    busiest = 0
    for step in range(1, folds + 1):
        _work(clone, clock, step)
        if step % 20 == 0:
            busiest = max(busiest, size(_state(clone))[1])
    after, taken = _maintained(clone)
    git(_state(clone), "fsck", "--strict")
    grown = (after[0] - before[0]) / 1000 * 1000 / folds
    on_disk = f"{count(after[1] / 1000)} kB on the disk, {count(busiest / 1000)} kB at most before"
    return [
        Figure(
            "growth", f"state.git for each 1,000 folds, {AGENTS} agents", grown, "kB", ENOUGH,
            note=on_disk, detail={"folds": folds, "bytes": after[0], "peakOnDisk": busiest},
        ),
        Figure("growth", "maintenance", taken * 1000, "ms", detail={"folds": folds}),
    ]  # fmt: skip


def _work(clone: Path, clock: ManualClock, step: int) -> None:
    """Every agent says something new, and it is folded."""
    clock.wait(PAUSE)
    store = House(clone, {"GHP_BACKGROUND": "0"}, clock=clock).store
    ws = house(clone).ws
    for number in range(AGENTS):
        status, action = STEPS[(step + number) % len(STEPS)]
        said = {"status": status, "lastAction": action, "issue": 1 + (step // 50 + number) % 40}
        epoch = 1 if step == 0 else None
        surroundings = pulse.surroundings(ws.place) | {"branch": f"agent/worker-{number}/dashboard"}
        progress = status == "testing"
        pulse.beat(
            ws.folders, f"worker-{number + 1}", said | surroundings, clock.now() - number,
            epoch=epoch, progress=progress, session=f"{number:08x}-0d7e-4f4b-9a53-1f5f0e7c3b21",
        )  # fmt: skip
    if store.fold() != 1:
        raise RuntimeError("a fold of changed agents is one commit")


def _maintained(clone: Path) -> tuple[tuple[int, int], float]:
    """The size after maintenance, and how long that took."""
    ws = house(clone).ws
    repository = open_repository(ws)
    taken = took(lambda: upkeep.run(ws, repository))
    return size(_state(clone)), taken


def _state(clone: Path) -> Path:
    return clone / ".git/ghp/state.git"
