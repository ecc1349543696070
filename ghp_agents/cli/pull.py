"""`agent-pulls`, `agent-pull` and `agent-review`: list, show and review pull requests."""

import os
from typing import TYPE_CHECKING

import click

from ghp_agents.cli import complete, json_choice, output, past
from ghp_agents.cli.context import acting, say_none, send, start_background, sync_first
from ghp_agents.cli.group import Group
from ghp_agents.cli.params import LIMIT, as_number, limited, read_text
from ghp_agents.cli.terminal import pager
from ghp_agents.cli.views import pull as pull_view
from ghp_agents.cli.views import remote_news
from ghp_agents.core.errors import GhpError, NotFoundError, UsageError
from ghp_agents.jobs import listing
from ghp_agents.pulls import details as services
from ghp_agents.pulls.details import PullDetails
from ghp_agents.pulls.merging import merge, record_review, review_request
from ghp_agents.pulls.review import TEXT_LIMIT, VERDICTS
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.pull import ReviewJson

EXAMPLE = "ghp agent-pull show 3"


@click.command("agent-pulls", epilog="Example: ghp agent-pulls --all")
@click.option("--all", "closed", is_flag=True, help="Open, merged and closed pull requests.")
@LIMIT
@past.AT
@json_choice.option("Print them as JSON.")
@click.pass_obj
def pulls(app: App, closed: bool, limit: int | None, at: str | None, as_json: bool) -> None:
    """List open pull requests, oldest first. On GitHub, those from forks are left out."""
    then = past.time_of_pulls(app, at)
    if then is None:
        remote_news.hear(app)
    ctx = app if then is None else app.past(then)
    listed = limited(ctx.forge.list(closed=closed), limit)
    if as_json:
        output.as_json([pull_view.fields(pull) for pull in listed])
    elif listed:
        unmerged = [pull for pull in listed if pull.state == "open"]
        pull_view.table(listed, listing.sent_back(ctx.store.snapshot(), unmerged))
    else:
        say_none(app, _none(closed) if then is None else "No pull request matched at that time.")
    if then is None:
        start_background(app)


def _none(closed: bool) -> str:
    if closed:
        return "No pull requests. `ghp agent-finish` opens one."
    return "No open pull requests. `ghp agent-pulls --all` lists merged and closed ones, too."


@click.group("agent-pull", cls=Group, epilog=f"Example: {EXAMPLE}")
def pull() -> None:
    """Show a pull request. `ghp agent-merge` merges it."""


@pull.command("show", epilog=f"Example: {EXAMPLE} --diff")
@click.argument("number", metavar="PR", shell_complete=complete.pulls)
@click.option("--diff", "with_diff", is_flag=True, help="Print only the diff.")
@json_choice.option("Print it as JSON; --diff adds the diff.")
@click.pass_obj
def show(app: App, number: str, with_diff: bool, as_json: bool) -> None:
    """Show a pull request, and how often it was sent back.

    --diff prints what the branch changed since it left its base. Control characters are replaced.
    """
    remote_news.hear(app)
    details = _find(app, as_number(number, "a pull request's number", EXAMPLE))
    diff = os.fsdecode(services.diff(app, details.pull)) if with_diff else None
    if as_json:
        fields = pull_view.all_fields(details)
        output.as_json(fields if diff is None else {**fields, "diff": diff})
    elif diff is None:
        pager.show(pull_view.page(details))
    else:
        with pager.paged():
            output.data(output.clean(diff))
        if not diff:
            output.say(f"#{details.pull.number} changes nothing.")
    start_background(app)


def _find(app: App, number: int) -> PullDetails:
    try:
        return services.read_details(app, number)
    except NotFoundError as missing:
        raise _issue_instead(app, number) or missing from None


def _issue_instead(app: App, number: int) -> NotFoundError | None:
    """The error for a number that is an issue; None if it is none, or that is unknown."""
    try:
        app.tracker.get(number)
    except GhpError:
        return None
    show = f"`ghp agent-issue show {number}`"
    return NotFoundError(f"#{number} is an issue.", hint=f"{show} shows it and its pull requests.")


@click.command("agent-review", epilog="Example: ghp agent-review 14 --request-changes 'Add a test'")
@click.argument("reference", metavar="PR|ISSUE", shell_complete=complete.issues)
@click.argument("text", required=False, default="")
@click.option("--approve", "verdict", flag_value="approve", help="It can be merged.")
@click.option(
    "--request-changes", "verdict", flag_value="request-changes", help="It needs other work first."
)
@json_choice.option("Print the review as JSON.")
@acting
def review(app: App, reference: str, text: str, verdict: str | None, as_json: bool) -> None:
    """Approve a pull request, or request changes.

    TEXT is for its author; `-` reads standard input. The review is about the commit that
    `agent-finish` sent last, and becomes a comment on the issue. With `agents.review: required`,
    `agent-merge` needs an approval by another agent or a person.
    """
    if verdict is None:
        raise UsageError(
            "A review needs a verdict.", hint="Use --approve, or --request-changes TEXT."
        )
    sync_first(app)
    pull = merge.find(merge.merger(app, cwd=app.cwd), reference)
    words = read_text(text, 4 * TEXT_LIMIT, "The text")
    if verdict == "request-changes" and not words.strip():
        raise UsageError("Say what should change.", hint="Use --request-changes TEXT.")
    done = review_request.answer_open(app, app.cwd, pull, verdict, words)
    done = done or record_review.review(app, pull, verdict, text=words)
    record = done.record
    for note in done.notes:
        output.warn(note)
    if as_json:
        fields: ReviewJson = {
            "number": record.pull, "head": record.head, "verdict": record.verdict,
            "by": record.by.name, "person": record.by.is_person, "text": record.text,
            "already": not done.is_new,
        }  # fmt: skip
        output.as_json(fields)
    what = f"You {VERDICTS[record.verdict]} #{record.pull} at {record.head[:12]}"
    if done.is_new:
        output.done(f"{what}.")
        send(app)
    else:
        output.say(f"{what} already.")
