"""`agent-inbox --follow`: print or hand over each message as it comes."""

import json
import select
import sys
from collections.abc import Callable

from ghp_agents.cli import output
from ghp_agents.cli.terminal import signals
from ghp_agents.cli.views import message as view
from ghp_agents.core import process
from ghp_agents.core.ids import AgentName
from ghp_agents.hotpath.quoting import clean
from ghp_agents.messages import news
from ghp_agents.messages.follow import TRIES, Follower, HandOver
from ghp_agents.messages.message import Message
from ghp_agents.wiring import App


def follow(app: App, command: str | None, *, as_json: bool) -> None:
    """Print each message, or run `command` with it, until a signal or a closed pipe ends this.

    Raises RefusedError if another process follows this inbox.
    """
    agent = app.ws.agent()
    hand_over = _runner(app, agent, command) if command is not None else _printer(as_json)
    follower = Follower(app, agent, hand_over, lambda message: _give_up(message, command))
    try:
        with signals.exit_on_signals():
            follower.run(_pause(app))
    except KeyboardInterrupt:
        return


def _printer(as_json: bool) -> HandOver:
    def hand_over(message: Message) -> bool:
        if as_json:
            output.as_json_line(view.as_json(message))
        else:
            output.data(news.bounded_words(message))
        output.flush()
        return True

    return hand_over


def _runner(app: App, agent: AgentName, command: str) -> HandOver:
    def hand_over(message: Message) -> bool:
        ids = {"GHP_AGENT": agent, "GHP_MESSAGE": message.name, "GHP_REPLY_TO": ""}
        if message.about:
            ids["GHP_REPLY_TO"] = f"M-{message.about}"
        given = json.dumps(view.as_json(message)).encode() + b"\n"
        code = process.feed(command, given, cwd=app.cwd, env={**app.environ, **ids})
        if code != 0:
            output.warn(f"{message.name}: the command ended with {code}.")
        return code == 0

    return hand_over


def _give_up(message: Message, command: str | None) -> None:
    output.warn(
        f"{message.name} by {message.by} was not handed over: `{clean(command or '')}` failed "
        f"{TRIES} times.",
        f"It stays in the inbox: `ghp agent-inbox read {message.name}`. The next --follow tries it "
        "again.",
    )


def _pause(app: App) -> Callable[[float], None]:
    """Wait; raise BrokenPipeError if nobody reads what is printed any more."""
    reader = select.poll()
    reader.register(sys.stdout.fileno(), 0)  # errors are always reported

    def pause(seconds: float) -> None:
        if any(event & (select.POLLERR | select.POLLNVAL) for _, event in reader.poll(0)):
            raise BrokenPipeError
        app.ws.clock.wait(seconds)

    return pause
