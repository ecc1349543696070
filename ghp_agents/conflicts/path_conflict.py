"""A conflicting path of a trial merge: of what kind it is, and which side did what."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from ghp_agents.conflicts.places import ClashPlace, LineRange
from ghp_agents.core.ids import count
from ghp_agents.git.merge import Stage
from ghp_agents.git.trial_merge import TrialMerge
from ghp_agents.hotpath.quoting import file, phrase

ConflictKind = Literal[
    "lines", "added", "deleted", "renamed", "binary", "mode", "folder", "link", "submodule", "other"
]
LINK, SUBMODULE = "120000", "160000"
PLACES_SHOWN = 3
_KINDS: tuple[tuple[str, ConflictKind], ...] = (  # the first that fits; git's own short texts
    ("CONFLICT (submodule", "submodule"),
    ("CONFLICT (binary)", "binary"),
    ("CONFLICT (modify/delete)", "deleted"),
    ("CONFLICT (rename", "renamed"),
    ("CONFLICT (implicit dir rename)", "renamed"),
    ("CONFLICT (directory rename", "renamed"),
    ("CONFLICT (file/directory)", "folder"),
    ("CONFLICT (distinct modes)", "mode"),
    ("CONFLICT (contents)", "lines"),
)
_ASIDE = re.compile(r"~[0-9a-f]{40,64}(_\d+)?$")  # where git moves a file that is in the way
_WORDS: dict[ConflictKind, str] = {  # where the sides make no difference
    "renamed": "moved by one side, and moved, deleted or added to by the other",
    "binary": "both changed it, and it is binary",
    "mode": "it is a file on one side, and a link or submodule on the other",
    "folder": "it is a file on one side, and a folder on the other",
    "link": "both changed the symbolic link",
    "submodule": "both changed the submodule",
    "other": "git cannot merge it",
}
_ORDER = [kind for _, kind in _KINDS] + ["link", "added", "other"]


class PathConflict(NamedTuple):
    """A path that git cannot merge. The first side is `ours`."""

    path: str
    kind: ConflictKind
    paths: tuple[str, ...] = ()  # other names of it, for renames
    stages: tuple[Stage, ...] = ()
    places: tuple[ClashPlace, ...] = ()
    driver: str = ""  # the merge driver of the configuration, which did not run

    def stage(self, number: int) -> Stage | None:
        """The version of the base (1), of ours (2) or of theirs (3)."""
        return next((stage for stage in self.stages if stage.number == number), None)

    @property
    def turned(self) -> "PathConflict":
        """The same with the sides exchanged."""
        numbers = (0, 1, 3, 2)
        return self._replace(
            stages=tuple(stage._replace(number=numbers[stage.number]) for stage in self.stages),
            places=tuple(place.turned for place in self.places),
        )


def conflicts_of(merged: TrialMerge) -> list[PathConflict]:
    """The conflicts of a trial merge, by path."""
    conflicts: dict[str, PathConflict] = {}
    for message in merged.messages:
        kind = _kind(message.kind)
        if kind is None or not message.paths:
            continue
        path, *others = dict.fromkeys(_ASIDE.sub("", path) for path in message.paths)
        previous = conflicts.get(path)
        if previous is None or _ORDER.index(kind) < _ORDER.index(previous.kind):
            conflicts[path] = PathConflict(path, kind, tuple(others))
    by_path: dict[str, list[Stage]] = {}
    for stage in merged.stages:
        by_path.setdefault(_ASIDE.sub("", stage.path), []).append(stage)
    for path in by_path:  # each has a message; a later git may word it in another way
        if not any(
            path == conflict.path or path in conflict.paths for conflict in conflicts.values()
        ):
            conflicts[path] = PathConflict(path, "other")
    return [_with_stages(conflicts[path], by_path.get(path, ())) for path in sorted(conflicts)]


def _kind(text: str) -> ConflictKind | None:
    if not text.startswith("CONFLICT"):
        return None
    return next((kind for start, kind in _KINDS if text.startswith(start)), "other")


def _with_stages(conflict: PathConflict, stages: Sequence[Stage]) -> PathConflict:
    conflict = conflict._replace(stages=tuple(stages))
    if conflict.kind != "lines":
        return conflict
    modes = {stage.mode for stage in stages}
    if LINK in modes:
        return conflict._replace(kind="link")
    if SUBMODULE in modes:
        return conflict._replace(kind="submodule")
    return conflict if conflict.stage(1) else conflict._replace(kind="added")


def describe(conflict: PathConflict, ours: str, theirs: str) -> str:
    """What both sides did, in words."""
    other = f"; also {', '.join(map(file, conflict.paths))}" if conflict.paths else ""
    driver = f" (merged as text: the driver {phrase(conflict.driver, 40)} does not run here)"
    return _words(conflict, ours, theirs) + other + driver * bool(conflict.driver)


def _words(conflict: PathConflict, ours: str, theirs: str) -> str:
    places = _of_lines(conflict.places, ours, theirs) if conflict.places else ""
    if conflict.kind == "lines":
        return places or "both changed the same lines"
    if conflict.kind == "added":
        return f"both added it{': ' if places else ''}{places}"
    if conflict.kind == "deleted":
        by, other = (ours, theirs) if conflict.stage(2) is None else (theirs, ours)
        return f"{by} deleted it, {other} changed it"
    return _WORDS[conflict.kind]


def _of_lines(places: Sequence[ClashPlace], ours: str, theirs: str) -> str:
    more = len(places) - PLACES_SHOWN
    tail = f" and {count(more, 'more place')}" if more > 0 else ""
    first = [place.ours for place in places[:PLACES_SHOWN]]
    second = [place.theirs for place in places[:PLACES_SHOWN]]
    return f"{_lines(first)} of {ours}, {_lines(second)} of {theirs}{tail}"


def _lines(ranges: Iterable[LineRange]) -> str:
    listed = [*ranges]
    several = len(listed) > 1 or listed[0].last > listed[0].first
    return f"{'lines' if several else 'line'} {', '.join(map(shown, listed))}"


def shown(lines: LineRange) -> str:
    """A range of lines, for people; removed lines are the place between two lines."""
    if lines.last < lines.first:
        return f"{lines.first} (removed)"
    return str(lines.first) if lines.last == lines.first else f"{lines.first}-{lines.last}"
