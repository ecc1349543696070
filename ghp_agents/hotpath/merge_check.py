"""The verdict on an edit of a file that agents in other worktrees are editing.

Only a conflict refuses it. Where that cannot be decided, the edit is allowed, and the log says why.
"""

from ghp_agents.hotpath import conflict_report, file_conflicts, implicit_leases
from ghp_agents.hotpath.conflict_report import WHOLE, FileConflict
from ghp_agents.hotpath.file_conflicts import NOTHING
from ghp_agents.hotpath.policy import CONFLICT, DENY, IMPLICIT, Verdict
from ghp_agents.hotpath.worktree_file import UndecidedError, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ghp_agents.hotpath.implicit_leases import ImplicitLease
    from ghp_agents.hotpath.locate import Location

    Content = Callable[[], bytes | Mapping[str, bytes] | None]


def before_edit(
    place: "Location",
    folders: "Sequence[str]",
    environ: "Mapping[str, str]",
    agent: str,
    path: str,
    others: "Sequence[ImplicitLease]",
    content: "Content | None",
) -> Verdict | None:
    """The refusal of an edit that makes the file `content()`, or None. `content` returns the new
    files for one that is moved to one of them, and raises UndecidedError if it is unknown."""
    try:
        if content is None:
            raise UndecidedError("what the edit writes is unknown")
        before = read_file(place.toplevel or "", path)
        after = content()
        mine, moved = (after, {}) if after is None or isinstance(after, bytes) else (None, after)
        conflict = file_conflicts.first_conflict(
            place, path, mine, others, folders=folders, environ=environ, before=before, moved=moved
        )
    except UndecidedError as error:
        _log(error, place, environ, path)
        return None
    return _refusal(conflict, folders, agent, path, place, others) if conflict else None


def as_it_is(
    place: "Location",
    folders: "Sequence[str]",
    environ: "Mapping[str, str]",
    agent: str,
    path: str,
    others: "Sequence[ImplicitLease]",
) -> Verdict | None:
    """The refusal of the file as it is in the worktree, or None."""
    try:
        mine = read_file(place.toplevel or "", path)
        conflict = file_conflicts.first_conflict(
            place, path, mine, others, folders=folders, environ=environ, before=NOTHING
        )
    except UndecidedError as error:
        _log(error, place, environ, path)
        return None
    return _refusal(conflict, folders, agent, path, place, others) if conflict else None


def _refusal(
    conflict: FileConflict,
    folders: "Sequence[str]",
    agent: str,
    path: str,
    place: "Location",
    others: "Sequence[ImplicitLease]",
) -> Verdict | None:
    if conflict.kind == WHOLE and _comes_first(folders, agent, place, others):
        return None
    why, hint = conflict_report.why(conflict), conflict_report.hint(conflict)
    kind = IMPLICIT if conflict.kind == WHOLE else CONFLICT
    return Verdict(DENY, path, kind, conflict.agent, conflict.since, why, hint)


def _comes_first(
    folders: "Sequence[str]", agent: str, place: "Location", others: "Sequence[ImplicitLease]"
) -> bool:
    """Whether the agent was the first to edit a file that cannot be merged: one of several agents
    can always continue."""
    mine = implicit_leases.find(folders, others[0].path, place.git_dir)
    return (
        mine is not None
        and mine.agent == agent
        and all((mine.since, agent) < (other.since, other.agent) for other in others)
    )


def _log(error: UndecidedError, place: "Location", environ: "Mapping[str, str]", path: str) -> None:
    from ghp_agents.hotpath import error_log
    from ghp_agents.hotpath.quoting import file

    where = f"conflicts of {file(path)}: the edit was allowed"
    error_log.log_error(error, place.toplevel or place.git_dir, environ, where=where)
