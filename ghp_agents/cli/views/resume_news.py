"""What `agent-resume` fetches before it shows anything."""

from ghp_agents.cli import output
from ghp_agents.cli.views import remote_news
from ghp_agents.handoffs import awaited
from ghp_agents.handoffs.resume import Chosen
from ghp_agents.wiring import App


def fetch(app: App, chosen: Chosen) -> bool:
    """Fetch the handoff that the claim names, if it is not here. While a question is open, ask the
    remote for its answer, as often as for any news. Return whether something arrived."""
    number = chosen.about.number
    is_new = number is not None and awaited.for_issue(app, number, output.warn)
    if any(question.is_open for question in chosen.facts.escalations) and remote_news.is_due(app):
        report = remote_news.ask(app)
        remote_news.tell_trouble(app, report)
        is_new = is_new or bool(report.news)
    return is_new
