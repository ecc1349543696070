"""`agent-inbox --follow`: print or hand over each message as it comes."""

import json
import select
import sys
from collections.abc import Callable, Mapping
from typing import Any

from ghp_agents.cli import output
from ghp_agents.cli.terminal import signals
from ghp_agents.cli.views import message as view
from ghp_agents.core import process
from ghp_agents.core.ids import AgentName
from ghp_agents.hotpath.quoting import clean
from ghp_agents.messages import news
from ghp_agents.messages.follow import TRIES, Follower, HandOver, Item
from ghp_agents.messages.message import Message
from ghp_agents.messages.undelivered import InboxNotice
from ghp_agents.wiring import App


def follow(app: App, command: str | None, timeout: float, *, as_json: bool) -> None:
    """Print each message, or run `command` with it for at most `timeout` seconds, until a signal or
    a closed pipe ends this.

    Raises RefusedError if another process follows this inbox.
    """
    agent = app.ws.agent()
    hand_over = _printer(as_json) if command is None else _runner(app, agent, command, timeout)
    follower = Follower(app, agent, hand_over, lambda item: _give_up(item, command))
    try:
        with signals.exit_on_signals():
            follower.run(_pause(app))
    except KeyboardInterrupt:
        return


def _printer(as_json: bool) -> HandOver:
    def hand_over(item: Item) -> bool:
        if as_json:
            output.as_json_line(_fields(item))
        else:
            output.data(item.text if isinstance(item, InboxNotice) else news.bounded_words(item))
        output.flush()
        return True

    return hand_over


def _fields(item: Item) -> Mapping[str, Any]:
    if isinstance(item, InboxNotice):
        return {"id": item.about, "kind": item.kind, "text": item.text}
    return view.as_json(item)


def _name(item: Item) -> str:
    return item.about if isinstance(item, InboxNotice) else item.name


def _runner(app: App, agent: AgentName, command: str, timeout: float) -> HandOver:
    def hand_over(item: Item) -> bool:
        name = _name(item)
        ids = {"GHP_AGENT": agent, "GHP_MESSAGE": name, "GHP_REPLY_TO": ""}
        if isinstance(item, Message) and item.about:
            ids["GHP_REPLY_TO"] = f"M-{item.about}"
        given = json.dumps(_fields(item)).encode() + b"\n"
        env = {**app.environ, **ids}
        code = process.feed(command, given, cwd=app.cwd, env=env, timeout=timeout)
        if code is None:
            output.warn(
                f"{name}: the command was ended after {timeout:g} s; "
                "the message counts as delivered.",
                f"`ghp agent-inbox read {name}` shows it. Longer: --exec-timeout.",
            )
        elif code != 0:
            output.warn(f"{name}: the command ended with {code}.")
        return code in (0, None)

    return hand_over


def _give_up(item: Item, command: str | None) -> None:
    name = _name(item)
    by = "" if isinstance(item, InboxNotice) else f" by {item.by}"
    output.warn(
        f"{name}{by} was not handed over: `{clean(command or '')}` failed {TRIES} times.",
        f"It stays in the inbox: `ghp agent-inbox read {name}`. The next --follow tries it again.",
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
