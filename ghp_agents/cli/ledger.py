"""`agent-log` and `agent-report`: what happened in all clones."""

from collections.abc import Callable, Sequence
from shutil import get_terminal_size
from typing import Any

import click

from ghp_agents.cli import complete, json_choice, output, past
from ghp_agents.cli.context import say_none, start_background
from ghp_agents.cli.params import seconds_of
from ghp_agents.cli.terminal.pager import paged
from ghp_agents.cli.views import ledger as ledger_view
from ghp_agents.cli.views import remote_news
from ghp_agents.cli.views.ledger import LogPage
from ghp_agents.core.clock import FORMS, to_text
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.ids import one_line
from ghp_agents.state.ledger import (
    LedgerEntry,
    LedgerQuery,
    LedgerReader,
    by_time,
    check_event,
    select,
)
from ghp_agents.wiring import App

NAME_SHOWN = 60  # characters
FOLLOW_EVERY = 1.0  # seconds
A_DAY = 86_400.0  # seconds


@click.command("agent-log", epilog="Example: ghp agent-log --issue 12 --since yesterday")
@click.option(
    "--agent", metavar="NAME", help="Only events by this agent or person.",
    shell_complete=complete.agents,
)  # fmt: skip
@click.option(
    "--issue", metavar="N", help="Only events about this issue.", shell_complete=complete.issues
)
@click.option(
    "--event", metavar="EVENT", help="Only this event: escalate, answer, handoff, …",
    shell_complete=complete.events,
)  # fmt: skip
@click.option(
    "--since", metavar="WHEN", help=f"Only events since: {FORMS}.",
    shell_complete=complete.times,
)  # fmt: skip
@click.option(
    "--at", metavar="WHEN", help="Only events until then; the same forms as --since.",
    shell_complete=complete.times,
)  # fmt: skip
@click.option("--limit", "-L", "-n", type=click.IntRange(min=1), help="Only the last N events.")
@json_choice.option("Print JSON; with --follow, one object per line.")
@click.option("--follow", is_flag=True, help="Keep printing new events, like `tail -f`.")
@click.pass_obj
def log(
    app: App,
    agent: str | None,
    issue: str | None,
    event: str | None,
    since: str | None,
    at: str | None,
    limit: int | None,
    as_json: bool,
    follow: bool,
) -> None:
    """List what happened in all clones, oldest first."""
    if at is not None and follow:
        raise UsageError("--follow shows what happens from now on.", hint="Use it without --at.")
    after = seconds_of(since, app.ws.clock.now()) if since else None
    until = past.time_of(app, at)
    question = LedgerQuery(agent, _numbers(app, issue), event, after, until)
    if until is None:
        remote_news.hear(app)
    reader = LedgerReader(app.store)
    with output.busy("Reading the ledger"):
        ledger = reader.read()
    if event is not None:
        check_event(event, ledger)
    entries = select(ledger, question)
    entries = by_time(entries) if not as_json else entries
    entries = entries[-limit:] if limit else entries
    if follow:
        print_entries = _printer(as_json)
        print_entries(entries)
        _follow(app, question, reader, print_entries)
        return
    if as_json:
        output.as_json([_fields(entry) for entry in entries])
    elif entries:
        with paged():
            _printer(as_json)(entries)
    else:
        say_none(app, _none(question, ledger))
    if until is None:
        start_background(app)


def _none(question: LedgerQuery, ledger: Sequence[LedgerEntry]) -> str:
    agent = question.agent
    if agent is not None and all(entry.actor != agent for entry in ledger):
        return f"No events by {one_line(agent, NAME_SHOWN)!r}: nobody of that name is known here."
    return "No matching events." if question != LedgerQuery() else "No events yet."


