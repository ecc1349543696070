"""`agent-issues` and `agent-issue`: list, show and change issues."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ghp_agents.cli import complete, json_choice, output, past
from ghp_agents.cli.context import acting, say_none, start_background
from ghp_agents.cli.group import Group
from ghp_agents.cli.list_option import ListOption
from ghp_agents.cli.params import LIMIT, METADATA, limited, read_text
from ghp_agents.cli.terminal import pager
from ghp_agents.cli.views import claim as claim_view
from ghp_agents.cli.views import issue as issue_view
from ghp_agents.cli.views.remote_news import hear, issue_after_asking
from ghp_agents.core import files
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.metadata import Metadata
from ghp_agents.git.silence import NEEDLESS_S
from ghp_agents.hotpath import heartbeat
from ghp_agents.hotpath.quoting import named
from ghp_agents.issues import service as services
from ghp_agents.issues.issue import BODY_LIMIT, PRIORITIES, PROVISIONAL, Issue, IssueChange, short
from ghp_agents.issues.service import IssueResult
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.pulls.issue_work import IssueWork

NUMBER = click.argument("number", metavar="N", shell_complete=complete.issues)
PARENT = click.option(
    "--parent", metavar="N", help="The parent issue.", shell_complete=complete.issues
)
CLOSED = click.argument("number", metavar="N", shell_complete=complete.closed_issues)
PRIORITY = click.option("--priority", type=click.Choice(PRIORITIES), help="How urgent it is.")
AS_JSON = json_choice.option("Print it as JSON.")

# What --at cannot show: locks have no past.
CLAIMS_LEFT_OUT = (
    "Claims are not shown, because claims keep no history; see `ghp agent-log --event claim`."
)
WORK_LEFT_OUT = (
    "Its claim, branch, pull requests and handoff are not shown; see `ghp agent-log --issue`."
)


@click.command("agent-issues", epilog="Example: ghp agent-issues --ready --label bug")
@click.option("--mine", is_flag=True, help="Only issues assigned to this agent or person.")
@click.option(
    "--ready",
    is_flag=True,
    help="Only issues that can be claimed: open, unclaimed, unassigned (with --mine: mine) and "
    "unblocked. No epics and no issues for people (labels `epic`, `agent:needs-human`).",
)
@click.option("--closed", "states", flag_value="closed", help="Closed issues instead of open ones.")
@click.option("--all", "states", flag_value="open closed", help="Open and closed issues.")
@click.option(
    "--label", "labels", cls=ListOption, metavar="LABEL", help="Only issues with this label."
)
@LIMIT
@past.AT
@json_choice.option("Print them as JSON.")
@acting
def issues(
    app: App,
    mine: bool,
    ready: bool,
    states: str | None,
    labels: tuple[str, ...],
    limit: int | None,
    at: str | None,
    as_json: bool,
) -> None:
    """List issues, first those that `ghp agent-start --next` would take.

    The order: what you hold, critical issues, what is assigned to you, then the rest by priority,
    due date and number. What nobody can claim now follows in the same order; closed issues come
    last. With equal ones, --next takes what is near to the agent's earlier work.
    """
    if ready and states:
        raise UsageError(
            "Closed issues are never ready.", hint="Use --ready without --closed and --all."
        )
    chosen = tuple((states or "open").split())
    then = past.time_of_issues(app, at, CLAIMS_LEFT_OUT)
    if then is None:
        hear(app)
    holdings = _holdings(app) if then is None else None
    listing = services.select(
        app if then is None else app.past(then),
        mine=mine, ready=ready, states=chosen, labels=labels,
        claims={number: holding.lock for number, holding in (holdings or {}).items()},
        commanded=services.commanded(app.store) if then is None else (),
    )  # fmt: skip
    listing = listing._replace(issues=limited(listing.issues, limit))
    if as_json:
        output.as_json([issue_view.fields(issue, holdings) for issue in listing.issues])
    elif listing.issues:
        issue_view.table(listing, holdings)
    else:
        none = _none(ready, anything=bool(listing.open) or bool(states))
        say_none(app, none if then is None else "No issue matched at that time.")
    if listing.passed_over:
        issue_view.say_passed_over(listing.passed_over)
    if listing.circle:
        _warn_of_circle(listing.circle)
    if then is None:
        start_background(app)


def _holdings(app: App) -> issue_view.Holdings:
    from ghp_agents.claims import service as claims

    return claims.holdings(app)


def _warn_of_circle(circle: list[Issue]) -> None:
    ring = " for ".join(short(issue) for issue in [*circle, circle[0]])
    waiting, blocker = (short(issue).removeprefix("#") for issue in (circle[-1], circle[0]))
    command = f"ghp agent-issue block {waiting} --by {blocker} --remove"
    output.warn(f"These issues block each other: {ring}.", f"Remove one dependency: `{command}`.")


def _none(ready: bool, *, anything: bool) -> str:
    if not anything:
        return "No open issues. Create one with `ghp agent-issue new TITLE`."
    if ready:
        return "No issue is ready. `ghp agent-issues` shows what is claimed, assigned or blocked."
    return "No issue matches. `ghp agent-issues --all` lists all."


@click.group(
    "agent-issue", cls=Group, epilog="Example: ghp agent-issue new 'Parse empty files' --label bug"
)
def issue() -> None:
    """Create, show and change issues. N is a number, or an id or the start of one (I-3f9a)."""


@issue.command(
    "new", epilog="Example: ghp agent-issue new 'Write the docs' --blocked-by 3 --body -"
)
@click.argument("title")
@click.option("--body", metavar="TEXT", help="The description; `-` reads standard input.")
@click.option("--label", "labels", cls=ListOption, metavar="LABEL", help="Add this label.")
@click.option(
    "--assign", "names", cls=ListOption, metavar="NAME",
    help="Assign it to this agent or person.",
    shell_complete=complete.agents,
)  # fmt: skip
@click.option(
    "--blocked-by", cls=ListOption, metavar="N", help="An issue that blocks it.",
    shell_complete=complete.issues,
)  # fmt: skip
@PARENT
@PRIORITY
@METADATA
@click.option("--again", is_flag=True, help="Create it even if you have an identical open issue.")
@acting
def new(
    app: App,
    title: str,
    body: str | None,
    labels: tuple[str, ...],
    names: tuple[str, ...],
    blocked_by: tuple[str, ...],
    parent: str | None,
    priority: str | None,
    metadata: Metadata | None,
    again: bool,
) -> None:
    """Create an issue and print its number. Without the remote, its id (I-3f9a12) is printed, which
    names it wherever a number does; a sync numbers it."""
    wanted = IssueChange(
        title=title,
        body=body and read_text(body, 4 * BODY_LIMIT + 1),
        priority=priority,
        add_labels=labels,
        add_assignees=names,
        metadata=metadata,
    )
    if app.hub is None:
        app.limit_waiting(NEEDLESS_S)  # a sync can number it later
    with output.busy("Getting a number"):
        outcome = services.new(app, wanted, blocked_by=blocked_by, parent=parent, again=again)
    created = outcome.issue
    output.result(short(created).removeprefix("#"))
    if "\n" in title.strip():
        output.say("The title is one line; its lines were joined. Use --body for more text.")
    if not outcome.changed:
        output.say(f"{issue_view.name(created)} already exists; use --again to create another one.")
        return
    output.done(f"Created {issue_view.name(created)}.")
    if created.number >= PROVISIONAL:
        full = files.why_unwritable(app.ws.ghp_dir)
        why = f"this clone cannot be written: {full}" if full else "the remote cannot be reached"
        output.warn(
            f"The issue has no number yet, because {why}.",
            f"`ghp agent-sync` numbers it; {short(created)} is always valid: `ghp agent-issue show "
            f"{short(created)}`.",
        )
    start_background(app)


@issue.command("show", epilog="Example: ghp agent-issue show 3")
@NUMBER
@past.AT
@AS_JSON
@click.pass_obj
def show(app: App, number: str, at: str | None, as_json: bool) -> None:
    """Show an issue with its comments.

    It also shows its branch and worktree in this clone, its pull requests and its last handoff.
    """
    then = past.time_of_issues(app, at, WORK_LEFT_OUT)
    if then is None:
        hear(app)
    holdings = _holdings(app) if then is None else None
    tracker = app.tracker if then is None else app.past(then).tracker
    view = issue_after_asking(app, number, lambda: services.view(tracker, number))
    if as_json:
        parts = issue_view.fields_of_parts(view.parts)
        output.as_json(issue_view.fields(view.issue, holdings) | parts)
    else:
        work = _work(app, view.issue) if then is None else None
        pager.show(issue_view.page(view, holdings, work))
    if then is None:
        start_background(app)


def _work(app: App, issue: Issue) -> "IssueWork":
    from ghp_agents.pulls import issue_work

    try:
        return issue_work.read_work(app, issue)
    except GhpError as error:
        output.warn(f"The pull requests of {short(issue)} are unknown: {error}", error.hint)
        return issue_work.without_pulls(app, issue)


@issue.command("edit", epilog="Example: ghp agent-issue edit 3 --priority high --label parser")
@NUMBER
@click.option("--title", metavar="TEXT", help="The new title.")
@click.option("--body", metavar="TEXT", help="The new body; `-` reads standard input.")
@click.option("--label", "labels", cls=ListOption, metavar="LABEL", help="Add a label.")
@click.option("--remove-label", "removed", cls=ListOption, metavar="LABEL", help="Remove a label.")
@PRIORITY
@PARENT
@METADATA
@click.option("--no-parent", is_flag=True, help="Remove the parent issue.")
@acting
def edit(
    app: App,
    number: str,
    title: str | None,
    body: str | None,
    labels: tuple[str, ...],
    removed: tuple[str, ...],
    priority: str | None,
    parent: str | None,
    metadata: Metadata | None,
    no_parent: bool,
) -> None:
    """Change fields of an issue."""
    change = IssueChange(
        title=title,
        body=body and read_text(body, 4 * BODY_LIMIT + 1),
        priority=priority,
        no_parent=no_parent,
        add_labels=labels,
        remove_labels=removed,
        metadata=metadata,
    )
    outcome = issue_after_asking(
        app, number, lambda: services.edit(app, number, change, parent=parent)
    )
    _report(app, outcome, "Changed {}.", "{} is already like that.")


@issue.command("comment", epilog="Example: ghp agent-issue comment 3 'The cause is in parse.py'")
@NUMBER
@click.argument("text")
@acting
def comment(app: App, number: str, text: str) -> None:
    """Add a comment to an issue; `-` reads standard input."""
    body = read_text(text or "", 4 * BODY_LIMIT + 1)
    outcome = issue_after_asking(app, number, lambda: services.comment(app, number, body))
    _report(app, outcome, "Commented on {}.", "{} already ends with this comment.")


@issue.command("close", epilog="Example: ghp agent-issue close 3 --reason 'A duplicate of #2'")
@NUMBER
@click.option(
    "--reason", "--message", "reason", metavar="TEXT",
    help="Why it is done; becomes a comment. `-` reads standard input.",
)  # fmt: skip
@acting
def close(app: App, number: str, reason: str | None) -> None:
    """Close an issue. A claimed issue can be closed only by its holder or a person.

    An agent needs evidence: a merged pull request of the issue, a commit on main that names it
    (`#3`), or --reason. People and orchestrators need none.
    """
    from ghp_agents.pulls import close_evidence

    why = read_text(reason or "", 4 * BODY_LIMIT + 1)
    outcome = issue_after_asking(app, number, lambda: close_evidence.close(app, number, why))
    _report(app, outcome, "Closed {}.", "{} is already closed.")
    actor = app.ws.actor()
    if outcome.changed and not actor.is_person:
        claim_view.say_left_over(app, actor.name)


@issue.command("reopen", epilog="Example: ghp agent-issue reopen 3")
@CLOSED
@acting
def reopen(app: App, number: str) -> None:
    """Reopen a closed issue."""
    outcome = issue_after_asking(app, number, lambda: services.reopen(app, number))
    _report(app, outcome, "Reopened {}.", "{} is already open.")


@issue.command("assign", epilog="Example: ghp agent-issue assign 3 worker-1")
@NUMBER
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=complete.agents)
@click.option("--remove", is_flag=True, help="Remove these assignees.")
@acting
def assign(app: App, number: str, names: tuple[str, ...], remove: bool) -> None:
    """Assign an issue to agents or people; @me is you."""
    outcome = issue_after_asking(
        app, number, lambda: services.assign(app, number, names, remove=remove)
    )
    holders = ", ".join(outcome.issue.assignees) or "nobody"
    sentence = f"{{}} is assigned to {holders}"
    _report(app, outcome, f"{sentence}.", f"{sentence} already.")
    if outcome.changed and not remove:
        _warn_of_absent(app, names)
    _move_claim(app, outcome.issue, names if remove else (), () if remove else names)


def _warn_of_absent(app: App, names: Sequence[str]) -> None:
    """Warn of agents that never ran: a name may be mistyped."""
    agents = app.store.snapshot().agents()
    for name in names:
        if heartbeat.is_name(name) and name not in agents:
            output.warn(
                f"There is no agent {name} yet. It finds the issue when it starts.",
                "`ghp agent-status` lists agents.",
            )


def _move_claim(app: App, assigned: Issue, removed: Sequence[str], added: Sequence[str]) -> None:
    """Move the claim to the new assignee, or say who still holds the issue."""
    from ghp_agents.claims import service as claims

    held = app.world.claims.get(assigned.number)
    if held is None or held.holder is None:
        return
    if held.holder in assigned.assignees:
        if others := [name for name in added if name in assigned.assignees if name != held.holder]:
            output.say(
                f"{named(held.holder, held.is_person)} still holds the issue. To give it away: "
                f"`ghp agent-release {assigned.number} --to {others[0]}`."
            )
        return
    moved = claims.follow_assignment(app, assigned)
    if moved and moved.changed and moved.lock:
        output.done(f"{moved.lock.holder} holds the issue now; {held.holder} held it.")
        start_background(app)
    elif held.holder in removed:
        hint = f"To take it away: `ghp agent-release {assigned.number} [--to NAME]`."
        output.warn(f"{named(held.holder, held.is_person)} still holds the issue.", hint)


@issue.command("block", epilog="Example: ghp agent-issue block 3 --by 1 --by 2")
@NUMBER
@click.option(
    "--by", cls=ListOption, required=True, metavar="M", help="The issue that blocks it.",
    shell_complete=complete.issues,
)  # fmt: skip
@click.option("--remove", is_flag=True, help="Remove these blockers.")
@acting
def block(app: App, number: str, by: tuple[str, ...], remove: bool) -> None:
    """Mark an issue as blocked by other issues."""
    outcome = issue_after_asking(
        app, number, lambda: services.block(app, number, by, remove=remove)
    )
    blockers = ", ".join(f"#{blocker}" for blocker in outcome.issue.blocked_by) or "nothing"
    sentence = f"{{}} is blocked by {blockers}"
    _report(app, outcome, f"{sentence}.", f"{sentence} already.")


def _report(app: App, outcome: IssueResult, done: str, already: str) -> None:
    name = issue_view.name(outcome.issue)  # stands for {}
    if outcome.changed:
        output.done(done.replace("{}", name))
        start_background(app)
    else:
        output.say(already.replace("{}", name))
