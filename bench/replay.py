"""History replayed: every branch is an agent that edits its files in commit order, all at once, in
one clone. Before each edit the real decision is asked, and what it says is written down, not
obeyed, for the history stays as it was; then git merges every pair of branches, and each textual
conflict is looked up among the denials. It counts as announced if one of the two was denied a path
of it before its edit. The generated project has the shape of real ones, as measured on click 8.0.0
to 8.1.3, requests 2.28.0 to 2.32.0 and this program's own first 187 commits: files of 100 lines in
the median and of 600 in the 90th percentile; a tenth of them takes 31 to 45 % of the changes (a
weight of rank^-0.8); 3 files to a commit (75th percentile 6, 90th 10), 2 hunks to a file (4, 12),
2 lines to a hunk (6, 12), evenly over the file; half of the work is in one folder. The other
history is of click's releases: each leaves the files that it changed as it left them in earnest.
Agents count as at work until all are done. Printed beside it, without a bound: how it is where
whoever is done lets go, while nobody has merged yet."""

import os
import random
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from bench import history
from bench.figure import Figure
from bench.history import Branch, Change, History
from bench.place import Place, git, open_app
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.ids import AgentName
from ghp_agents.guard import evaluate
from ghp_agents.hotpath import check_edit, implicit_leases
from ghp_agents.hotpath.policy import Verdict
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.presence import service as presence
from ghp_agents.wiring import App
from tests.support.taking import take

CLICK = ("8.0.0", "8.0.1", "8.0.2", "8.0.3", "8.0.4", "8.1.0", "8.1.1", "8.1.2", "8.1.3")
Decide = Callable[[App, str], Verdict]
GIT = (2, 38)  # the oldest with `merge-tree --write-tree`


class Conflict(NamedTuple):
    """A merge conflict: its branches, and the file's paths in either of them."""

    first: str
    second: str
    kind: str
    paths: frozenset[str]


class Denial(NamedTuple):
    """A refused edit."""

    agent: str
    path: str
    holder: str


@dataclass
class Replay:
    """The result of one history."""

    pairs: int
    conflicts: Sequence[Conflict]
    edits: int = 0
    denials: set[Denial] = field(default_factory=set)

    def silent(self) -> list[Conflict]:
        """Conflicts that no denial announced."""
        denied = {(denial.agent, denial.path) for denial in self.denials}
        return [
            conflict
            for conflict in self.conflicts
            if not any((who, path) in denied for who in conflict[:2] for path in conflict.paths)
        ]

    def idle(self) -> set[Denial]:
        """Denials for files that merge cleanly between the two branches."""
        torn = {
            (who, whom, path)
            for conflict in self.conflicts
            for who, whom in ((conflict.first, conflict.second), (conflict.second, conflict.first))
            for path in conflict.paths
        }
        return {
            denial
            for denial in self.denials
            if (denial.agent, denial.holder, denial.path) not in torn
        }


def measure(place: Place) -> list[Figure]:
    """Generated histories and real releases, with implicit and with explicit leases."""
    version = tuple(int(part) for part in git(place.folder, "--version").split()[2].split(".")[:2])
    if version < GIT:
        place.say("replay: left out, for this git has no `merge-tree --write-tree` (2.38)")
        return []
    seeds, branches = ((1,), 12) if place.quick else ((1, 2), 60)
    pasts = [history.generated(seed, files=300, branches=branches) for seed in seeds]
    generated = [(past, _conflicts(place, past)) for past in pasts]
    releases = None if place.quick else history.of_releases(place, "click", CLICK)
    real = [] if releases is None else [(releases, _conflicts(place, releases))]
    name = f"{branches} branches"
    figures = [
        *_figures(name, [_replay(place, *item) for item in generated]),
        *_figures(
            f"{name}, leases of folders", [_replay(place, *h, folders=True) for h in generated]
        ),
        *(f for item in real for f in _figures("click's releases", [_replay(place, *item)])),
    ]
    leaving = [_replay(place, *item, leave=True) for item in generated]
    return [*figures, _announced(f"{name}, who is done lets go", leaving)]


def _figures(what: str, replays: Sequence[Replay]) -> list[Figure]:
    conflicts = sum(len(replay.conflicts) for replay in replays)
    silent = sum(len(replay.silent()) for replay in replays)
    pairs, edits = sum(replay.pairs for replay in replays), sum(replay.edits for replay in replays)
    denials = sum(len(replay.denials) for replay in replays)
    idle = sum(len(replay.idle()) for replay in replays)
    share = 100 * idle / denials if denials else 0.0
    note = f"{_percent(conflicts - silent, conflicts)} of {conflicts:,} in {pairs:,} pairs were"
    idle_note = f"{idle:,} of {denials:,} denials, on {edits:,} edits"
    return [
        Figure("replay", f"{what}: conflicts not announced", silent, "conflicts", 0, note=note),
        Figure("replay", f"{what}: denials where the pair merges", share, "%", note=idle_note),
    ]


