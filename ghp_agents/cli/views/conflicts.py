"""Shows a report of conflicts to people, and as JSON."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from ghp_agents.cli import output
from ghp_agents.cli.terminal.pager import paged
from ghp_agents.conflicts.path_conflict import PathConflict, describe
from ghp_agents.conflicts.report import ConflictReport
from ghp_agents.conflicts.work import AgentWork
from ghp_agents.core.clock import ago, to_text
from ghp_agents.core.ids import count
from ghp_agents.hotpath.quoting import file, named

FILES_SHOWN = 20  # of one conflict
UNREAD_SHOWN = 5
WIDTH = 80


def show(report: ConflictReport, now: float, agent: str | None = None) -> None:
    """Print the conflicts and the order on standard output, all else on standard error."""
    with paged():
        _show_conflicts(report)
    for warning in report.warnings:
        output.warn(warning.text)
    for spelling in report.spellings:
        output.warn(spelling.text)
    for unread in report.unread[:UNREAD_SHOWN]:
        output.warn(f"Cannot compare the work of {unread.name}: {unread.reason}.")
    if len(report.unread) > UNREAD_SHOWN:
        more = count(len(report.unread) - UNREAD_SHOWN, "more agent")
        output.warn(f"Cannot compare the work of {more}; --json lists all.")
    for note in (note for work in report.works for note in work.notes):
        output.say(f"{note}.")
    output.say(_summary(report, agent))
    if report.fetched is not None:
        age = ago(max(0.0, now - report.fetched))
        output.say(f"{file(report.trunk)} is as fetched {age} ago; `git fetch` updates it.")


def _show_conflicts(report: ConflictReport) -> None:
    for pair in report.pairs:
        ours, theirs = pair.ours, pair.theirs
        output.page(f"{ours.name} and {theirs.name} conflict in {_files(pair.files)}:")
        _show_files(pair.files, _short(ours), _short(theirs))
        output.page(
            f"  Next: {'' if ours.is_finished else 'finish and '}merge {_short(ours)} first; "
            f"{_short(theirs)} then runs `ghp agent-update` and resolves."
        )
    for clash in report.with_trunk:
        work, trunk = clash.work, file(report.trunk)
        output.page(f"{work.name} conflicts with {trunk} in {_files(clash.files)}:")
        _show_files(clash.files, trunk, _short(work))
        output.page(
            f"  Next: {_short(work)} runs `ghp agent-update`, which shows both sides, and resolves."
        )
    if report.order and (report.pairs or report.with_trunk):
        _show_order(report)


def _files(files: Sequence[PathConflict]) -> str:
    return count(len(files), "file")


def _short(work: AgentWork) -> str:
    return ", ".join(map(named, work.agents))


def _show_files(files: Sequence[PathConflict], ours: str, theirs: str) -> None:
    for conflict in files[:FILES_SHOWN]:
        output.page(f"  {file(conflict.path)}: {describe(conflict, ours, theirs)}")
    if len(files) > FILES_SHOWN:
        output.page(f"  … and {count(len(files) - FILES_SHOWN, 'more file')}; --json lists all")


def _show_order(report: ConflictReport) -> None:
    assert report.order is not None
    output.page("Merge order with the fewest conflicts:")
    _show_names("without a conflict: ", report, report.order.free)
    then = "then, each after resolving: " if report.order.free else "each after resolving: "
    _show_names(then, report, report.order.resolving)


def _show_names(what: str, report: ConflictReport, numbers: Sequence[int]) -> None:
    """Names in lines that fit a terminal."""
    names = ", ".join(_short(report.works[number]) for number in numbers)
    for line in wrap(names, WIDTH, initial_indent=f"  {what}", subsequent_indent=" " * 4,
                     break_long_words=False, break_on_hyphens=False):  # fmt: skip
        output.page(line)


def _summary(report: ConflictReport, agent: str | None) -> str:
    if report.unread and not report.works:
        return "Nothing was compared."
    if not any(agent in (None, *work.agents) for work in report.works):
        who = "No agent has" if agent is None else f"{named(agent)} has no"
        return f"{who} work that is not on {file(report.trunk)} yet."
    compared = f"Compared the work of {count(len(report.works), 'agent')}"
    if report.is_clean:
        return f"{compared}: nothing conflicts."
    verb = "conflicts" if len(report.pairs) == 1 else "conflict"
    parts = [f"{count(len(report.pairs), 'pair')} {verb}"] if report.pairs else []
    if report.with_trunk:
        number = len(report.with_trunk)
        what = "it" if len(report.works) == 1 else count(number, "agent")
        parts.append(f"{what} {'conflicts' if number == 1 else 'conflict'} with the main branch")
    return f"{compared}: {', '.join(parts)}."


def document(report: ConflictReport) -> dict[str, Any]:
    """The report as JSON."""
    at = {id(work): number for number, work in enumerate(report.works)}
    return {
        "trunk": report.trunk,
        "trunkFetched": None if report.fetched is None else to_text(report.fetched),
        "compared": [_work(work) for work in report.works],
        "conflicts": [
            {
                "first": at[id(pair.ours)], "second": at[id(pair.theirs)],
                "files": [_conflict(item, _short(pair.ours), pair.theirs) for item in pair.files],
            }
            for pair in report.pairs
        ],
        "withTrunk": [
            {
                "work": at[id(clash.work)],
                "files": [_conflict(item, file(report.trunk), clash.work) for item in clash.files],
            }
            for clash in report.with_trunk
        ],
        "order": report.order,
        "unread": report.unread,
        "spellings": report.spellings,
        "warnings": [
            {
                "agents": warning.agents, "path": warning.path, "line": warning.line,
                "lines": warning.lost.lines, "text": warning.text, "definition": warning.lost,
            }
            for warning in report.warnings
        ],
    }  # fmt: skip


def _work(work: AgentWork) -> dict[str, Any]:
    return {
        "agents": work.agents,
        "issue": work.issue,
        "branch": work.branch or None,
        "worktree": work.folder or None,
        "commit": work.head,
        "uncommitted": work.commit != work.head,
        "pushed": work.is_pushed,
        "notes": work.notes,
    }


def _conflict(conflict: PathConflict, first: str, second: AgentWork) -> dict[str, Any]:
    return {
        "path": conflict.path,
        "otherPaths": [*conflict.paths],
        "kind": conflict.kind,
        "what": describe(conflict, first, _short(second)),
        "places": [
            {
                "firstLine": place.ours.first, "lastLine": place.ours.last,
                "otherFirstLine": place.theirs.first, "otherLastLine": place.theirs.last,
                "text": place.our_text, "otherText": place.their_text,
            }
            for place in conflict.places
        ],
        "driver": conflict.driver or None,
    }  # fmt: skip
