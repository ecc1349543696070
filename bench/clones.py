"""Two to sixteen clones over one bare remote, each making changes with a sync after each, all at
once: nothing lost, no push rejected, all joins the same; also where every push takes 0.8 s longer,
as on a host far away. A change is a beat and a record. Git's own trace counts the pushes."""

import hashlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.contention import record
from bench.figure import Figure, count
from bench.forks import Span, elapsed, together
from bench.place import Place, open_app
from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Timestamp
from ghp_agents.hotpath import heartbeat
from ghp_agents.ports import Snapshot
from ghp_agents.state import presence
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact

FAR_AWAY = 0.8  # seconds added to every push


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one run."""

    waits: Figure
    lost: int
    pushes: int
    rejected: int
    joins: int  # different ones


def measure(place: Place) -> list[Figure]:
    """Every number of clones, near and far away."""
    numbers = (2, 4) if place.quick else (2, 4, 8, 16)
    delays = (0.0, 0.1) if place.quick else (0.0, FAR_AWAY)
    runs = [_run(place, number, delay) for delay in delays for number in numbers]
    pushes = f"of {sum(run.pushes for run in runs):,}"
    different = max(run.joins for run in runs) - 1
    return [
        *(run.waits for run in runs),
        Figure("clones", "changes lost", sum(run.lost for run in runs), "changes", 0),
        Figure("clones", "rejected", sum(run.rejected for run in runs), "pushes", 0, note=pushes),
        Figure("clones", "joins that differ from the first", different, "joins", 0),
    ]


def _run(place: Place, number: int, delay: float) -> Outcome:
    changes = 4 if place.quick else 20
    clones = place.clones(place.remote("clones", delay=delay), number)
    trace = place.new("trace")
    works = [partial(_work, clone, index, changes, trace) for index, clone in enumerate(clones)]
    spans = together(works)
    pushes, rejected = _pushes(trace)
    for clone in clones:
        open_app(clone).store.sync()
    snapshots = [open_app(clone).store.snapshot() for clone in clones]
    lost = max(_lost(snapshot, number, changes) for snapshot in snapshots)
    joins = len({_joined(snapshot) for snapshot in snapshots})
    waits = _waits(spans, number, changes, delay)
    return Outcome(waits, lost, pushes, rejected, joins)


def _waits(spans: Sequence[Span], number: int, changes: int, delay: float) -> Figure:
    waits = sorted(wait for span in spans for wait in span.result)
    far = f", {delay} s added to a push" if delay else ""
    rate = number * changes / elapsed(spans)
    note = f"median {count(waits[len(waits) // 2])} s, {count(rate)} changes/s"
    name = f"{number} clones × {changes} changes{far}: worst wait"
    return Figure("clones", name, waits[-1], "s", note=note)


def _work(clone: Path, index: int, changes: int, trace: Path) -> list[float]:
    """Make all changes; the seconds that each took with its sync."""
    os.environ["GIT_TRACE2_EVENT"] = str(trace)
    return [_change(clone, index, step) for step in range(changes)]


def _change(clone: Path, index: int, step: int) -> float:
    started = time.monotonic()
    mine = open_app(clone)
    ws, store = mine.ws, mine.store
    fields = {"status": "testing", "lastAction": f"Step {step}", "issue": index + 1}
    epoch = 1 if step == 0 else None
    heartbeat.beat(ws.folders, f"worker-{index + 1}", fields, ws.clock.now(), epoch=epoch)

    def decide(snapshot: Snapshot) -> tuple[None, Sequence[Record]]:
        return None, [record(index, step, snapshot.clock + 1, Timestamp(to_text(ws.clock.now())))]

    transact(store, decide)
    report = mine.store.sync()
    if report.trouble or not report.pushed or report.notes:
        raise RuntimeError(f"a sync did not go through: {report}")
    return time.monotonic() - started


def _pushes(trace: Path) -> tuple[int, int]:
    """The number of pushes, and of failed ones."""
    ends = [_end_of_push(path) for path in trace.iterdir()]
    codes = [code for code in ends if code is not None]
    return len(codes), sum(code != 0 for code in codes)


def _end_of_push(path: Path) -> int | None:
    """The exit code of a `git push`; None for the trace of another process."""
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    words: list[str] = next((event["argv"] for event in events if event["event"] == "start"), [])
    if "push" not in words:
        return None
    return next((int(event["code"]) for event in events if event["event"] == "exit"), 1)


def _joined(snapshot: Snapshot) -> str:
    """A digest of the joined state of a clone."""
    agents = {name: presence.published(fields) for name, fields in snapshot.agents().items()}
    digest = hashlib.sha256(json.dumps(agents, sort_keys=True).encode())
    for path, content in sorted(snapshot.files(".ghp/bench/").items()):
        digest.update(path.encode() + b"\0" + content)
    return digest.hexdigest()


def _lost(snapshot: Snapshot, clones: int, changes: int) -> int:
    """The number of acknowledged changes that a clone does not have."""
    agents = snapshot.agents()
    beats = sum(
        changes - presence.number(agents.get(f"worker-{index + 1}", {}), "seq")
        for index in range(clones)
    )
    return beats + clones * changes - len(snapshot.files(".ghp/bench/"))
