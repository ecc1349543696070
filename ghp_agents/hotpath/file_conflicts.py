"""Whether an edit of a file conflicts with what agents in other worktrees have made of it.

The answer is git's: a three-way merge of both versions over the merge base of the two branches.
Files that git merges only as a whole keep the rule per file. All git commands together have one
second; what cannot be decided by then is allowed.
"""

import os

from ghp_agents.hotpath import presence_file
from ghp_agents.hotpath.conflict_report import (
    ADDED,
    DELETED,
    LINES,
    WHOLE,
    FileConflict,
    excerpt,
    numbered,
)
from ghp_agents.hotpath.implicit_leases import ImplicitLease, git_dir_of
from ghp_agents.hotpath.worktree_file import LARGEST, UndecidedError, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final

    from ghp_agents.hotpath.locate import Location
    from ghp_agents.hotpath.marked_conflicts import Region
    from ghp_agents.hotpath.trial_merge import MergeSide, TrialRepository, TrialResult

DEADLINE_S = 1.0


class _Unchanged:
    """Stands for the content before the edit where only the content now is asked about."""


NOTHING: "Final" = _Unchanged()


class _Other:
    """Another agent's version of the file."""

    __slots__ = ("base", "content", "entry", "git_dir", "head", "lease", "moved", "toplevel")

    def __init__(self, lease: ImplicitLease, git_dir: str) -> None:
        self.lease = lease
        self.git_dir = git_dir
        self.toplevel = ""
        self.content: bytes | None = None
        self.head = ""
        self.base = ""  # the merge base of both branches
        self.entry: tuple[str, int] | None = None  # id and size of the file there
        self.moved: dict[str, bytes] = {}  # new files, one of which may be the moved one


def conflict_with(
    place: "Location",
    path: str,
    mine: bytes | None,
    other: ImplicitLease,
    *,
    folders: "Sequence[str]",
    environ: "Mapping[str, str]",
    before: "bytes | _Unchanged | None" = NOTHING,
) -> FileConflict | None:
    """See `first_conflict`, for one other agent."""
    where = {"folders": folders, "environ": environ}
    return first_conflict(place, path, mine, [other], before=before, **where)  # type: ignore[arg-type]


def first_conflict(
    place: "Location",
    path: str,
    mine: bytes | None,
    others: "Sequence[ImplicitLease]",
    *,
    folders: "Sequence[str]",
    environ: "Mapping[str, str]",
    before: "bytes | _Unchanged | None" = NOTHING,
    moved: "Mapping[str, bytes] | None" = None,
) -> FileConflict | None:
    """The first conflict of my version of `path` with those of `others`; None if all merge.

    `mine` is the whole content as it will be, None if the file is deleted; then `moved` are the
    new files, one of which may be the moved one. `before` is the content until now: places that
    conflicted then do not count. Raises UndecidedError.
    """
    from time import monotonic

    if not others or _is_nested(place.toplevel or "", path):
        return None
    try:
        decision = _Decision(place, path, mine, before, folders, environ, monotonic() + DEADLINE_S)
        decision.moved = dict(moved or {})
        return decision.first(others)
    except OSError as error:
        raise UndecidedError(f"{type(error).__name__}: {error}") from error


def _is_nested(toplevel: str, path: str) -> bool:
    """Whether the file is in a submodule or another repository in the worktree: its versions are
    not in this one's commits."""
    folder = os.path.dirname(path)
    while folder:
        if os.path.lexists(f"{toplevel}/{folder}/.git"):
            return True
        folder = os.path.dirname(folder)
    return False


