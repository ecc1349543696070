"""`agent-explain`: why an issue is not being worked on, and why an agent is idle."""

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

import click

from ghp_agents.cli import complete, json_choice, output
from ghp_agents.cli.context import start_background
from ghp_agents.cli.views import explanation as view
from ghp_agents.cli.views import remote_news
from ghp_agents.jobs import explain as services
from ghp_agents.wiring import App

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.job import AgentExplanationJson, IssueExplanationJson


@click.command("agent-explain", epilog="Example: ghp agent-explain 12")
@click.argument("about", metavar="N|AGENT", shell_complete=complete.issues)
@json_choice.option("Print it as JSON.")
@click.pass_obj
def explain(app: App, about: str, as_json: bool) -> None:
    """Explain why nobody works on an issue, or why an agent is idle.

    It lists every rule of the decision, with the command that changes it. `agent-claim --next`
    and `agent-dispatch` decide by the same rules.
    """
    remote_news.hear(app)
    fields: IssueExplanationJson | AgentExplanationJson
    if _is_issue(about):
        from ghp_agents.runs import explain as reactions

        issue = remote_news.after_asking(app, lambda: services.of_issue(app, about))
        reacts = reactions.of_issue(app, issue.issue.number)
        fields = view.issue_fields(issue, reacts)
        lines: Iterator[view.Line] = chain(view.issue_lines(issue), view.reaction_lines(reacts))
    else:
        agent = remote_news.after_asking(app, lambda: services.of_agent(app, about))
        fields, lines = view.agent_fields(agent), view.agent_lines(agent)
    if as_json:
        output.as_json(fields)
    else:
        for mark, text in lines:
            view.show(mark, text)
    start_background(app)


def _is_issue(word: str) -> bool:
    digits = word.removeprefix("#")
    return (digits.isascii() and digits.isdigit()) or word[:2].lower() == "i-"
