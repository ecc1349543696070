"""The messages to an agent about a change of a file in another clone. Pure."""

from ghp_agents.hotpath.conflict_report import lines, next_step
from ghp_agents.hotpath.quoting import file, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hotpath.changes_elsewhere import RangeConflict

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def why(clash: "RangeConflict", path: str, now: float) -> str:
    """Who changed what, for which issue, and how old the report is."""
    who, name, about = named(clash.report.agent), file(path), _about(clash, now)
    if clash.kind == "added":
        return f"{who} also created {name}{about}."
    if clash.kind == "unknown":
        changed = f"{who} has also changed {name}{about}."
        return f"{changed} This clone cannot tell whether both changes merge."
    if clash.kind == "binary":
        return f"{name} is binary, so git cannot merge it, and {who} has changed it{about}."
    if clash.kind == "deleted" and clash.report.is_deleted:
        return f"This edit of {name} would conflict: {who} deleted the file{about}."
    theirs = lines(clash.their_start, clash.their_end)
    if clash.kind == "deleted":
        return f"Deleting {name} would conflict: {who} changed its {theirs}{about}."
    return (
        f"This edit of {name} would conflict at your {lines(clash.start, clash.end)}. {who} has "
        f"changed {theirs} of it (as numbered where your branch left main){about}."
    )


def hint(clash: "RangeConflict", path: str) -> str:
    """What the agent can do."""
    return next_step(clash.report.agent, path, whole=clash.kind != "lines")


def _about(clash: "RangeConflict", now: float) -> str:
    issue = f" for #{clash.report.issue}" if clash.report.issue else ""
    return f" in another clone{issue}, as reported {_age(now - clash.report.heard)} ago"


def _age(seconds: float) -> str:
    for size, unit in _UNITS:
        count = int(seconds // size)
        if count >= 1:
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "a moment"
