"""A report as a page of text for 80 columns, and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from ghp_agents.cli import output
from ghp_agents.core.clock import age, ago, to_text
from ghp_agents.escalations.escalation import URGENCIES
from ghp_agents.hotpath.quoting import file, named, one_line, phrase, thing
from ghp_agents.reports.report import SECTIONS, Report, ReportItem

WIDTH = 80
ID_SHOWN = 30  # characters
WHOLE = 400  # characters of a text that a person decides by
SHOWN = 10  # items of a section; --json has more
TITLES = {
    "waiting": "Waiting for a person",
    "sentBack": "Sent back to its agent",
    "mergeable": "Ready to merge",
    "merged": "Merged",
    "answered": "Answered",
    "opened": "Opened",
    "closed": "Closed without a merge",
    "handedOver": "Handed over",
    "died": "Died",
    "idle": "Idle",
    "learnt": "Learnt",
}
WAITING = "waiting"  # a section whose items are shown whole: a person decides by them
REST = {
    "waiting": "ghp agent-escalations --open",
    "sentBack": "ghp agent-pulls",
    "mergeable": "ghp agent-pulls",
    "died": "ghp agent-status --stale",
    "idle": "ghp agent-status",
    "learnt": "ghp agent-notes list",
}


def lines(report: Report) -> Iterator[str]:
    """The page; nothing if there is nothing to report."""
    if not any(report.counts.values()):
        return
    yield output.dated(f"Since {to_text(report.since)} ({ago(report.until - report.since)} ago)")
    for name in SECTIONS:
        items, total = report.sections[name], report.counts[name]
        if items:
            yield f"\n{TITLES[name]} ({total})"
            for item in items[:SHOWN]:
                yield from _item(item, report.until, is_whole=name == WAITING)
            if total > SHOWN:
                how = REST.get(name, f"ghp agent-log --since {to_text(report.since)}")
                yield f"  … and {total - SHOWN} more: {how}"


def _item(item: ReportItem, now: float, *, is_whole: bool) -> Iterator[str]:
    head = f"  {thing(one_line(item.id, ID_SHOWN))}"
    facts = ", ".join(_facts(item, now))
    most = WHOLE if is_whole else WIDTH - len(head) - 4
    title = phrase(item.title, most) if item.title.strip() else ""
    first = f"{head}  {title}" if title else head
    if len(first) + len(facts) + 3 <= WIDTH:
        yield f"{first} ({facts})" if facts else first
    else:
        yield from _wrapped(first, "    ")
        yield f"    {facts}"
    for number, option in enumerate(item.options, 1):
        yield from _wrapped(f"    {number}. {phrase(option, WHOLE)}", " " * 7)
    if item.text.strip():
        yield f"    {phrase(item.text, WIDTH - 6)}"
    if item.result.strip():
        yield f"    → {phrase(item.result, WIDTH - 8)}"
    if item.command:
        yield f"    {item.command}"


def _wrapped(line: str, indent: str) -> Iterator[str]:
    from textwrap import wrap

    lead = line[: len(line) - len(line.lstrip())]
    yield from wrap(line.strip(), WIDTH, initial_indent=lead, subsequent_indent=indent)


def _facts(item: ReportItem, now: float) -> Sequence[str]:
    """Who, what about and when, in a few words."""
    word = "urgency " if item.state in URGENCIES else ""
    facts = [
        named(*item.by) if item.by.name else "",
        f"#{item.issue}" if item.issue else "",
        f"{word}{file(one_line(item.state, ID_SHOWN))}" if item.state else "",
        age(item.at, now) if item.at else "no sign of work",
    ]
    return [fact for fact in facts if fact]


def fields(report: Report) -> dict[str, Any]:
    """The report as JSON."""
    return {
        "since": to_text(report.since),
        "until": to_text(report.until),
        "counts": dict(report.counts),
        **{name: [_item_fields(item) for item in report.sections[name]] for name in SECTIONS},
    }


def _item_fields(item: ReportItem) -> dict[str, Any]:
    return {
        "id": item.id,
        "title": item.title or None,
        "state": item.state or None,
        "text": item.text or None,
        "result": item.result or None,
        "command": item.command or None,
        **{"by": item.by.name or None, "byPerson": item.by.is_person},
        "issue": item.issue,
        "at": item.at or None,
        "options": item.options,
    }
