"""Definitions that one agent removed and another one's new lines use, as warnings."""

import contextlib
from collections.abc import Iterable, Sequence
from itertools import combinations

from ghp_agents.conflicts import definitions, places
from ghp_agents.conflicts.definitions import ChangedSide, LostDefinition, Pair
from ghp_agents.conflicts.places import LineRange
from ghp_agents.conflicts.report import ConflictWarning
from ghp_agents.conflicts.syntax.languages import family
from ghp_agents.conflicts.trunk import OnTrunk
from ghp_agents.git import blob_hunks, tree_changes
from ghp_agents.git.process import GitError
from ghp_agents.git.trial_merge import TrialPlace
from ghp_agents.hotpath.quoting import file, named
from ghp_agents.ports import Clock

LINES_SHOWN = 5


def find_warnings(
    place: TrialPlace, works: Sequence[OnTrunk], chosen: Iterable[int], clock: Clock
) -> tuple[ConflictWarning, ...]:
    """The warnings for pairs with one of the `chosen` works; none without the extra `syntax`."""
    mine = {*chosen}
    families = [{family(path) for path in work.change.paths} - {""} for work in works]
    pairs = [
        (first, second)
        for first, second in combinations(range(len(works)), 2)
        if not mine.isdisjoint((first, second)) and families[first] & families[second]
    ]
    if not pairs:
        return ()
    base = f"{works[0].commit}^1"  # the main branch, which all of them contain
    sides = [ChangedSide(str(number), work.commit) for number, work in enumerate(works)]
    losses = definitions.find(
        place.git_dir,
        [Pair(base, sides[first], sides[second]) for first, second in pairs],
        clock,
        env=place.env,
    )
    own = [loss.lines for loss in losses]
    with contextlib.suppress(GitError):  # a warning must not end the report
        own = _own_lines(place, works, losses)
    return tuple(_warning(works, loss, lines) for loss, lines in zip(losses, own, strict=True))


def _own_lines(
    place: TrialPlace, works: Sequence[OnTrunk], losses: Sequence[LostDefinition]
) -> list[tuple[int, ...]]:
    """The lines of each use, as they are in the agent's own file."""
    stale = sorted({int(loss.user) for loss in losses if works[int(loss.user)].is_stale})
    trees = [(works[number].tree, works[number].own_tree) for number in stale]
    blobs = {
        (str(number), change.path): (change.old, change.new)
        for number, changes in zip(stale, tree_changes.changes(place, trees), strict=True)
        for change in changes
        if change.old and change.new
    }
    needed = [blobs[key] for loss in losses if (key := (loss.user, loss.used_in)) in blobs]
    hunks = blob_hunks.hunks(place, needed)
    return [
        tuple(
            places.moved(
                LineRange(line, line), hunks.get(blobs.get((loss.user, loss.used_in), ("", "")), ())
            ).first
            for line in loss.lines
        )
        for loss in losses
    ]


def _warning(
    works: Sequence[OnTrunk], loss: LostDefinition, lines: tuple[int, ...]
) -> ConflictWarning:
    agents = tuple(", ".join(works[int(number)].work.agents) for number in (loss.agent, loss.user))
    shown = [
        ", ".join(map(named, works[int(number)].work.agents)) for number in (loss.agent, loss.user)
    ]
    loss = loss._replace(agent=agents[0], user=agents[1], lines=lines)
    text = (
        f"{shown[0]} {_act(loss)}, and {shown[1]} uses it in {file(loss.used_in)}, {_lines(lines)}"
    )
    return ConflictWarning(
        agents, loss.used_in, lines[0], f"{text}. Git merges both without a conflict.", loss
    )


def _act(loss: LostDefinition) -> str:
    what = f"the {loss.kind} {file(loss.name)} of {file(loss.path)}"
    if loss.new_path:
        as_what = f" as {file(loss.new_name)}" if loss.new_name else ""
        return f"moved {what} to {file(loss.new_path)}{as_what}"
    return f"renamed {what} to {file(loss.new_name)}" if loss.new_name else f"removed {what}"


def _lines(lines: Sequence[int]) -> str:
    if len(lines) == 1:
        return f"line {lines[0]}"
    more = " and more" if len(lines) > LINES_SHOWN else ""
    return f"lines {', '.join(map(str, lines[:LINES_SHOWN]))}{more}"
