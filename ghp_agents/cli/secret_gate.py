"""The one door for what people and agents type: no text with a secret gets into a command.

It looks at the values of every parameter of every command, so a new option needs no call. What a
command reads from a file or standard input passes `refuse_read`; what is not typed, such as a
branch's name, is removed where records are written (`state/without_secrets.py`).
"""

from collections.abc import Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click

from ghp_agents.core.errors import UsageError

SHORTEST = 8  # characters; no shorter text holds a secret
# These must not fail: a heartbeat, a hook's event, a handoff, an order to stop. They remove the
# secret and continue.
REMOVING = ("agent-heartbeat", "agent-event", "agent-handoff", "agent-stop")


def add(command: click.Command) -> None:
    """Let a command look for secrets in its values before it runs. Repeating it changes nothing."""
    run = command.callback
    if run is None or hasattr(run, "looks_for_secrets"):
        return

    @wraps(run)
    def checked(*args: Any, **values: Any) -> Any:
        context = click.get_current_context()
        if not _removes(context):
            refuse(context.command, context.params)
        return run(*args, **values)

    checked.looks_for_secrets = True  # type: ignore[attr-defined]
    command.callback = checked


def _removes(context: click.Context | None) -> bool:
    words = context.command_path.split() if context else []
    return any(f"agent-{word.removeprefix('agent-')}" in REMOVING for word in words)


def refuse(command: click.Command, values: Mapping[str, Any]) -> None:
    """Raise UsageError, which names the option or argument, if one of the values seems to hold a
    secret."""
    for parameter in command.params:
        for text in _texts(values.get(parameter.name or "")):
            _refuse(_shown(parameter), text)


def refuse_read(what: str, text: str) -> str:
    """A text that was read from a file or standard input. Raises UsageError."""
    if not _removes(click.get_current_context(silent=True)):
        _refuse(what, text)
    return text


def _refuse(what: str, text: str) -> None:
    if len(text) < SHORTEST:
        return
    from ghp_agents.core.secret_scan import find  # slow to load, and most commands have no text

    kind = find(text)
    if kind:
        raise UsageError(
            f"{what} seems to contain {kind}. What commands store is shared, and cannot be "
            "withdrawn.",
            hint="Remove it, and say where it is stored instead. Nothing was saved.",
        )


def _shown(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option):
        return f"The option {max(parameter.opts, key=len)}"
    name = parameter.metavar or str(parameter.name).upper()
    return f"The argument {name}"


def _texts(value: Any) -> Iterator[str]:
    """The texts in a parameter's value: words, paths, and lists of them."""
    if isinstance(value, str | Path):
        yield str(value)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)
