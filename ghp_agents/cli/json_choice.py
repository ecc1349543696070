"""`--json [FIELDS]` and `--jq EXPR` of all commands: which part of the JSON is printed."""

import json
from collections.abc import Callable, Iterator, Sequence
from types import UnionType
from typing import (
    Any,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    is_typeddict,
)

import click

from ghp_agents.cli.aliases import PREFIX
from ghp_agents.core.declared import is_record, members
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.ids import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., Any])
FLAG, QUERY = "--json", "--jq"
SHOWN = 200  # characters of a message of jq
_KEY = "ghp_agents.json"  # in a context's `meta`


class JsonChoice(NamedTuple):
    """What was asked for: no `fields` means all, no `query` means JSON."""

    fields: tuple[str, ...] = ()
    query: Any = None  # a compiled program of jq


def option(help: str, name: str = "as_json") -> Callable[[Command], Command]:
    """Add `--json [FIELDS]` and `--jq EXPR`. The command gets whether it prints JSON."""
    fields = click.option(
        FLAG, name, metavar="[FIELDS]", callback=_choose_fields, shell_complete=_complete,
        help=f"{help} FIELDS: only these, e.g. {FLAG} a,b.",
    )  # fmt: skip
    query = click.option(
        QUERY, metavar="EXPR", expose_value=False, is_eager=True, callback=_choose_query,
        help="Filter the JSON with a jq expression.",
    )  # fmt: skip
    return lambda command: fields(query(command))


def current() -> JsonChoice:
    """The choice of the command that runs."""
    ctx = click.get_current_context(silent=True)
    choice = ctx.meta.get(_KEY) if ctx else None
    return choice if isinstance(choice, JsonChoice) else JsonChoice()


def _choose_query(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None and not ctx.resilient_parsing:
        ctx.meta[_KEY] = JsonChoice(query=_compile(value))


def _choose_fields(ctx: click.Context, _: click.Parameter, value: str | None) -> bool:
    words = tuple(word.strip() for word in (value or "").split(",") if word.strip())
    fields = fields_of(ctx.command_path) if words else []
    for word in words:
        if word not in fields:
            raise UsageError(
                f"`{ctx.command_path}` has no JSON field {one_line(word, SHOWN)!r}.",
                hint=f"Fields: {', '.join(fields)}.",
            )
    query = current().query
    ctx.meta[_KEY] = JsonChoice(words, query)
    return value is not None or query is not None


def _complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    before, comma, begun = incomplete.rpartition(",")
    fields = fields_of(ctx.command_path)
    from click.shell_completion import CompletionItem

    return [CompletionItem(f"{before}{comma}{name}") for name in fields if name.startswith(begun)]


def fields_of(path: str) -> list[str]:
    """The names of the fields that the JSON of a command (`ghp agent-issue show`) can have."""
    from ghp_agents.cli.outputs.table import CHOSEN_FROM, OUTPUTS  # many types, rarely needed

    name = f"{PREFIX}{path.partition(' ')[2].removeprefix(PREFIX)}"
    shapes = _objects(CHOSEN_FROM.get(name) or OUTPUTS.get(name))
    return list(dict.fromkeys(name for shape in shapes for name, _, _ in members(shape)))


def _objects(shape: Any) -> Iterator[Any]:
    if is_typeddict(shape) or is_record(shape):
        yield shape
    elif get_origin(shape) in (Union, UnionType, list):
        for part in get_args(shape):
            yield from _objects(part)


def spelled(command: click.Command, path: str, args: Sequence[str]) -> list[str]:
    """The arguments with `--json=FIELDS` for `--json FIELDS`, and `--json=` for `--json` alone.

    The next word is FIELDS if the command takes no arguments. If it takes some, the word must name
    a field; if it takes any number of them, only `--json=FIELDS` has fields.
    """
    if not any(FLAG in param.opts for param in command.params):
        return [*args]
    words, rest = list[str](), [*args]
    takers = {
        name
        for param in command.params
        if isinstance(param, click.Option) and not param.is_flag and not param.count
        for name in param.opts
    } - {FLAG}
    while rest:
        word = rest.pop(0)
        if word == FLAG:
            fields = rest.pop(0) if rest and _is_fields(command, path, rest[0]) else ""
            words.append(f"{FLAG}={fields}")
            continue
        words.append(word)
        if word == "--":
            return [*words, *rest]
        if word in takers and rest:
            words.append(rest.pop(0))
    return words


def _is_fields(command: click.Command, path: str, word: str) -> bool:
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    if not word or word.startswith("-") or any(argument.nargs < 0 for argument in arguments):
        return False
    return not arguments or not {*word.split(",")}.isdisjoint(fields_of(path))


def _compile(query: str) -> Any:
    try:
        import jq
    except ImportError:
        from ghp_agents.core.extras import how_to_install

        raise UsageError(
            f"{QUERY} needs the Python package jq, which is not installed.",
            hint=f"Use the program: `… --json | jq EXPR`. Or install the package: "
            f"{how_to_install('jq')}",
        ) from None
    try:
        return jq.compile(query)
    except ValueError as error:
        raise UsageError(
            f"{QUERY}: {_reason(error)}.",
            hint=f"Example: {QUERY} '.[].title'.",
        ) from None


def chosen(value: Any, rows: Sequence[Any] | None, fields: Sequence[str]) -> Any:
    """Only these fields of an object, or of each in a list.

    `rows` is the list that fields are chosen from, where it is not `value` itself.
    """
    if not fields:
        return value
    whole = value if rows is None else rows
    if isinstance(whole, dict):
        return {name: whole.get(name) for name in fields}
    return [{name: row.get(name) for name in fields} for row in whole]


def answers(value: Any, query: Any) -> Iterator[str]:
    """What a program of jq makes of a value: text as it is, all else as JSON, null as nothing.

    Raises GhpError if it fails on this value.
    """
    try:
        for answer in query.input_text(json.dumps(value)):
            if isinstance(answer, str):
                yield answer
            else:
                yield "" if answer is None else json.dumps(answer, ensure_ascii=False)
    except ValueError as error:
        raise GhpError(
            f"{QUERY}: {_reason(error)}.", hint="See the JSON without it: `--json`."
        ) from None


def _reason(error: ValueError) -> str:
    """The first line of jq's message; the others draw the place."""
    line = str(error).partition("\n")[0].removeprefix("jq: error: ")
    return one_line(line.rstrip(": "), SHOWN)
