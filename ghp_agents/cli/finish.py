"""`agent-finish`: the work in this worktree becomes a pull request."""

from functools import partial
from typing import TYPE_CHECKING

import click

from ghp_agents.cli import json_choice, output
from ghp_agents.cli.context import LEARNT, acting, send
from ghp_agents.cli.terminal import signals
from ghp_agents.cli.views import remote_news
from ghp_agents.core.errors import UnapprovedError
from ghp_agents.core.ids import count
from ghp_agents.pulls import finish as services
from ghp_agents.pulls import finish_later
from ghp_agents.pulls.finish import Finished
from ghp_agents.pulls.finish_later import LeftFinish
from ghp_agents.pulls.merging.record_review import REQUIRED
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.pull import FinishedJson


@click.command("agent-finish", epilog="Example: ghp agent-finish")
@click.option("--issue", metavar="N", help="The issue (default: the issue of the branch).")
@click.option("--draft", is_flag=True, help="Open it as a draft.")
@json_choice.option("Print the pull request as JSON.")
@acting
def finish(app: App, issue: str | None, draft: bool, as_json: bool) -> None:
    """Merge main into the branch, run the checks, push, and open a pull request.

    Prints its number. Only the agent that holds the issue can do this, and everything must be
    committed. Safe to run twice: it updates the same pull request, and marks a draft as ready.
    """
    if finish_later.is_needed(app.environ):
        _leave(app, issue, draft=draft, as_json=as_json)
        return
    with signals.exit_on_signals(), output.busy("Finishing"):
        finishing = partial(services.finish, app, issue=issue, draft=draft, tell=output.say)
        finished = remote_news.after_asking(app, finishing, (UnapprovedError,))
    send(app, here=True)  # others hear of it before this command says that it is done
    if as_json:
        output.as_json(_fields(finished))
    else:
        output.result(str(finished.pull.number))
    _say(finished, needs_review=app.ws.settings.review == REQUIRED)


def _leave(app: App, issue: str | None, *, draft: bool, as_json: bool) -> None:
    """In a sandbox: check the work; the supervisor sends it."""
    with signals.exit_on_signals(), output.busy("Checking"):
        left = finish_later.leave(app, issue=issue, draft=draft, tell=output.say)
    base, branch = left.subject.base, left.subject.branch
    if as_json:
        output.as_json(_fields_of_left(left, draft=draft))
    for check in left.checks:
        (output.done if check.passed else output.warn)(f"{check.line}.")
    if left.updated:
        output.say(f"Merged {base} into {branch}.")
    for note in left.notes:
        output.warn(note)
    output.done(f"{branch} is checked. `ghp agent-work` sends it when this run has ended.")
    output.say("Commit nothing more, and end your turn.")


def _fields_of_left(left: LeftFinish, *, draft: bool) -> "FinishedJson":
    return {
        "number": None,
        "url": None,
        "branch": left.subject.branch,
        "head": left.head,
        "issue": left.subject.issue.number,
        "draft": draft,
        "new": False,
        "commits": left.commits,
        "checks": [{"command": check.command, "passed": check.passed} for check in left.checks],
    }


def _fields(finished: Finished) -> "FinishedJson":
    pull = finished.pull
    return {
        "number": pull.number,
        "url": pull.url or None,
        "branch": pull.branch,
        "head": pull.head,
        "issue": finished.issue.number,
        "draft": pull.draft,
        "new": finished.is_new,
        "commits": finished.commits,
        "checks": [{"command": check.command, "passed": check.passed} for check in finished.checks],
    }


def _say(finished: Finished, *, needs_review: bool) -> None:
    pull = finished.pull
    for check in finished.checks:
        (output.done if check.passed else output.warn)(f"{check.line}.")
    if finished.updated:
        output.say(f"Merged {pull.base} into {pull.branch}.")
    what = "draft" if pull.draft else "pull request"
    if pull.waits:
        output.done(
            f"Pushed {pull.branch}, {count(finished.commits, 'commit')}. Its {what} waits for a "
            "clone with a token."
        )
        for note in finished.notes:
            output.warn(note)
        output.say("The next sync of that clone opens it; GitHub then gives it a number.")
        return
    did = "Opened" if finished.is_new else "Updated"
    where = f" {pull.url}" if pull.url else ""
    output.done(
        f"{did} {what} #{pull.number} of {pull.branch}, {count(finished.commits, 'commit')}.{where}"
    )
    for note in finished.notes:
        output.warn(note)
    if finished.is_new:
        output.say(LEARNT)
    if not pull.draft and needs_review:
        output.say(
            "First another agent or a person approves it with `ghp agent-review "
            f"{pull.number} --approve`."
        )
    if not pull.draft:
        output.say(f"Merge it into {pull.base} with `ghp agent-merge {pull.number}`.")
