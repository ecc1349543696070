"""What the guard is worth: concurrent changes of real projects (click, black, pytest) replayed by
two agents in two worktrees of a clone, edit by edit, with the real hook of a client before each
edit and after each step; then git judges every state by merging. Each pair is replayed in three
orders: the first change and then the second; the second, committed, and then the first; and in
turns. A refused edit is skipped. A conflict counts as announced if the hook refused the edit that
makes it or an earlier one of that file, or said so right after a shell command that made it. A
refusal is needless if the file would have merged with the edit. Beside it: the same replays under
the rule per file, which refuses every edit of a file that the other has edited. The decisions are
those of the hook's own code in one process. A sample starts the hook as clients do: its decisions
must be the same, and its times are the cost."""

import os
import statistics
from collections.abc import Mapping, Sequence

from bench import pair
from bench.figure import Figure
from bench.pair import Pair
from bench.pair_replay import ORDERS, Costs, FileRule, Replay, bases, replay, replay_all
from bench.place import Place, git
from bench.timing import Times, process, ratio
from bench.two_agents import Clone, Hooks, ProcessHooks

GIT = (2, 39)  # the oldest with `merge-tree --stdin`
QUICK = 12  # each n-th pair in a quick run
SAMPLE = 40  # each n-th pair is replayed with whole processes, too
MOST_NEEDLESS = 3.0


def measure(place: Place) -> list[Figure]:
    """The pairs of all projects."""
    version = tuple(int(part) for part in git(place.folder, "--version").split()[2].split(".")[:2])
    if version < GIT:
        place.say("effect: left out, for this git has no `merge-tree --stdin` (2.39)")
        return []
    projects = pair.of_projects()
    every = QUICK if place.quick else 1
    return figures(place, {name: found[::every] for name, found in projects.items()})


def figures(place: Place, projects: Mapping[str, Sequence[Pair]]) -> list[Figure]:
    """The figures of these pairs."""
    clone = Clone(place)
    ours = {name: replay_all(place, clone, pairs) for name, pairs in projects.items()}
    theirs = [r for pairs in projects.values() for r in replay_all(place, clone, pairs, FileRule)]
    every = [replay for replays in ours.values() for replay in replays]
    found = [figure for name, each in ours.items() for figure in figures_of(name, each)]
    if len(ours) > 1:
        found += figures_of("all", every)
    return [*found, *figures_of("all, rule per file", theirs, bound=False), *_cost(place, projects)]


# ----------------------------------------------------------------------------- what it says


def figures_of(name: str, replays: Sequence[Replay], *, bound: bool = True) -> list[Figure]:
    """What these replays show."""
    torn = [each for each in replays if each.whole]
    missed = [each for each in replays if each.missed()]
    refusals = sum(len(each.refusals()) for each in replays)
    needless = sum(len(each.needless()) for each in replays)
    stopped = [each for each in replays if each.refusals()]
    idle = [each for each in stopped if not each.whole]
    note = f"{_share(len(torn) - len({*map(id, torn)} & {*map(id, missed)}), len(torn))} were"
    return [
        Figure(
            "effect", f"{name}: conflicts not announced", len(missed), "replays",
            0 if bound else None, note=f"{note}, in {len(replays):,} replays",
        ),
        Figure(
            "effect", f"{name}: needless refusals", _percent(needless, refusals), "%",
            MOST_NEEDLESS if bound else None, note=f"{needless:,} of {refusals:,} refused edits",
        ),
        Figure(
            "effect", f"{name}: refused where the whole changes merge",
            _percent(len(idle), len(stopped)), "%",
            note=f"{len(idle):,} of {len(stopped):,} replays with a refusal",
        ),
    ]  # fmt: skip


def _share(part: int, whole: int) -> str:
    return f"{_percent(part, whole):.4g} % of {whole:,} conflicts"


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


# ----------------------------------------------------------------------------- what it costs


def _cost(place: Place, projects: Mapping[str, Sequence[Pair]]) -> list[Figure]:
    """Whole processes: the same decisions as in one process, and their times."""
    pairs = [each for found in projects.values() for each in found]
    sample = pairs[:: len(pairs) // 3 or 1] if place.quick else pairs[::SAMPLE]
    clone = Clone(place)
    python = place.installed.python
    hooks, costs, bare = ProcessHooks(python), Costs(), []
    differ = 0
    env = dict(os.environ)
    for each, commit in zip(sample, bases(clone, sample), strict=True):
        for order in ORDERS:
            bare.append(process([python, "-c", "pass"], cwd=clone.folder, env=env))
            whole = replay(clone, each, commit, order, hooks, costs)
            inside = replay(clone, each, commit, order, Hooks())
            differ += _words(whole) != _words(inside)
    note = f"of {len(bare)} replays"
    found = [
        Figure("effect", "whole processes that decide otherwise", differ, "replays", 0, note=note)
    ]
    for name, taken in (("alone", costs.alone), ("with the other agent", costs.shared)):
        if taken:
            what = f"hook before an edit of a file edited {name}, median"
            times = _median(taken), _median(bare)
            found.append(ratio("effect", what, *times, "× python -c pass", None))
    return found


def _words(each: Replay) -> list[tuple[str, str]]:
    return [(moment.path, moment.word) for moment in each.moments]


def _median(taken: Sequence[float]) -> Times:
    middle = statistics.median(taken)
    return Times(middle, middle, max(taken))
