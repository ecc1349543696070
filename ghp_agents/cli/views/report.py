"""A report as a page of text for 80 columns, and as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from ghp_agents.cli import output
from ghp_agents.core.clock import age, ago, to_text
from ghp_agents.core.fields import picked
from ghp_agents.hotpath.quoting import file, named, one_line, phrase, thing
from ghp_agents.reports.report import SECTIONS, Report, ReportItem

WIDTH = 80
ID_SHOWN = 30  # characters
SHOWN = 10  # items of a section; --json has more
TITLES = {
    "waiting": "Waiting for a person",
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
STATES = {"waiting": "urgency "}  # what a state is, where that is not plain
REST = {
    "waiting": "ghp agent-escalations --open",
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
                yield from _item(item, STATES.get(name, ""), report.until)
            if total > SHOWN:
                how = REST.get(name, f"ghp agent-log --since {to_text(report.since)}")
                yield f"  … and {total - SHOWN} more: {how}"


def _item(item: ReportItem, word: str, now: float) -> Iterator[str]:
    head = f"  {thing(one_line(item.id, ID_SHOWN))}"
    facts = ", ".join(_facts(item, word, now))
    title = phrase(item.title, WIDTH - len(head) - 4) if item.title.strip() else ""
    first = f"{head}  {title}" if title else head
    if len(first) + len(facts) + 3 <= WIDTH:
        yield f"{first} ({facts})" if facts else first
    else:
        yield first
        yield f"    {facts}"
    if item.text.strip():
        yield f"    {phrase(item.text, WIDTH - 6)}"
    if item.result.strip():
        yield f"    → {phrase(item.result, WIDTH - 8)}"
    if item.command:
        yield f"    {item.command}"


def _facts(item: ReportItem, word: str, now: float) -> Sequence[str]:
    """Who, what about and when, in a few words."""
    facts = [
        named(item.by.name, item.by.is_person) if item.by.name else "",
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
    texts = {
        key: getattr(item, key) or None for key in ("title", "state", "text", "result", "command")
    }
    by = {"by": item.by.name or None, "byPerson": item.by.is_person}
    return {"id": item.id, **texts, **by, **picked(item, "issue"), "at": item.at or None}
