"""What our hooks cost in each real client: time for each call of a tool, and text that the model
reads. A model on loopback has it write, run and read, in turn without hooks and with them."""

import json
import os
import pwd
import re
import resource
import statistics
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from bench import report
from bench.figure import Figure, count
from bench.place import Place
from bench.timing import process
from tests.clients.steps import edit, look, shell, start
from tests.support.clients import Bench, end
from tests.support.fake_models import Call, Request, Turn, serve
from tools import clients

CALLS = 20
BOUND_MS = {"claude": 45.0}
OTHERS_MS = 60.0
CHARACTERS = 4  # for each token
REFUSAL = r"src/\S+ is leased by .*"  # to the end of what the client adds


class Session(NamedTuple):
    """What one session took and read."""

    seconds: float
    processor: float  # seconds of processor time of the client and all that it started
    gaps: Sequence[float]  # from an answer of the model to its next request, for each call
    said: Sequence[str]  # what the model has read at each request


def measure(place: Place) -> list[Figure]:
    """The figures of each client that is or can be installed."""
    figures: list[Figure] = []
    home = pwd.getpwuid(os.getuid()).pw_dir
    for name in clients.CLIENTS:
        try:
            command = clients.ready(name, home)
        except (clients.UnreachableError, clients.BrokenError) as error:
            place.say(f"{name} cannot be installed: left out. {str(error).splitlines()[0]}")
            continue
        with serve() as models:
            bench = Bench({name: command}.__getitem__, models, Path(os.environ["HOME"]))
            measured = _figures(place, bench, name)
        place.say(report.table(measured))  # a run takes long; what is measured is not lost
        figures += measured
    return figures


def _figures(place: Place, bench: Bench, client: str) -> list[Figure]:
    plain, hooked = place.repository(f"off-{client}"), place.repository(f"on--{client}")
    ghp, env = place.installed.ghp, dict(os.environ)
    for words in (
        ("agent-init", "--agent", "worker-1", "--hooks", client, "--no-probe"),
        ("agent-lease", "src/", "--as", "worker-2"),
    ):
        process([ghp, *words], cwd=hooked, env=env)
    _trust(bench, client, plain, hooked)
    off: list[Session] = []
    on: list[Session] = []
    for number in range(1 if place.quick else 5):
        place.say(f"{client}: sessions {2 * number + 1} and {2 * number + 2} …")
        off.append(session(bench, client, plain, f"off{number}"))
        on.append(session(bench, client, hooked, f"on-{number}"))
    return [_overhead(client, off, on), *texts(client, off[0], on[0])]


def _trust(bench: Bench, client: str, *folders: Path) -> None:
    """What these clients ask their user for before they run a project's hooks."""
    if client == "codex":
        for folder in folders:
            bench.trust_project(folder)
    if client == "copilot":
        config = bench.home / ".copilot/config.json"
        config.parent.mkdir()
        config.write_text(json.dumps({"trusted_folders": [str(folder) for folder in folders]}))


def _overhead(client: str, off: Sequence[Session], on: Sequence[Session]) -> Figure:
    """The best session of each kind is compared by its median call."""
    before, after = (min(map(_median, sessions)) for sessions in (off, on))
    totals = [min(each.seconds for each in sessions) for sessions in (off, on)]
    work = [min(each.processor for each in sessions) for sessions in (off, on)]
    return Figure(
        "clients",
        f"{client}: more for each call of a tool",
        (after - before) * 1000,
        "ms",
        BOUND_MS.get(client, OTHERS_MS),
        note=(
            f"{after / before:.2f} ×; {count(before * 1000)} / {count(after * 1000)} ms a call, "
            f"sessions {totals[0]:.1f} / {totals[1]:.1f} s, {work[0]:.2f} / {work[1]:.2f} s of CPU"
        ),
        detail={"offMs": [round(_median(each) * 1000, 1) for each in off],
                "onMs": [round(_median(each) * 1000, 1) for each in on]},
    )  # fmt: skip


def _median(session: Session) -> float:
    return statistics.median(session.gaps)


def texts(client: str, off: Session, on: Session) -> list[Figure]:
    """What hooks add to what the model reads."""
    calls = len(on.gaps)
    first, last = (len(on.said[at]) - len(off.said[at]) for at in (0, calls))
    refusal = re.search(REFUSAL, on.said[-1].removeprefix(on.said[-2]), re.DOTALL)
    rows = {
        "at the start": first,
        "for a quiet call": (last - first) / calls,
        "for a refusal": len(refusal[0]) if refusal else 0,
    }
    return [
        Figure("clients", f"{client}: more to read {when}", round(size / CHARACTERS), "tokens")
        for when, size in rows.items()
    ]


def session(bench: Bench, client: str, repo: Path, key: str, calls: int = CALLS) -> Session:
    """A session of so many calls, and one that writes a file which worker-2 leases in `hooked`."""
    asked: list[tuple[float, float, str]] = []

    def line(*calls: Call) -> Callable[[Request], Turn]:
        def answer(request: Request) -> Turn:
            at = perf_counter()
            said = request.said
            asked.append((at, perf_counter(), said))
            return Turn(calls=calls) if calls else Turn("I stop.")

        return answer

    made = [_call(client, repo, key, number) for number in range(calls)]
    leased = edit(client, repo / f"src/{key}.py")
    bench.models.script(key, *(line(call) for call in (*made, leased)), line())
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    ended = end(start(bench, client, repo, key))
    seconds, after = perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if ended.code or len(asked) != calls + 2:
        raise RuntimeError(f"{client} made {len(asked)} requests, exit {ended.code}: {ended.err}")
    gaps = [then[0] - now[1] for now, then in pairwise(asked)]
    return Session(seconds, processor, gaps[:calls], [said for _, _, said in asked])


def _call(client: str, repo: Path, key: str, number: int) -> Call:
    kinds = (
        edit(client, repo / f"{key}-{number:02}.py"), shell(client, "true"), look(client, repo),
    )  # fmt: skip
    return kinds[number % len(kinds)]
