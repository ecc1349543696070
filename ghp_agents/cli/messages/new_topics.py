"""The question about new topics: a person at a terminal decides once what an agent hears."""

import click

from ghp_agents.cli import output
from ghp_agents.core.clock import age
from ghp_agents.core.ids import AgentName, count, one_line
from ghp_agents.core.person import agent_here
from ghp_agents.hotpath.quoting import file
from ghp_agents.messages import mailbox, subscriptions, topic_list
from ghp_agents.messages import service as services
from ghp_agents.messages.topic_list import Topic
from ghp_agents.messages.topics.topic import REST
from ghp_agents.wiring import App

MOST = 3  # questions of one command
HEAR, HEAR_ALL, IGNORE, NEVER = "y", "a", "n", "!"


def ask(app: App, agent: AgentName) -> None:
    """Ask the person at this terminal which new topics an agent hears. An agent is not asked."""
    if agent_here(app.environ) is not None:
        return
    if app.ws.settings.new_topics != "ask" or not subscriptions.of(app, agent).asks:
        return
    for _ in range(MOST):
        left = _undecided(app, agent)
        if not left or not _ask(app, agent, left):
            return


def _undecided(app: App, agent: AgentName) -> list[Topic]:
    snapshot = app.store.snapshot()
    topics = topic_list.known(mailbox.of(app.ws, snapshot, agent))
    return topic_list.undecided(topics, services.roles_of(app, snapshot, agent))


def _ask(app: App, agent: AgentName, left: list[Topic]) -> bool:
    """Ask about the first topic; return whether to ask about others."""
    topic, root = left[0], left[0].name.partition(".")[0]
    for line in _about(topic, len(left) - 1, app.ws.clock.now()):
        output.say(output.clean(line))
    output.say(f"  [Y] yes  [A] all of {root}  [N] no  [!] no, and stop asking")
    choices = click.Choice([HEAR, HEAR_ALL, IGNORE, NEVER], case_sensitive=False)
    choice = click.prompt(
        f"Subscribe {agent} to {topic.name}? [y/a/n/!]", type=choices, default=IGNORE, err=True,
        show_choices=False,
    )  # fmt: skip
    if choice in (HEAR, HEAR_ALL):
        heard = [topic.name] if choice == HEAR else [root, f"{root}.{REST}"]
        subscriptions.subscribe(app, heard, [], [])
        output.done(f"{agent} is subscribed to {' and '.join(heard)}.")
        return True
    quiet = choice == NEVER
    subscriptions.subscribe(app, [], [topic.name], [], asks=False if quiet else None)
    output.done(f"{agent} ignores {topic.name}.")
    if quiet:
        output.say(f"To be asked again: `ghp agent-subscribe --ask --as {agent}`.")
    return not quiet


def _about(topic: Topic, others: int, now: float) -> list[str]:
    more = f" ({count(others, 'more new topic')})" if others else ""
    lines = [f"New topic: {topic.name}{more}"]
    if topic.description:
        by = f", says {file(topic.by)}" if topic.by else ""
        lines.append(f"  {one_line(topic.description, 100)}{by}")
    if topic.messages:
        sent = f"the last by {file(topic.last_by)} {age(topic.last, now)}"
        lines.append(f"  {count(topic.messages, 'message')}, {sent}")
    return lines
