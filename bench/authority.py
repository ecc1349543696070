"""The laws of authority over at least 1,000,000 steps of a simulated world: three clones around one
remote, each with a clock of its own that is wrong by up to an hour; four agents and a person who
claim, steal, take over, release, give, close, lease, edit, die, come back, and start again under
the same name elsewhere; lines that are cut, or break just after a write; and rivals who get in
between a decision and its write. Remotes are restored from backups, lose refs, and lose answers;
clocks are set, machines restarted, clones copied or removed, processes killed; and presence is
forged. Sessions fall silent just after they recorded something, people give claims away, and agents
leave work in their worktrees. The services are the real ones. After every step: a generation has
one holder and never falls in what the remote has; nothing is taken from the living, or from a
person, without --steal; no agent but an orchestrator steals from another that was heard of, or from
a person; of all who ask the remote at most one is told to hold an issue; a fenced holder gets no
guarded command through; nobody edits or leases what another living one has; losers are told who
won; and in the end all clones agree, nothing acknowledged is lost, and the work of who ended is in
every clone.
`python -m bench authority --seed N` plays one schedule again, and cuts it down if it fails."""

import os
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial

from bench.figure import Figure
from bench.forks import together
from bench.place import Place
from tests.support import schedule
from tests.support.acts_of_work import BEFORE_SILENCE
from tests.support.laws import ViolationError
from tests.support.world_files import template

STEPS = 300  # of one schedule
SCHEDULES = 3_340
TENTH = 334  # of them, which `THOROUGH=1 make test-slow` plays
KINDS = (
    ("claims", ("claims: claim", "next: claim", "person-claims: claim")),
    ("takeovers", ("claims: takeover", "next: takeover", "steals: takeover")),
    ("steals", ("steals: steal", "person-steals: steal")),
    ("given back or on", ("releases: released", "gives: given", "person-releases: released")),
    ("leases", ("leases: granted",)),
    ("edits allowed", ("edits: allowed",)),
    ("denied", ("edits: denied, fenced", "edits: denied, lease", "edits: denied, implicit")),
    ("verified", ("verifies: holds",)),
    ("moves and new lives", ("moves: done", "begins: done")),
    ("syncs", ("syncs: synced",)),
    (
        "restored remotes and lost refs",
        ("restores: done", "loses-right: done", "loses-clone: done"),
    ),
    ("clocks set", ("sets-clock: done",)),
    ("machines restarted", ("restarts: done",)),
    ("copied clones", ("copies: done",)),
    ("forged presences", ("forges: done",)),
    ("killed processes", ("kills: done",)),
    ("removed clones", ("removes: done",)),
    ("silent sessions", tuple(f"falls-silent: {kind}" for kind in BEFORE_SILENCE)),
    ("given away by people", ("assigns: followed", "person-gives: given")),
    ("changes in worktrees", ("works: done",)),
    ("lost answers", ("loses-answer: done", "breaks: done")),
    ("checks by all", ("checks-all: 0 pass", "checks-all: 1 pass")),
)


def measure(place: Place) -> list[Figure]:
    """Many schedules, each in a world of its own, in as many processes as there are cores."""
    seeds = range(6) if place.quick else range(SCHEDULES)
    template()  # made here: the processes below do not clean up
    started = time.monotonic()
    workers = os.cpu_count() or 1
    spans = together([partial(_play, place, seeds[worker::workers]) for worker in range(workers)])
    took = time.monotonic() - started
    counts = sum((span.result[0] for span in spans), Counter[str]())
    broken = sum(span.result[1] for span in spans)
    number = len(seeds) * STEPS
    bound = None if place.quick else 1_000_000
    return [
        Figure("authority", "steps", number, "steps", bound, at_least=True, note=_summary(counts)),
        Figure("authority", "violations", broken, "violations", 0, detail=dict(counts)),
        Figure("authority", "speed", number / took, "steps/s", note=f"{workers} processes"),
    ]


def again(seed: int) -> str | None:
    """Replay the schedule of a seed; return a readable account of a violation, or None."""
    try:
        schedule.check(seed, STEPS)
    except ViolationError as error:
        return str(error)
    return None


def _play(place: Place, seeds: Sequence[int]) -> tuple[Counter[str], int]:
    counts, broken = Counter[str](), 0
    for seed in seeds:
        try:
            counts += schedule.check(seed, STEPS)
        except ViolationError as error:
            place.say(str(error))
            broken += 1
    return counts, broken


def _summary(counts: Counter[str]) -> str:
    """The numbers of steps by kind; the results file has all kinds."""
    refused = sum(number for kind, number in counts.items() if kind.endswith(": refused"))
    unknown = sum(number for kind, number in counts.items() if kind.endswith(": unknown"))
    done = [f"{sum(counts[kind] for kind in kinds):,} {name}" for name, kinds in KINDS]
    return ", ".join([*done, f"{refused:,} refused", f"{unknown:,} unknown"])
