"""`agent-topic` and `agent-subscribe`: the topics of messages, and who listens to them."""

import json

import click

from ghp_agents.cli import json_choice, output
from ghp_agents.cli.context import acting, send, start_background
from ghp_agents.cli.group import Group
from ghp_agents.cli.list_option import ListOption
from ghp_agents.cli.views import remote_news
from ghp_agents.core.clock import age
from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.ids import one_line
from ghp_agents.hotpath.quoting import file
from ghp_agents.messages import payload, subscriptions
from ghp_agents.messages import service as services
from ghp_agents.messages.service import Draft
from ghp_agents.messages.topic_list import NEW_TOPIC
from ghp_agents.messages.topics import topic as rules
from ghp_agents.wiring import App

DESCRIPTION = 90  # characters; with the name it is the subject of a message
COLUMNS = ("TOPIC", "MESSAGES", "LAST", "DESCRIPTION")


@click.group("agent-topic", cls=Group, epilog="Example: ghp agent-topic list")
def topic() -> None:
    """List and describe the topics of messages. A message to @NAME goes to the topic NAME."""


@topic.command("list", epilog="Example: ghp agent-topic list")
@json_choice.option("Print the topics as JSON.")
@click.pass_obj
def list_topics(app: App, as_json: bool) -> None:
    """List topics: those with a schema, those that somebody described, and those in use."""
    remote_news.hear(app)
    topics = services.topics(app)
    if as_json:
        output.as_json([
            {"topic": x.name, "description": x.description, "messages": x.messages,
             "last": x.last or None, "hasSchema": x.name in payload.SHAPES}
            for x in topics
        ])  # fmt: skip
        return
    now = app.ws.clock.now()
    rows = [
        (x.name, str(x.messages), age(x.last, now) if x.last else "-", one_line(x.description, 100))
        for x in topics
    ]
    output.table(COLUMNS, rows)


@topic.command("new", epilog="Example: ghp agent-topic new build.broken 'Main does not build'")
@click.argument("name")
@click.argument("description")
@acting
def new(app: App, name: str, description: str) -> None:
    """Describe a topic, for all agents. NAME is words, joined by `.`.

    A topic needs no description: a message to @NAME is enough.
    """
    rules.checked_name(name)
    if not 0 < len(one_line(description, 1_000)) <= DESCRIPTION:
        raise UsageError(
            f"A description has 1 to {DESCRIPTION} characters.", hint="Say what the topic is for."
        )
    existing = {entry.name: entry for entry in services.topics(app)}.get(name)
    if existing and existing.description:
        raise UsageError(
            f"{name} has a description already: {one_line(existing.description, 100)}",
            hint="Choose another name, or use it as it is.",
        )
    text = json.dumps({"topic": name, "description": description})
    services.send(app, Draft([f"@{NEW_TOPIC}"], f"{name}: {description}", payload=text))
    output.done(f"Described {name}. To send to it: `ghp agent-send @{name} SUBJECT`.")
    send(app)


@topic.command("describe", epilog="Example: ghp agent-topic describe code.completed")
@click.argument("name")
@click.pass_obj
def describe(app: App, name: str) -> None:
    """Show a topic and the fields of its payload."""
    existing = {entry.name: entry for entry in services.topics(app)}.get(name)
    if existing is None:
        raise NotFoundError(
            f"There is no topic {one_line(name, 40)}.", hint="`ghp agent-topic list` lists them."
        )
    by = f" (described by {file(existing.by)})" if existing.by else ""
    output.page(f"{name}: {one_line(existing.description, 200) or 'no description'}{by}")
    shape = payload.SHAPES.get(name)
    for field, words, required in payload.fields(shape.type) if shape else ():
        output.page(f"  {field}: {words}{'' if required else ' (optional)'}")
    if shape:
        example = payload.example(shape.type)
        output.data(f"Example: ghp agent-send @{name} SUBJECT --payload '{example}'")


@click.command(
    "agent-subscribe", epilog="Example: ghp agent-subscribe 'code.*' security.vulnerability_found"
)
@click.argument("patterns", metavar="PATTERN...", nargs=-1)
@click.option("--ignore", "ignores", metavar="PATTERN", cls=ListOption,
              help="Ignore these topics, although a pattern covers them.")  # fmt: skip
@click.option("--remove", "removes", metavar="PATTERN", cls=ListOption,
              help="Remove a pattern again.")  # fmt: skip
@click.option("--ask/--no-ask", "asks", default=None,
              help="Ask a person at the terminal about new topics, or stop asking.")  # fmt: skip
@click.option("--none", "isolate", is_flag=True, help="Get only messages that name this agent.")
@json_choice.option("Print it as JSON.")
@acting
def subscribe(
    app: App,
    patterns: tuple[str, ...],
    ignores: tuple[str, ...],
    removes: tuple[str, ...],
    asks: bool | None,
    isolate: bool,
    as_json: bool,
) -> None:
    """Subscribe this agent to topics of messages. Without arguments, show its subscriptions.

    PATTERN is a topic, or has `*` for one word and `>` for the rest: code.completed, code.*, code.>
    """
    changes = bool(patterns or ignores or removes or asks is not None)
    if isolate and changes:
        raise UsageError("--none allows no patterns.", hint="Leave out one of them.")
    if isolate:
        current = subscriptions.isolate(app)
    elif changes:
        current = subscriptions.subscribe(app, patterns, ignores, removes, asks=asks)
    else:
        current = subscriptions.of(app, app.ws.agent())
    if as_json:
        output.as_json({
            "agent": app.ws.agent(), "listens": [*current.listens], "ignores": [*current.ignores],
            "isolated": current.is_isolated, "isDefault": current.is_default, "asks": current.asks,
        })  # fmt: skip
    else:
        (output.done if current.is_new else output.data)(_words(app, current))
    start_background(app)


def _words(app: App, current: subscriptions.Subscribed) -> str:
    agent = app.ws.agent()
    if current.is_isolated:
        return f"{agent} gets only messages that name it."
    topics = ", ".join(current.listens) or "no topic"
    ignored = f"; it ignores {', '.join(current.ignores)}" if current.ignores else ""
    default = " (the setting `topics`)" if current.is_default else ""
    quiet = "" if current.asks else " Nobody is asked about new topics."
    return f"{agent} is subscribed to {topics}{ignored}{default}.{quiet}"
