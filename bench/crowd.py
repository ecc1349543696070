"""A hundred agents beat in one clone while it folds and syncs without pause: nothing is lost, and
it is nearly as fast as bare replacing. In turn with the beats as many processes write and
`os.replace` files of the same size, under the same folds and syncs. Printed beside it: the same
where nobody folds, and whole processes, a shell for each agent that starts `ghp agent-heartbeat`
again and again."""

import contextlib
import os
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.figure import Figure, count
from bench.forks import elapsed, meanwhile, together
from bench.place import Place, git, open_app
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.hotpath import heartbeat, heartbeat_command
from ghp_agents.state import presence

ENOUGH = 0.6  # of what bare replacing reaches
WARM = 3
BYSTANDERS = [f"bystander-{number + 1}" for number in range(10)]
LOOP = 'i=0; while [ $i -lt "$1" ]; do "$0" agent-heartbeat --action "step $i"; i=$((i+1)); done'


def measure(place: Place) -> list[Figure]:
    """What was lost, and the throughput in the process and of whole processes."""
    agents, beats, rounds = (20, 10, 2) if place.quick else (100, 20, 7)
    remote = place.remote("crowd")
    (clone,) = place.clones(remote, 1)
    names = [f"worker-{number + 1}" for number in range(agents)]
    counts = Counter(_register(clone, [*names, *BYSTANDERS]))
    alone = _in_turn(clone, names, beats, rounds, counts)
    with meanwhile(partial(_fold, clone), partial(_sync, clone)) as finished:
        amid = _in_turn(clone, names, beats, rounds, counts)
        whole = _whole(place, clone, names, 2 if place.quick else beats, counts)
        folds, syncs = finished()
    during = f"{sum(counts.values()):,} beats, {folds} folds and {syncs} syncs"
    local_lost, remote_lost = _lost(clone, remote, {name: counts[name] for name in names})
    return [
        Figure("crowd", "beats lost in the clone's ref", local_lost, "beats", 0, note=during),
        Figure("crowd", "beats lost on the remote", remote_lost, "beats", 0, note=during),
        _against_bare("pulse.beat amid folds and syncs", amid, ENOUGH),
        _against_bare("pulse.beat where nobody folds", alone, None),
        Figure("crowd", "the whole fast road, in a process", amid["road"], "beats/s"),
        Figure("crowd", "ghp agent-heartbeat, whole processes", whole, "beats/s"),
    ]


def _against_bare(name: str, best: Mapping[str, float], bound: float | None) -> Figure:
    note = f"{count(best['beat'])} / {count(best['bare'])} per s"
    ratio = best["beat"] / best["bare"]
    return Figure("crowd", name, ratio, "× bare os.replace", bound, bound is not None, note)


def _register(clone: Path, names: Sequence[str]) -> dict[str, int]:
    ws = open_app(clone).ws
    for name in names:
        heartbeat.beat(ws.folders, name, heartbeat.surroundings(ws.place), ws.clock.now(), epoch=1)
    return dict.fromkeys(names, 1)


def _in_turn(
    clone: Path, names: Sequence[str], beats: int, rounds: int, counts: Counter[str]
) -> dict[str, float]:
    """The best throughput of bare replacing, of `heartbeat.beat` and of the fast heartbeat."""
    size = (clone / ".git/ghp/agents" / f"{names[-1]}.json").stat().st_size
    kinds: dict[str, Callable[..., int]] = {
        "bare": partial(_bare, size=size),
        "beat": _beat,
        "road": _road,
    }
    best = dict.fromkeys(kinds, 0.0)
    for number in range(rounds):
        for kind, work in kinds.items():
            works = [partial(work, clone, name, beats, f"{kind} {number}") for name in names]
            warm_up = [partial(work, clone, name, WARM, f"warm {number}") for name in names]
            spans = together(works, warm_up)
            best[kind] = max(best[kind], len(names) * beats / elapsed(spans))
            counts.update({n: s.result + s.before for n, s in zip(names, spans, strict=True)})
    return best


def _bare(clone: Path, name: str, times: int, _: str, size: int) -> int:
    path = f"{clone}/.git/ghp/bare/{name}.json"
    os.makedirs(clone / ".git/ghp/bare", exist_ok=True)  # noqa: PTH103
    for _step in range(times):
        file = os.open(path + ".tmp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(file, b"x" * size)
        os.close(file)
        os.replace(path + ".tmp", path)  # noqa: PTH105 - the bare call is the measure
    return 0


def _beat(clone: Path, name: str, times: int, what: str) -> int:
    folders = [f"{clone}/.git/ghp"]
    answers = [
        heartbeat.beat(folders, name, {"lastAction": f"{what}, {step}"}, time.time())
        for step in range(times)
    ]
    return answers.count("beat")


def _road(clone: Path, name: str, times: int, what: str) -> int:
    os.chdir(clone)
    environ = {**os.environ, "GHP_AGENT": name}
    answers = [
        heartbeat_command.run(["--action", f"{what}, {step}"], environ) for step in range(times)
    ]
    return answers.count(True)


def _fold(clone: Path) -> None:
    # Each fold gets something to commit, in the bare rounds as well, so that the load is the same.
    folders, now = [str(clone / ".git/ghp")], time.time()
    for name in BYSTANDERS:
        heartbeat.beat(folders, name, {"lastAction": f"Looked on at {now}"}, now)
    with contextlib.suppress(
        LockTimeoutError
    ):  # many processes on few cores; the next fold takes it
        open_app(clone).store.fold()


def _sync(clone: Path) -> None:
    open_app(clone).store.sync()  # losses are counted at the end


def _whole(
    place: Place, clone: Path, names: Sequence[str], beats: int, counts: Counter[str]
) -> float:
    command = ["sh", "-c", LOOP, str(place.installed.ghp), str(beats)]
    started = time.monotonic()
    shells = [
        subprocess.Popen(command, cwd=clone, env={**os.environ, "GHP_AGENT": name})
        for name in names
    ]
    if any([shell.wait() for shell in shells]):  # wait for all, also after a failure
        raise RuntimeError("a shell of the crowd failed")
    taken = time.monotonic() - started
    counts.update(dict.fromkeys(names, beats))
    return len(names) * beats / taken


def _lost(clone: Path, remote: Path, counts: Mapping[str, int]) -> tuple[int, int]:
    """How many acknowledged beats the clone's ref lacks after a fold, the remote after a sync."""
    app = open_app(clone)
    store = app.store
    store.fold()
    place = f"refs/ghp/clone/{store.snapshot().clone}:{presence.PATH}"
    here = _missing(git(clone / ".git/ghp/state.git", "show", place), counts)
    app.store.sync()
    return here, _missing(git(remote, "show", place), counts)


def _missing(document: str, counts: Mapping[str, int]) -> int:
    known, _ = presence.decode(document.encode())
    return sum(max(0, last - presence.number(known[name], "seq")) for name, last in counts.items())
