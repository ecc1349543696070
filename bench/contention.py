"""Many processes write to one clone at once, each through `transact`: commits a second, and the
longest that one of them waited. Each process makes its commits one after another, without pause."""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.figure import Figure, count
from bench.forks import elapsed, together
from bench.place import Place, open_app
from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor, Timestamp, agent_name
from ghp_agents.ports import Snapshot
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact

COMMITS = 20
CROWD, TOGETHER = 8, 100  # processes that make at least so many commits a second together


def measure(place: Place) -> list[Figure]:
    """One, eight and thirty-two processes."""
    commits = 5 if place.quick else COMMITS
    runs = [_run(place, number, commits) for number in ((1, 4) if place.quick else (1, CROWD, 32))]
    lost = Figure("contention", "commits lost", sum(lost for _, lost in runs), "commits", 0)
    return [*(figure for figure, _ in runs), lost]


def _run(place: Place, processes: int, commits: int) -> tuple[Figure, int]:
    clone = place.repository("contention")
    open_app(clone).store.fold()
    spans = together([partial(_write, clone, number, commits) for number in range(processes)])
    waits = sorted(wait for span in spans for wait in span.result)
    lost = processes * commits - len(open_app(clone).store.snapshot().files(".ghp/bench/"))
    name = f"{processes} process{'es' if processes > 1 else ''} × {commits}"
    note = f"median {count(waits[len(waits) // 2] * 1000)} ms, worst {count(waits[-1] * 1000)} ms"
    rate = processes * commits / elapsed(spans)
    bound = TOGETHER if processes == CROWD else None
    return Figure("contention", name, rate, "commits/s", bound, at_least=True, note=note), lost


def _write(clone: Path, number: int, commits: int) -> list[float]:
    """How long each commit took."""
    return [_commit(clone, number, step) for step in range(commits)]


def _commit(clone: Path, number: int, step: int) -> float:
    started = time.monotonic()
    mine = open_app(clone)

    def decide(snapshot: Snapshot) -> tuple[None, Sequence[Record]]:
        at = Timestamp(to_text(mine.ws.clock.now()))
        return None, [record(number, step, snapshot.clock + 1, at)]

    transact(mine.store, decide)
    return time.monotonic() - started


def record(writer: int, step: int, clock: int, at: Timestamp) -> Record:
    """A small record that is unique to the writer and step."""
    name = f"{writer}-{step}"
    return Record(
        event="note",
        actor=Actor(agent_name(f"worker-{writer + 1}")),
        object=name,
        id=name,
        at=at,
        clock=clock,
        files=((f".ghp/bench/{writer}/{step}.json", f'{{"said": "{name}"}}\n'.encode()),),
        text=f"Worker {writer + 1} says something",
    )
