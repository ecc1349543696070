"""Trial merges of pairs of agents, each on top of the main branch, and the lines that conflict."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ghp_agents.conflicts import places
from ghp_agents.conflicts.overlap import candidates
from ghp_agents.conflicts.path_conflict import PathConflict, conflicts_of
from ghp_agents.conflicts.places import ClashPlace
from ghp_agents.conflicts.trunk import OnTrunk
from ghp_agents.git import blob_hunks, tree_changes, trial_merge
from ghp_agents.git.blob_hunks import Hunk
from ghp_agents.git.merge import Stage
from ghp_agents.git.trial_merge import TrialPlace

Hunks = Mapping[tuple[str, str], list[Hunk]]
TRUNK = -1  # the number of the main branch itself, as a side


class Clash(NamedTuple):
    """Two works that conflict, by their numbers. `failure` is git's reason if it cannot tell."""

    first: int
    second: int
    files: tuple[PathConflict, ...]
    failure: str = ""


def merge_pairs(
    place: TrialPlace, works: Sequence[OnTrunk], only: Iterable[int] | None = None
) -> list[Clash]:
    """The pairs that conflict, or that git cannot merge at all; with `only`, those with one of
    these. Raises GitError."""
    chosen = None if only is None else {*only}
    pairs = [
        (first, second)
        for first, second in candidates([work.change for work in works])
        if works[first].tree != works[second].tree
        and (chosen is None or not chosen.isdisjoint((first, second)))
    ]
    merges = trial_merge.merge_all(
        place, [(works[first].commit, works[second].commit) for first, second in pairs]
    )
    return [
        Clash(first, second, files, merged.failure)
        for (first, second), merged in zip(pairs, merges, strict=True)
        if (files := tuple(conflicts_of(merged))) or merged.failure
    ]


def with_lines(
    place: TrialPlace, works: Sequence[OnTrunk], clashes: Sequence[Clash]
) -> list[Clash]:
    """The clashes with the lines of both sides, as they are in the files of both agents. Raises
    GitError."""
    own = _own_blobs(place, works, {n for c in clashes for n in (c.first, c.second)} - {TRUNK})
    needed: set[tuple[str, str]] = set()
    for clash in clashes:
        for conflict in clash.files:
            needed.update(_pairs(conflict))
            for side, stage in _sides(clash, conflict):
                mine = own.get((side, conflict.path))
                if mine and stage and mine != stage.oid:
                    needed.add((stage.oid, mine))
    hunks = blob_hunks.hunks(place, needed)
    drivers = _drivers(place, {conflict.path for clash in clashes for conflict in clash.files})
    return [
        clash._replace(
            files=tuple(
                conflict._replace(
                    places=_placed(clash, conflict, own, hunks),
                    driver=drivers.get(conflict.path, ""),
                )
                for conflict in clash.files
            )
        )
        for clash in clashes
    ]


def _own_blobs(
    place: TrialPlace, works: Sequence[OnTrunk], numbers: Iterable[int]
) -> dict[tuple[int, str], str]:
    """The blobs of the works themselves that differ from those on top of the main branch."""
    stale = [number for number in sorted(numbers) if works[number].is_stale]
    pairs = [(works[number].own_tree, works[number].tree) for number in stale]
    differing = tree_changes.changes(place, pairs)
    return {
        (number, change.path): change.old
        for number, changes in zip(stale, differing, strict=True)
        for change in changes
        if change.old
    }


def _pairs(conflict: PathConflict) -> list[tuple[str, str]]:
    """The blobs whose lines are compared: the base's with each side's, or both of a new file."""
    base, ours, theirs = map(conflict.stage, (1, 2, 3))
    if ours is None or theirs is None or conflict.kind not in ("lines", "added"):
        return []
    if base is None:
        return [(ours.oid, theirs.oid)]
    return [(base.oid, ours.oid), (base.oid, theirs.oid)]


def _sides(clash: Clash, conflict: PathConflict) -> list[tuple[int, Stage | None]]:
    return [(clash.first, conflict.stage(2)), (clash.second, conflict.stage(3))]


def _placed(
    clash: Clash, conflict: PathConflict, own: Mapping[tuple[int, str], str], hunks: Hunks
) -> tuple[ClashPlace, ...]:
    compared = [hunks.get(pair, ()) for pair in _pairs(conflict)]
    if not compared:
        return ()
    by_base = len(compared) == 2
    clash_places = places.clashes(*compared) if by_base else places.added_twice(*compared)
    moves = [
        hunks.get((stage.oid, own.get((side, conflict.path), "")), ()) if stage else ()
        for side, stage in _sides(clash, conflict)
    ]
    return tuple(
        place._replace(
            ours=places.moved(place.ours, moves[0]), theirs=places.moved(place.theirs, moves[1])
        )
        for place in clash_places
    )


def _drivers(place: TrialPlace, paths: Iterable[str]) -> dict[str, str]:
    """The merge drivers of the configuration that would merge these paths."""
    if not place.programs.drivers:
        return {}
    listed = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in sorted(paths))
    done = place.check("check-attr", "-z", "--stdin", "merge", stdin=listed)
    fields = done.out.decode("utf-8", "surrogateescape").split("\0")
    driver_of = dict(zip(fields[::3], fields[2::3], strict=False))
    return {path: name for path, name in driver_of.items() if name in place.programs.drivers}