def _numbers(app: App, issue: str | None) -> frozenset[int] | None:
    """All numbers of the issue: entries made offline have its provisional number."""
    if issue is None:
        return None
    word = issue.removeprefix("#")
    named = {int(word)} if word.isascii() and word.isdigit() and len(word) < 16 else set[int]()
    try:
        return frozenset((*named, *app.tracker.get(issue).numbers))
    except GhpError:
        if not named:
            raise
        return frozenset(named)  # the ledger may name an issue that this tracker does not have


def _follow(
    app: App,
    question: LedgerQuery,
    reader: LedgerReader,
    print_entries: Callable[[Sequence[LedgerEntry]], None],
) -> None:
    """Print what comes; only the new part of the histories is read."""
    try:
        while True:
            start_background(app)
            app.ws.clock.wait(FOLLOW_EVERY)
            fresh = reader.read()
            if fresh:
                print_entries(select(fresh, question))
    except KeyboardInterrupt:
        return


def _printer(as_json: bool) -> Callable[[Sequence[LedgerEntry]], None]:
    """The function that prints entries: for programs, for a terminal, or as plain lines."""
    page = LogPage(get_terminal_size().columns) if output.is_terminal() else None

    def print_entries(entries: Sequence[LedgerEntry]) -> None:
        if as_json:
            for entry in entries:
                output.as_json_line(_fields(entry))
        elif page:
            for line in page.lines(by_time(entries)):
                output.painted(line)
        else:
            for entry in by_time(entries):
                output.painted(ledger_view.plain(entry))
        output.flush()

    return print_entries


def _fields(entry: LedgerEntry) -> dict[str, Any]:
    return {
        "at": entry.at,
        "event": entry.event,
        "actor": entry.actor,
        "isPerson": entry.is_person,
        "object": entry.object,
        "issue": entry.issue,
        "generation": entry.generation,
        "text": entry.text,
        "id": entry.id,
        "clock": entry.clock,
        "clone": entry.clone,
        "via": entry.via or None,
    }


@click.command("agent-report", epilog="Example: ghp agent-report --since 'last night'")
@click.option(
    "--since", metavar="WHEN", help=f"What happened since then (default: 24h ago): {FORMS}.",
    shell_complete=complete.times,
)  # fmt: skip
@click.option("--cost", is_flag=True, help="Report costs instead: money, tokens and time.")
@json_choice.option("Print it as JSON.")
@click.pass_obj
def report(app: App, since: str | None, cost: bool, as_json: bool) -> None:
    """Report what waits for a person, and what happened since WHEN.

    Questions without an answer and finished pull requests come first, each with the command to
    type. Then: what was merged, answered, opened, closed and handed over, which agents died or
    were idle, and what was learnt.

    With --cost: the money, tokens and time of each agent and issue, as the agents' clients report
    them. An amount belongs to the issue that the agent had when it was reported.
    """
    from ghp_agents.cli.views import report as report_view  # `agent-log` needs none of this
    from ghp_agents.reports import report as reports

    now = app.ws.clock.now()
    then = seconds_of(since, now) if since else now - A_DAY
    if cost:
        _print_costs(app, then, as_json)
        return
    remote_news.hear(app)
    with output.busy("Reading what happened"):
        summary = reports.read_report(app, then)
    if as_json:
        output.as_json(report_view.fields(summary))
    elif any(summary.counts.values()):
        with paged():
            for line in report_view.lines(summary):
                output.page(line)
    else:
        say_none(app, f"Nothing happened since {to_text(then)}.")
    for unread in summary.notes:
        output.warn(unread)
    start_background(app)


def _print_costs(app: App, then: float, as_json: bool) -> None:
    from ghp_agents.cli.views import costs as cost_view
    from ghp_agents.reports import costs

    remote_news.hear(app)
    with output.busy("Reading what agents used"):
        spending = costs.read_costs(app, then)
    if as_json:
        output.as_json(spending)
    elif spending.agents:
        cost_view.show(spending)
    else:
        say_none(app, f"No agent worked since {to_text(then)}.")
    start_background(app)
