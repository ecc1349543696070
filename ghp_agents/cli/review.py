"""`agent-review`: approve a pull request, or request changes."""

from typing import TYPE_CHECKING

import click

from ghp_agents.cli import complete, output
from ghp_agents.cli.context import acting, send, sync_first
from ghp_agents.cli.params import read_text
from ghp_agents.core.errors import UsageError
from ghp_agents.pulls import merge as pulls
from ghp_agents.pulls import record_review as services
from ghp_agents.pulls.review import TEXT_LIMIT, VERDICTS
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.pull import ReviewJson


@click.command("agent-review", epilog="Example: ghp agent-review 14 --request-changes 'Add a test'")
@click.argument("reference", metavar="PR|ISSUE", shell_complete=complete.issues)
@click.argument("text", required=False, default="")
@click.option("--approve", "verdict", flag_value="approve", help="It can be merged.")
@click.option(
    "--request-changes", "verdict", flag_value="request-changes", help="It needs other work first."
)
@click.option("--json", "as_json", is_flag=True, help="Print the review as JSON.")
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
    pull = pulls.find(pulls.merger(app, cwd=app.cwd), reference)
    done = services.review(app, pull, verdict, text=read_text(text, 4 * TEXT_LIMIT, "The text"))
    record = done.record
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
