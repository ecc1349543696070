"""What GitHub is asked, in requests: a sweep of a thousand open issues with fifty agents, the first
and one when nothing has changed, a sync when nothing has changed, and jobs of the action, each in a
new clone. GitHub is a stand-in here, and so is the clock: what would be waited between two writes
is not measured."""

import os
import pwd
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from bench.figure import Figure
from bench.place import Place
from ghp_agents.claims import service as claim
from ghp_agents.presence import service as presence
from ghp_agents.wiring import App
from tests.support import emulator
from tests.support.clock import ManualClock
from tests.support.ghp import invoke
from tests.support.github import ADMIN, WORKER_1, GitHub, World
from tests.support.odd_hour import Crowd, OddHour
from tests.support.openapi import OpenAPI
from tests.support.proxy import Exchange
from tools import clients, emulate

FIRST, UNCHANGED, SYNC, ACTION = 40, 12, 2, 8
STARTED = 1_790_000_000.0  # of the twin's clock


def measure(place: Place) -> list[Figure]:
    """The requests of each command; nothing if npm, and so the stand-in, cannot be reached."""
    issues, agents, homes = (30, 4, 2) if place.quick else (1_000, 50, 5)
    jobs = [*_hour(place), *(each for size in sizes(place) for each in _jobs(place, size))]
    try:
        stand = emulate.ready(home=pwd.getpwuid(os.getuid()).pw_dir)
    except clients.UnreachableError:
        place.say("npm cannot be reached, so there is no stand-in for GitHub to ask: left out.")
        return jobs
    with ExitStack() as stack:
        running = stack.enter_context(emulator.running(stand))
        world = World(running, OpenAPI(stand.openapi))
        github = stack.enter_context(GitHub(world, place.new("requests"), judged=False).open())
        clock = ManualClock(time.time())
        github.proxy.clock = clock
        place.say(f"{issues} issues and {agents} agents are made …")
        _prepare(github, clock, issues, agents, homes)
        sweeper = github.clone("sweeper")
        first = _requests_of(github, clock, sweeper, "agent-sweep")
        _requests_of(github, clock, sweeper, "agent-sweep")  # it reads what the first one wrote
        unchanged = _requests_of(github, clock, sweeper, "agent-sweep")
        _requests_of(github, clock, github.folder / "clone-1", "agent-sync")
        sync = _requests_of(github, clock, github.folder / "clone-1", "agent-sync")
    what = f"sweep of {issues:,} issues, {agents} agents"
    return [
        _figure(f"{what}: the first", first, FIRST),
        _figure(f"{what}: nothing changed", unchanged, UNCHANGED),
        _figure("sync, nothing changed", sync, SYNC),
        _figure("what of these two was not 304", [*_changed(unchanged), *_changed(sync)], 0),
        *jobs,
    ]


def sizes(place: Place) -> tuple[int, ...]:
    """How many issues the repositories of the action have."""
    return (30,) if place.quick else (1_000, 5_000)


def _hour(place: Place) -> list[Figure]:
    """An hour of agents with one token, on a GitHub that enforces its limits: what they write."""
    crowd = Crowd(2, 2, 60.0, 600.0) if place.quick else Crowd(10, 5, 300.0)
    with GitHub(World(None, None), place.new("hour"), judged=False).open() as github:
        place.say("An hour of agents passes …")
        hour = OddHour(github, crowd, STARTED)
        hour.pass_by()
        busiest, refused = hour.busiest(), hour.limits_hit()
        asked = len(github.proxy.exchanges)
    what = f"an hour of {crowd.clones} × {crowd.agents} agents"
    note = f"{asked:,} requests in all, {busiest.all} of them written"
    return [
        Figure(
            "requests", f"{what}: most writes in an hour", busiest.hour, "writes", 500, note=note
        ),
        Figure("requests", f"{what}: most writes in a minute", busiest.minute, "writes", 80),
        Figure("requests", f"{what}: refused by a limit", refused, "requests", 0),
    ]


def _jobs(place: Place, issues: int) -> list[Figure]:
    """The action in a repository that does not change: its first job, and one with its cache."""
    clock, cache = ManualClock(STARTED), place.new("cache")
    with GitHub(World(None, None), place.new("action"), judged=False).open() as github:
        github.proxy.clock = clock
        place.say(f"{issues:,} issues are made for the action …")
        for number in range(1, issues + 1):
            clock.wait(60)
            labels = ["agent:worker-3"] if number % max(1, issues // 60) == 0 else []
            github.issue(f"Issue {number}", labels=labels)
        words = f"agent-sweep --ephemeral --cache {cache}"
        found = [
            _requests_of(github, clock, github.clone(f"sweeper-{number}"), words)
            for number in range(3)
        ]
    what = f"action, {issues:,} issues"
    return [
        _figure(f"{what}: the first job", found[0], None),
        _figure(f"{what}: nothing changed", found[2], ACTION),
    ]


def _prepare(github: GitHub, clock: ManualClock, issues: int, agents: int, homes: int) -> None:
    """Create issues; each agent claims one, in some clones."""
    for number in range(1, issues + 1):
        github.issue(f"Issue {number}", body=f"### Goal\n\nThe {number}th thing is done.\n")
    folders = [github.clone(f"clone-{number + 1}") for number in range(homes)]
    env = {**os.environ, **github.environment(WORKER_1)}
    for number in range(1, agents + 1):
        folder, name = folders[number % homes], f"worker-{number}"
        app = App(folder, env, name=name, clock=clock)
        presence.heartbeat(app.ws, app.store, app.ws.agent(), {"status": "implementing"})
        claim.claim(app, str(number))
    for folder in [*folders, *folders]:
        _requests_of(github, clock, folder, "agent-sync")


def _requests_of(
    github: GitHub, clock: ManualClock, folder: Path, command: str
) -> Sequence[Exchange]:
    """The requests of a command, after the cached response has expired."""
    clock.wait(30)
    mark = len(github.proxy.exchanges)
    who = ADMIN if folder.name.startswith("sweeper") else WORKER_1
    done = invoke(command, folder, github.environment(who), clock=clock)
    if done.code:
        raise RuntimeError(f"ghp {command} ended with {done.code}: {done.err}")
    return github.proxy.since(mark)


def _changed(exchanges: Sequence[Exchange]) -> list[Exchange]:
    return [exchange for exchange in exchanges if not exchange.not_modified]


def _figure(name: str, exchanges: Sequence[Exchange], bound: int | None) -> Figure:
    writes = sum(exchange.asked.writes for exchange in exchanges)
    unchanged = len(exchanges) - len(_changed(exchanges))
    note = f"{len(exchanges) - writes} read, {writes} written, {unchanged} × 304"
    detail = {"requests": [str(exchange) for exchange in exchanges[:100]]}
    return Figure("requests", name, len(exchanges), "requests", bound, note=note, detail=detail)
