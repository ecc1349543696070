"""The verdict on an edit of a file that agents of other clones have changed, as far as reported.

Only a conflict that is certain refuses it. What may be one is a warning, which is given once.
"""

import os

from ghp_agents.hotpath import (
    changes_elsewhere,
    clash_words,
    heartbeat,
    implicit_leases,
    own_file,
    policy_cache,
)
from ghp_agents.hotpath.policy import ALLOW, CONFLICT, DENY, UnsureError, Verdict
from ghp_agents.hotpath.worktree_file import UndecidedError, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ghp_agents.hotpath.changes_elsewhere import ChangesReport, RangeConflict
    from ghp_agents.hotpath.implicit_leases import ImplicitLease
    from ghp_agents.hotpath.locate import Location
    from ghp_agents.hotpath.policy_cache import Book

    # The file as it will be; None: deleted; files by path: moved there.
    Content = Callable[[], bytes | Mapping[str, bytes] | None]
    Lives = Callable[[str], bool]

WARNED = "warned"  # the folder of caches: which warnings an agent has had


def before_edit(
    place: "Location",
    folders: "Sequence[str]",
    environ: "Mapping[str, str]",
    book: "Book",
    agent: str,
    path: str,
    now: float,
    content: "Content | None",
    lives: "Lives | None" = None,
) -> Verdict | None:
    """The refusal of an edit that makes the file `content()`, or a warning, or None. Without
    `lives`, raises UnsureError if an agent may be dead by now."""
    theirs = reports(place, folders, book, agent, path, now, lives)
    if not theirs:
        return None
    try:
        if content is None:
            raise UndecidedError("what the edit writes is unknown")
        before = read_file(place.toplevel or "", path)
        mine = content()
        if mine is not None and not isinstance(mine, bytes):
            raise UndecidedError("the edit moves the file")
        clashes = changes_elsewhere.clashes(
            place, folders[0], path, mine, before, theirs, book["main"], environ
        )
    except UndecidedError as error:
        _log(error, place, environ, path)
        return None
    verdict = _verdict(clashes, path, now)
    if verdict and not verdict.is_refused and _was_given(folders, agent, path, place, theirs):
        return None
    return verdict


def as_it_is(
    place: "Location",
    folders: "Sequence[str]",
    environ: "Mapping[str, str]",
    book: "Book",
    agent: str,
    path: str,
    now: float,
    lives: "Lives",
) -> Verdict | None:
    """The warning about the file as it is in the worktree, or None. The edit is made already, so
    nothing is refused: the report may be newer."""
    theirs = reports(place, folders, book, agent, path, now, lives)
    if not theirs:
        return None
    try:
        mine = read_file(place.toplevel or "", path)
        clashes = changes_elsewhere.clashes(
            place, folders[0], path, mine, mine, theirs, book["main"], environ, again=True
        )
    except UndecidedError as error:
        _log(error, place, environ, path)
        return None
    verdict = _verdict(clashes, path, now)
    if verdict:
        verdict.word = ALLOW
    return verdict


def reports(
    place: "Location",
    folders: "Sequence[str]",
    book: "Book",
    agent: str,
    path: str,
    now: float,
    lives: "Lives | None",
) -> "list[ChangesReport]":
    """The reports of living agents in other clones about a file, except those that `agent` has
    overridden."""
    key = policy_cache.key_of(book, path)
    theirs = living(book, agent, key, now, lives)
    if not theirs:
        return []
    from ghp_agents.hotpath import overrides

    return [
        report
        for report in theirs
        if not overrides.allows(folders, agent, key, place.git_dir, lease_of(report, key))
    ]


def living(
    book: "Book", agent: str, key: str, now: float, lives: "Lives | None"
) -> "list[ChangesReport]":
    """The reports of living agents in other clones about a file."""
    if key not in book["changes"]:
        return []
    theirs = [x for x in changes_elsewhere.reports(book, key) if x.agent != agent]
    if lives is None and any(now >= report.until for report in theirs):
        raise UnsureError
    return [x for x in theirs if lives is None or now < x.until or lives(x.agent)]


def lease_of(report: "ChangesReport", key: str) -> "ImplicitLease":
    """The report in the form in which overrides name what does not count."""
    from ghp_agents.hotpath import overrides

    git_dir = f"{overrides.CLONE}{report.clone}"
    return implicit_leases.ImplicitLease(report.agent, report.epoch, "", key, git_dir)


def _verdict(clashes: "Sequence[RangeConflict]", path: str, now: float) -> Verdict | None:
    first = min(clashes, key=lambda clash: not clash.is_certain, default=None)
    if first is None:
        return None
    word = DENY if first.is_certain else ALLOW
    since = heartbeat.to_text(first.report.heard)
    why, hint = clash_words.why(first, path, now), clash_words.hint(first, path)
    return Verdict(word, path, CONFLICT, first.report.agent, since, why, hint)


def _was_given(
    folders: "Sequence[str]",
    agent: str,
    path: str,
    place: "Location",
    theirs: "Sequence[ChangesReport]",
) -> bool:
    """Whether the agent got this warning before; records that it gets it now."""
    names = " ".join(sorted(f"{report.agent}/{report.epoch}" for report in theirs))
    folder = f"{folders[0]}/cache/{WARNED}"
    note = f"{folder}/{implicit_leases.file_name(path, place.git_dir)}-{agent}"
    try:
        file = own_file.open_to_read(note)
        try:
            if os.read(file, 100_000) == names.encode():
                return True
        finally:
            os.close(file)
    except OSError:
        pass
    try:
        os.makedirs(folder, exist_ok=True)
        own_file.replace(note, names.encode())
    except OSError:
        pass  # then it is given again
    return False


def _log(error: UndecidedError, place: "Location", environ: "Mapping[str, str]", path: str) -> None:
    from ghp_agents.hotpath import error_log
    from ghp_agents.hotpath.quoting import file

    where = f"changes of {file(path)} in other clones: the edit was allowed"
    error_log.log_error(error, place.toplevel or place.git_dir, environ, where=where)
