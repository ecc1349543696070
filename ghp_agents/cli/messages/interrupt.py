"""`agent-send AGENT '@interrupt WHY'`: the same as `agent-stop AGENT --keep --reason WHY`."""

from collections.abc import Sequence

from ghp_agents.cli import output
from ghp_agents.cli.context import send
from ghp_agents.core.errors import UsageError
from ghp_agents.messages import address
from ghp_agents.wiring import App

WORD = "@interrupt"


def is_meant(subject: str) -> bool:
    """Whether a message is an interrupt."""
    return subject.split(maxsplit=1)[:1] == [WORD]


def run(app: App, to: Sequence[str], subject: str, *, as_json: bool) -> None:
    """Interrupt agents. Raises UsageError for a group; GhpError for the first agent that cannot be
    interrupted."""
    from ghp_agents.cli import stop
    from ghp_agents.handoffs import stop_agent

    names = address.checked_all(to)
    if not names or any(map(address.is_group, names)):
        raise UsageError(
            f"{WORD} is for agents that you name.",
            hint=f"Example: `ghp agent-send worker-2 '{WORD} Wrong approach'`.",
        )
    why = subject.partition(WORD)[2].strip()
    for name in names:
        stopped = stop_agent.stop(app, name, why, keep=True)
        if as_json:
            output.as_json_line(stop.fields(stopped))
        stop.say(stopped)
    output.say(f"`ghp agent-stop {names[0]} --undo` lets it continue.")
    output.flush()
    send(app)