class _Decision:
    """One question: the facts that all others share."""

    def __init__(
        self,
        place: "Location",
        path: str,
        mine: bytes | None,
        before: "bytes | _Unchanged | None",
        folders: "Sequence[str]",
        environ: "Mapping[str, str]",
        until: float,
    ) -> None:
        self._place = place
        self._top = place.toplevel or ""
        self._path = path
        self._mine = mine
        self._before = before
        self._folders = folders
        self._environ = environ
        self._until = until
        self.moved: dict[str, bytes] = {}
        self._unsure = ""
        self._attributes: Mapping[str, str] = {}

    def first(self, leases: "Sequence[ImplicitLease]") -> FileConflict | None:
        if self._mine is not None and len(self._mine) > LARGEST:
            raise UndecidedError(f"the file has {len(self._mine)} bytes")
        others = [other for other in map(self._read, leases) if other is not None]
        others = [other for other in others if other.content != self._mine]
        others = self._with_bases(others) if others else []
        conflict = self._by_attributes(others) if others else None
        if conflict is None and self._unsure:
            raise UndecidedError(self._unsure)
        return conflict

    # ------------------------------------------------------------------------ their version

    def _read(self, lease: ImplicitLease) -> _Other | None:
        """Their file as it is now; None if it cannot be read."""
        from ghp_agents.hotpath.locate import worktree_at

        other = _Other(lease, git_dir_of(lease, self._place.common_dir))
        other.toplevel = worktree_at(other.git_dir) or ""
        if not other.toplevel or not os.path.isdir(other.toplevel):
            self._unsure = f"the worktree of {lease.agent} was not found"
            return None
        try:
            other.content = read_file(other.toplevel, self._path)
        except UndecidedError as error:
            self._unsure = str(error)
            return None
        return other

    def _with_bases(self, others: "Sequence[_Other]") -> list[_Other]:
        """The others with the file in their merge base; without those who changed nothing, unless
        the file is merged only as a whole."""
        from ghp_agents.hotpath import stored_form
        from ghp_agents.hotpath.merge_bases import Heads, merge_bases

        git_dirs = [self._place.git_dir, *(other.git_dir for other in others)]
        where = self._environ, self._until
        mine, *heads = Heads(self._top, self._place.common_dir, *where).of(git_dirs)
        pairs = [(mine, head) for head in heads if mine and head]
        bases = iter(merge_bases(self._top, self._folders[0], pairs, *where))
        for other, head in zip(others, heads, strict=True):
            other.head = head
            other.base = next(bases) if mine and head else ""
        if not all(other.base for other in others):
            self._unsure = "the two branches have no merge base"
        with_base = [other for other in others if other.base]
        self._look_up(with_base)
        if with_base and stored_form.whole_reason(self._attributes):
            return with_base
        return [other for other in with_base if self._differs(other)]

    def _look_up(self, others: "Sequence[_Other]") -> None:
        """The file in each merge base, and its attributes here."""
        from ghp_agents.hotpath import stored_form
        from ghp_agents.hotpath.git_calls import in_worktree, run_all

        if not others:
            return
        names = ("check-attr", "-z", *stored_form.ATTRIBUTES, "--", "./" + self._path)
        bases = list(dict.fromkeys(other.base for other in others))
        calls = [
            in_worktree(
                self._top, self._environ, "ls-tree", "-z", "-l", "--full-tree", base, "--",
                f":(literal){self._path}",
            )
            for base in bases
        ]  # fmt: skip
        attributes = in_worktree(self._top, self._environ, *names)
        (_, listed), *shown = run_all([attributes, *calls], self._until)
        self._attributes = stored_form.read_attributes(listed)
        entries = {base: _entry(*done) for base, done in zip(bases, shown, strict=True)}
        for other in others:
            other.entry = entries[other.base]

    def _differs(self, other: _Other) -> bool:
        """Whether both versions differ from the base; if not, they merge."""
        from ghp_agents.hotpath.trial_merge import blob_id

        if other.entry is None:
            return other.content is not None and self._mine is not None
        oid, size = other.entry
        if size > LARGEST:
            self._unsure = f"the file has {size} bytes"
            return False
        contents = [other.content, self._mine]
        return all(text is None or blob_id(text, len(oid)) != oid for text in contents)

    # ------------------------------------------------------------------------ the merge

    def _by_attributes(self, others: list[_Other]) -> FileConflict | None:
        from ghp_agents.hotpath import stored_form

        whole = stored_form.whole_reason(self._attributes)
        if whole:
            return self._whole(others[0], whole)
        self._look_for_moved(others)
        self._store(others)
        others = [other for other in others if self._differs(other)]
        return (
            self._merged(others, union=stored_form.is_union(self._attributes)) if others else None
        )

    def _whole(self, other: _Other, why: str) -> FileConflict:
        conflict = self._conflict(other, WHOLE)
        conflict.why_whole = why
        return conflict

    def _conflict(self, other: _Other, kind: str) -> FileConflict:
        presence = presence_file.newest(self._folders, other.lease.agent) or {}
        issue = presence.get("issue")
        number = issue if type(issue) is int else None
        return FileConflict(other.lease.agent, other.lease.since, self._path, kind, number)

    def _store(self, others: "Sequence[_Other]") -> None:
        """Convert line endings as git does before it stores a file."""
        from ghp_agents.hotpath import stored_form
        from ghp_agents.hotpath.git_calls import in_worktree, run_all

        texts = [self._mine, self._before, *(other.content for other in others)]
        if not any(isinstance(text, bytes) and b"\r\n" in text for text in texts):
            return
        oids = list(dict.fromkeys(other.entry[0] for other in others if other.entry))
        commands = [("config", "--get", "core.autocrlf")]
        commands += [("cat-file", "blob", oid) for oid in oids]
        calls = [in_worktree(self._top, self._environ, *words) for words in commands]
        (_, setting), *blobs = run_all(calls, self._until)
        bases = {oid: out for oid, (_, out) in zip(oids, blobs, strict=True)}
        endings = stored_form.line_endings(
            self._attributes, setting.decode("utf-8", "replace").strip()
        )

        def stored(text: bytes, base: bytes | None) -> bytes:
            return stored_form.stored(text, endings, base)

        for other in others:
            base = bases[other.entry[0]] if other.entry else None
            if other.content is not None:
                other.content = stored(other.content, base)
        base = next(iter(bases.values()), None)
        if self._mine is not None:
            self._mine = stored(self._mine, base)
        self.moved = {path: stored(text, base) for path, text in self.moved.items()}
        if isinstance(self._before, bytes):
            self._before = stored(self._before, base)

    def _merged(self, others: "Sequence[_Other]", *, union: bool) -> FileConflict | None:
        from ghp_agents.hotpath.trial_merge import TrialRepository

        objects = self._place.common_dir + "/objects"
        length = len(others[0].base)
        with TrialRepository(objects, length, self._environ, self._until) as trial:
            cases = [self._sides(other, self._mine) for other in others]
            results = trial.merge(cases, union=union)
            for other, result in zip(others, results, strict=True):
                if result.conflicts and not self._is_old(trial, other, result, union=union):
                    return self._described(trial, other, result)
        return None

    def _sides(self, other: _Other, mine: bytes | None) -> "tuple[MergeSide, MergeSide, MergeSide]":
        from ghp_agents.hotpath.trial_merge import MergeSide

        theirs = other.moved if other.content is None else {self._path: other.content}
        return (
            MergeSide({self._path: other.entry[0]} if other.entry else {}),
            MergeSide(self.moved if mine is None else {self._path: mine}),
            MergeSide(theirs),
        )

    def _is_old(
        self, trial: "TrialRepository", other: _Other, result: "TrialResult", *, union: bool
    ) -> bool:
        """Whether it conflicted before this edit, in the same places: then the edit makes nothing
        worse, and it may be how the conflict is resolved. New regions stay in `result`."""
        if isinstance(self._before, _Unchanged):
            return False
        (before,) = trial.merge([self._sides(other, self._before)], union=union)
        if not before.conflicts:
            return False
        if not result.regions or not before.regions:
            return not result.regions and not before.regions
        result.regions = [
            region for region in result.regions if not _is_within(region, before.regions)
        ]
        return not result.regions

    def _described(
        self, trial: "TrialRepository", other: _Other, result: "TrialResult"
    ) -> FileConflict:
        deleted = (self._mine is None or other.content is None) and result.path == self._path
        if deleted:
            conflict = self._conflict(other, DELETED)
            conflict.they_deleted = self._mine is not None
            if self._mine is None and other.content is not None and other.entry:
                conflict.their_start, conflict.their_end = numbered(
                    *trial.first_change(other.entry[0], other.content)
                )
                conflict.theirs = excerpt(other.content, conflict.their_start, conflict.their_end)
            return conflict
        if not result.regions:
            return self._whole(other, "it is binary")
        conflict = self._conflict(other, LINES if other.entry else ADDED)
        conflict.their_path = result.path if result.path in other.moved else ""
        theirs = other.moved.get(result.path, b"") if other.content is None else other.content
        first = result.regions[0]
        conflict.start, conflict.end = numbered(first.start, first.end)
        conflict.their_start, conflict.their_end = numbered(first.their_start, first.their_end)
        conflict.theirs = excerpt(theirs, conflict.their_start, conflict.their_end)
        conflict.more = len(result.regions) - 1
        return conflict

    # ------------------------------------------------------------------------ moved files

    def _look_for_moved(self, others: "Sequence[_Other]") -> None:
        """For each worktree that lacks the file: its new files, one of which may be the moved
        one."""
        from ghp_agents.hotpath.moved_files import candidates

        for other in others:
            if other.content is None and other.entry:
                other.content, other.moved = candidates(
                    other.toplevel, self._path, other.base, other.entry, self._environ, self._until
                )


def _entry(code: int, out: bytes) -> "tuple[str, int] | None":
    """The id and size of the file that `git ls-tree -l` shows; None if there is none."""
    fields = out.partition(b"\t")[0].split()
    if code != 0:
        raise UndecidedError("git cannot read the merge base")
    if len(fields) != 4 or fields[1] != b"blob":
        return None
    size = int(fields[3]) if fields[3].isdigit() else LARGEST + 1
    return fields[2].decode("ascii"), size


def _is_within(region: "Region", others: "Sequence[Region]") -> bool:
    """Whether their lines of a region are within those of an earlier region."""
    return any(
        other.their_start <= region.their_start and region.their_end <= other.their_end
        for other in others
    )
