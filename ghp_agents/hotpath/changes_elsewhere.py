"""Whether an edit conflicts with what agents of other clones have changed, as far as reported.

A report has ranges of lines of a base, and no text. With the same base here, these decide. Ranges
of another base are mapped through the difference of the two, if both are in this clone. Else the
agent is only warned. All git commands together have one second; after it nothing is decided.
"""

from ghp_agents.hotpath import line_ranges
from ghp_agents.hotpath.light_dataclass import dataclass
from ghp_agents.hotpath.worktree_file import LARGEST, UndecidedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ghp_agents.hotpath.line_ranges import Hunk, Range
    from ghp_agents.hotpath.locate import Location

DEADLINE_S = 1.0
ALL = ((0, line_ranges.END),)  # the lines of a deleted file
LINES, ADDED, DELETED, UNKNOWN, BINARY = "lines", "added", "deleted", "unknown", "binary"


@dataclass
class ChangesReport:
    """What an agent of another clone has changed in one file."""

    agent: str
    epoch: int
    clone: str
    issue: int | None
    heard: float  # when the report came, by this machine's clock
    until: float  # until then the agent counts as alive without further news
    base: str  # the id of the file in their base; empty: the file is new
    lines: str | None  # None: all of the file, or unknown
    is_deleted: bool = False

    @property
    def ranges(self) -> "list[Range] | None":
        """The changed lines in their base. Raises ValueError."""
        return None if self.lines is None else line_ranges.decode(self.lines)


@dataclass
class RangeConflict:
    """An edit and a report that do not go together, or may not. Lines are counted from 1."""

    report: ChangesReport
    kind: str
    is_certain: bool  # if not, the agent is only warned
    start: int = 0  # of the changed lines in my version, if known
    end: int = 0
    their_start: int = 0  # in the base of my branch
    their_end: int = 0


def reports(book: "Mapping[str, Any]", key: str) -> "list[ChangesReport]":
    """The reports about a file in a compiled policy."""
    return [ChangesReport(*fields) for fields in book["changes"].get(key, ())]


def clashes(
    place: "Location",
    folder: str,
    path: str,
    mine: bytes | None,
    before: bytes | None,
    reports: "Sequence[ChangesReport]",
    main: str,
    environ: "Mapping[str, str]",
    *,
    again: bool = False,
) -> "list[RangeConflict]":
    """The conflicts of `reports` with `mine`, my version of a file (None if I delete it).

    `before` is my version until now. Conflicts that it had already are left out, except with
    `again`. `main` is the main branch's ref, `folder` has the caches. Raises UndecidedError.
    """
    from time import monotonic

    if not reports or (mine == before and not again):
        return []
    if mine is not None and len(mine) > LARGEST:
        raise UndecidedError(f"the file has {len(mine)} bytes")
    try:
        decision = _Decision(place, folder, path, environ, monotonic() + DEADLINE_S)
        return decision.clashes(mine, before, reports, main, again=again)
    except OSError as error:
        raise UndecidedError(f"{type(error).__name__}: {error}") from error


