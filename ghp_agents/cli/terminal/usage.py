"""Errors in a command line, in our words: what is wrong, and how it is right."""

import re

import click

from ghp_agents.cli import list_option
from ghp_agents.cli.terminal.closest import closest
from ghp_agents.core.ids import one_line

SHOWN = 60  # characters of what was typed
LIST_SHOWN = 200
WORDS = {
    "N": "the number of an issue",
    "ISSUE": "the number of an issue",
    "PR": "the number of a pull request",
    "AGENT": "the name of an agent",
    "NAME": "a name",
    "ID": "an id",
    "TEXT": "a text",
    "QUESTION": "a question",
    "TITLE": "a title",
    "QUERY": "a query",
    "DESCRIPTION": "a description",
    "WORKFLOW": "the name of a workflow",
    "TASK": "the name of a task",
    "FILE": "a file",
    "FOLDER": "a folder",
    "CLIENT": "the name of a client",
    "SHELL": "the name of a shell",
    "EVENT": "an event",
    "PATTERN": "a pattern",
}  # of arguments
NUMBERS = {"a valid integer range": "a whole number", "a valid float range": "a number"}
_EXTRA = re.compile(r"Got unexpected extra arguments? \((.*)\)", re.DOTALL)


def explain(error: click.ClickException) -> tuple[str, str]:
    """The error and the hint for an error that click raises."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    path = ctx.command_path if ctx else "ghp"
    hint = _meant(error) or _list(error) or _example(ctx)
    return _what(error, path), f"{hint} `{path} --help` lists all options.".lstrip()


def _what(error: click.ClickException, path: str) -> str:
    if isinstance(error, click.NoSuchOption):
        return f"`{path}` has no option {one_line(error.option_name, SHOWN)}."
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"`{path}` needs {_missing(error.param)}."
    if isinstance(error, click.BadOptionUsage) and "requires an argument" in error.message:
        return f"`{path}`: {error.option_name} needs a value."
    if isinstance(error, click.BadParameter) and error.param is not None:
        return f"Wrong value for {_name(error.param)}: {_sentence(error.message)}"
    extra = _EXTRA.match(error.message)
    if extra:
        return f"`{path}` does not take {one_line(extra[1], SHOWN)!r}."
    return _sentence(error.message)


def _list(error: click.ClickException) -> str:
    """How a list is written, if words follow one that was not written so."""
    extra, ctx = _EXTRA.match(error.message), getattr(error, "ctx", None)
    shown = list_option.example(ctx, *map(str.strip, extra[1].split(" "))) if extra and ctx else ""
    return f"A list has commas: {one_line(shown, LIST_SHOWN)}." if shown else ""


def _name(param: click.Parameter) -> str:
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return (param.metavar or (param.name or "").upper()).rstrip(".")


def _missing(param: click.Parameter) -> str:
    """What a missing parameter is, in words."""
    name = _name(param)
    if isinstance(param, click.Option):
        return name
    return " or ".join(WORDS.get(part, part) for part in name.split("|"))


def _sentence(message: str) -> str:
    text = message.strip().rstrip(".")
    for clicks, ours in NUMBERS.items():
        text = text.replace(clicks, ours)
    return one_line(text, 4 * SHOWN) + "."


def _meant(error: click.ClickException) -> str:
    """A question about what was mistyped, if something is similar to it."""
    alike: list[str] = []
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        params = error.ctx.command.get_params(error.ctx)
        options = [param for param in params if isinstance(param, click.Option)]
        names = [name for option in options for name in option.opts if name.startswith("--")]
        alike = closest(error.option_name, names)
    elif isinstance(error, click.BadParameter) and error.param is not None:
        typed = re.match(r"'([^']*)'", error.message)
        if typed and isinstance(error.param.type, click.Choice):
            alike = closest(typed[1], [str(choice) for choice in error.param.type.choices])
    return f"Did you mean {' or '.join(alike)}?" if alike else ""


def _example(ctx: click.Context | None) -> str:
    epilog = (ctx.command.epilog or "") if ctx else ""
    start, mark, example = epilog.partition("Example: ")
    return f"Example: `{example.splitlines()[0]}`." if mark and not start else ""
