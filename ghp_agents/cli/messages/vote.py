"""`agent-vote`: vote on a proposal, or see its votes."""

import click

from ghp_agents.cli import json_choice, output
from ghp_agents.cli.context import acting
from ghp_agents.cli.context import send as send_now
from ghp_agents.cli.params import read_text
from ghp_agents.cli.views import vote as view
from ghp_agents.core.errors import UsageError
from ghp_agents.messages import texts, voting
from ghp_agents.messages.vote import CHOICES
from ghp_agents.wiring import App


@click.command("agent-vote", epilog="Example: ghp agent-vote M-3f9a --against --reason 'Too slow'")
@click.argument("id")
@click.option("--for", "choice", flag_value=CHOICES[0], help="Do it.")
@click.option("--against", "choice", flag_value=CHOICES[1], help="Do not do it.")
@click.option("--abstain", "choice", flag_value=CHOICES[2], help="Only count for the quorum.")
@click.option("--reason", metavar="TEXT", default="", help="The reason; `-` reads standard input.")
@json_choice.option("Print the votes as JSON.")
@acting
def vote(app: App, id: str, choice: str | None, reason: str, as_json: bool) -> None:
    """Vote on a proposal; without a choice, show its votes.

    The last vote of an agent counts, until the vote ends. A person's vote decides at any time.
    Everybody who was asked gets the result, with the reasons against it.
    """
    if choice is None and reason:
        raise UsageError("A reason needs a vote.", hint="Add --for, --against or --abstain.")
    if choice is None:
        voted = voting.look(app, id)
    else:
        text = read_text(reason, 4 * texts.BODY_LIMIT + 4, "The reason")
        voted = voting.vote(app, id, choice, text)
    if as_json:
        output.as_json(view.as_json(voted))
    elif choice is None:
        output.page(view.page(voted))
    if choice is None:
        return
    name = voted.letter.message.name
    if voted.is_new:
        output.done(f"You voted on {name}: {choice}. {view.state(voted)}")
    else:
        output.say(f"You already voted this way. {view.state(voted)}")
    output.flush()
    send_now(app)