class _Decision:
    """One question, with the facts that all reports share."""

    def __init__(
        self,
        place: "Location",
        folder: str,
        path: str,
        environ: "Mapping[str, str]",
        until: float,
    ) -> None:
        self._place = place
        self._top = place.toplevel or ""
        self._folder = folder
        self._path = path
        self._environ = environ
        self._until = until

    def clashes(
        self,
        mine: bytes | None,
        before: bytes | None,
        reports: "Sequence[ChangesReport]",
        main: str,
        *,
        again: bool,
    ) -> "list[RangeConflict]":
        from ghp_agents.hotpath import stored_form

        base, attributes = self._base(main)

        if stored_form.is_union(attributes):
            return []
        if stored_form.whole_reason(attributes):
            return [RangeConflict(report, UNKNOWN, is_certain=False) for report in reports]
        if not base:
            return _about_new(reports) if mine is not None else []
        mine, before = self._stored(mine, base, attributes), self._stored(before, base, attributes)
        hunks, earlier, between = self._differences(base, mine, before, reports)
        earlier = [] if again else earlier
        if hunks == []:
            return []
        clashes = [self._with(report, base, hunks, earlier, between) for report in reports]
        return [clash for clash in clashes if clash is not None]

    def _base(self, main: str) -> "tuple[str, Mapping[str, str]]":
        """The file's id in the base of my branch, and its attributes."""
        from ghp_agents.hotpath import stored_form
        from ghp_agents.hotpath.git_calls import in_worktree, run_all
        from ghp_agents.hotpath.merge_bases import Heads, merge_bases, tip

        head = Heads(self._top, self._place.common_dir, self._environ, self._until).of(
            [self._place.git_dir]
        )[0]
        other = tip(self._place.common_dir, main) if main else head
        pairs = [(head, other)] if head and other else []
        bases = merge_bases(self._top, self._folder, pairs, self._environ, self._until)
        commit = (bases[0] if bases else "") or head
        where = self._top, self._environ
        listed, attributes = run_all(
            [
                in_worktree(*where, "ls-tree", "-z", "--full-tree", commit or "HEAD", "--",
                            f":(literal){self._path}"),
                in_worktree(*where, "check-attr", "-z", *stored_form.ATTRIBUTES, "--",
                            "./" + self._path),
            ],
            self._until,
        )  # fmt: skip
        if listed[0] != 0:
            raise UndecidedError("git cannot read the merge base")
        fields = listed[1].partition(b"\t")[0].split()
        oid = fields[2].decode("ascii") if len(fields) == 3 and fields[1] == b"blob" else ""
        return oid, stored_form.read_attributes(attributes[1])

    def _stored(
        self, content: bytes | None, base: str, attributes: "Mapping[str, str]"
    ) -> bytes | None:
        """The content with the line endings that git would store."""
        if content is None or b"\r\n" not in content:
            return content
        from ghp_agents.hotpath import stored_form
        from ghp_agents.hotpath.git_calls import in_worktree, run_all

        commands = [("config", "--get", "core.autocrlf"), ("cat-file", "blob", base)]
        calls = [in_worktree(self._top, self._environ, *words) for words in commands]
        (_, setting), (_, text) = run_all(calls, self._until)
        endings = stored_form.line_endings(attributes, setting.decode("utf-8", "replace").strip())
        return stored_form.stored(content, endings, text)

    def _differences(
        self,
        base: str,
        mine: bytes | None,
        before: bytes | None,
        reports: "Sequence[ChangesReport]",
    ) -> "tuple[list[Hunk] | None, list[Hunk] | None, dict[str, list[Hunk] | None]]":
        """The changes from the base to my versions, and from each other base to mine. None where
        there are no lines to compare."""
        from ghp_agents.hotpath.trial_merge import TrialRepository

        others = list(dict.fromkeys(x.base for x in reports if x.base and x.base != base))
        objects = self._place.common_dir + "/objects"
        with TrialRepository(objects, len(base), self._environ, self._until) as trial:
            pairs = [(base, text) for text in (mine, before) if text is not None]
            patches = trial.patches([*pairs, *((other, base) for other in others)])
        if None in patches[: len(pairs)]:
            raise UndecidedError("git cannot read the file in the merge base")
        found_hunks = [None if x is None else line_ranges.hunks(x) for x in patches]
        new = found_hunks.pop(0) if mine is not None else _deletion()
        old = found_hunks.pop(0) if before is not None else _deletion()
        return new, old, dict(zip(others, found_hunks, strict=True))

    def _with(
        self,
        report: ChangesReport,
        base: str,
        hunks: "list[Hunk] | None",
        earlier: "list[Hunk] | None",
        between: "Mapping[str, list[Hunk] | None]",
    ) -> RangeConflict | None:
        """The clash with one report; None if the two changes do not touch."""
        is_mine_deleted = hunks == _deletion()
        if report.is_deleted and is_mine_deleted:
            return None
        if not report.base:
            return None  # it was not in their base, so it is not a new file of theirs
        theirs = ALL if report.is_deleted else report.ranges
        if report.base != base:
            through = between.get(report.base)
            if through is None:
                return RangeConflict(report, UNKNOWN, is_certain=False)
            theirs = theirs if report.is_deleted else theirs and line_ranges.mapped(theirs, through)
        if hunks is None and earlier is None:
            return None  # it was changed before
        if hunks is None:
            return RangeConflict(report, BINARY, is_certain=report.ranges is None)
        if theirs is None:
            return RangeConflict(report, UNKNOWN, is_certain=False)
        earlier_ranges = _ranges(earlier or [])
        new = [x for x in theirs if not line_ranges.touching(earlier_ranges, [x])]
        touching = line_ranges.touching(_ranges(hunks), new)
        if touching is None:
            return None
        kind = DELETED if report.is_deleted or is_mine_deleted else LINES
        clash = RangeConflict(report, kind, is_certain=True)
        hunk = next(x for x in hunks if (x[0], x[1]) == touching[0])
        clash.start, clash.end = hunk[2] + 1, hunk[3]
        clash.their_start, clash.their_end = touching[1][0] + 1, touching[1][1]
        return clash


def _about_new(reports: "Sequence[ChangesReport]") -> "list[RangeConflict]":
    """The file is not in the base of my branch: new here, or newer than my branch."""
    return [
        RangeConflict(report, UNKNOWN if report.base else ADDED, is_certain=False)
        for report in reports
    ]


def _ranges(hunks: "Sequence[Hunk]") -> "list[Range]":
    return [(start, end) for start, end, _, _ in hunks]


def _deletion() -> "list[Hunk]":
    return [(0, line_ranges.END, 0, 0)]