def _announced(what: str, replays: Sequence[Replay]) -> Figure:
    conflicts = sum(len(replay.conflicts) for replay in replays)
    announced = conflicts - sum(len(replay.silent()) for replay in replays)
    note = f"{announced:,} of {conflicts:,}"
    share = 100 * announced / max(1, conflicts)
    return Figure("replay", f"{what}: conflicts announced", share, "%", note=note)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.4g} %" if whole else "none"


# ------------------------------------------------------------------------- what agents ask


def _replay(
    place: Place,
    past: History,
    conflicts: Sequence[Conflict],
    *,
    folders: bool = False,
    leave: bool = False,
    decide: Decide | None = None,
) -> Replay:
    clone = place.repository("replay")
    history.write(past, clone)
    replay = Replay(_pairs(past), conflicts)
    agents = {branch.name: open_app(clone, branch.name) for branch in past.branches}
    for branch in past.branches:
        _begin(agents[branch.name], branch, folders=folders)
    for branch, change, is_last in _in_turn(past):
        for path in filter(None, (change.source, change.path)):
            replay.edits += 1
            verdict = (decide or _decide)(agents[branch.name], path)
            if verdict.is_refused:
                replay.denials.add(Denial(branch.name, path, verdict.holder or ""))
        if leave and is_last:
            _end(agents[branch.name])
    return replay


def _pairs(past: History) -> int:
    return len(past.branches) * (len(past.branches) - 1) // 2


def _begin(agent: App, branch: Branch, *, folders: bool) -> None:
    presence.register(agent.ws, agent.store, AgentName(branch.name))
    if folders and branch.home:
        wanted = LeaseRequest((f"{branch.home}/",), reason="most of the work is here")
        try:
            take(agent, wanted)
        except RefusedError:
            return  # it continues without a lease


def _end(agent: App) -> None:
    name = agent.ws.agent()
    implicit_leases.drop_all(agent.ws.folders, name)
    presence.heartbeat(agent.ws, agent.store, name, {"status": "stopped"})


def _in_turn(past: History) -> Iterator[tuple[Branch, Change, bool]]:
    """All edits, each the next one of a random unfinished branch; deterministic for a history."""
    rng = random.Random(len(past.branches))
    left = [(branch, [c for commit in branch.commits for c in commit]) for branch in past.branches]
    while left:
        turn = rng.randrange(len(left))
        branch, changes = left[turn]
        change = changes.pop(0)
        if not changes:
            del left[turn]
        yield branch, change, not changes


def _decide(agent: App, path: str) -> Verdict:
    """Decide like the hook: with the fast check, and if that cannot tell, the full one."""
    ws, name = agent.ws, agent.ws.agent()
    found = check_edit.quick(ws.place, ws.folders, os.environ, name, path, ws.clock.now())
    if found is not None:
        return found
    return evaluate.judge(agent, name, [path], editing=True)[0]


# -------------------------------------------------------------------------- what git says


def _conflicts(place: Place, past: History) -> list[Conflict]:
    """The merge conflicts of every pair of branches."""
    clone = place.repository("merging")
    history.write(past, clone)
    return [
        Conflict(
            first.name, second.name, kind, _all_names(paths, [first.renames(), second.renames()])
        )
        for first, second in combinations(past.branches, 2)
        for kind, paths in _merged(clone, first.name, second.name)
    ]


def _merged(clone: Path, first: str, second: str) -> Iterator[tuple[str, list[str]]]:
    """The conflicts of a merge: kind and paths, from git's machine-readable output."""
    command = ["git", "merge-tree", "--write-tree", "-z", first, second]
    done = subprocess.run(command, cwd=clone, capture_output=True)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"merging {first} and {second}: {done.stderr.decode()}")
    messages = done.stdout.decode().partition("\0\0")[2].split("\0") if done.returncode else []
    while len(messages) > 1:
        count = int(messages[0])
        kind = messages[count + 1]
        if kind.startswith("CONFLICT"):
            yield kind, messages[1 : count + 1]
        messages = messages[count + 3 :]


def _all_names(paths: Sequence[str], renames: Sequence[Mapping[str, str]]) -> frozenset[str]:
    before = {new: old for names in renames for old, new in names.items()}
    found = {*paths, *(before[path] for path in paths if path in before)}
    return frozenset(found | {names[path] for names in renames for path in found if path in names})
