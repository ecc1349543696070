"""`ghp-agents completion`: static completion scripts, made from the commands.

A script knows commands, options and choices, and starts no Python. Names that only a clone knows,
such as issues and agents, are completed by click's own scripts (docs/COMMANDS.md).
"""

import shlex
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import click

from ghp_agents.cli import json_choice, output
from ghp_agents.cli.aliases import PREFIX
from ghp_agents.cli.group import SHORT

PROGRAMS = ("ghp", "ghp-agents", SHORT)


class Value(NamedTuple):
    """What may stand for an argument, or for the value of an option."""

    words: tuple[str, ...] = ()
    files: bool = False


class Option(NamedTuple):
    """An option by all its names; `value` is None for a flag."""

    names: tuple[str, ...]
    help: str
    value: Value | None


class CommandNode(NamedTuple):
    """A command by its path, `("agent-issue", "new")`, and what may follow it."""

    path: tuple[str, ...]
    commands: tuple[tuple[str, str], ...]  # the commands below it, with their lines of help
    options: tuple[Option, ...]
    argument: Value


@click.command("completion", epilog="Example: ghp-agents completion bash >> ~/.bashrc")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a completion script for a shell: commands, options and choices, without a delay."""
    program = ctx.find_root().command
    root = click.Context(program, info_name=PROGRAMS[0], **program.context_settings)
    nodes = list(walk(root))
    scripts = {"bash": bash, "zsh": zsh, "fish": fish}
    output.data(scripts[shell](nodes))


def walk(ctx: click.Context, path: tuple[str, ...] = ()) -> Iterator[CommandNode]:
    """The command of a context and all commands below it."""
    command = ctx.command
    below: list[click.Context] = []
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            if inner is not None and not inner.hidden:
                below.append(click.Context(inner, parent=ctx, info_name=name))
    options, argument = [], Value()
    for param in command.get_params(ctx):
        if isinstance(param, click.Option) and not param.hidden:
            names = (*param.opts, *param.secondary_opts)
            is_optional = param.is_flag or param.count or json_choice.FLAG in names
            value = None if is_optional else _value(ctx, param)
            options.append(Option(names, _first_line(param.help), value))
        elif isinstance(param, click.Argument):
            own = _value(ctx, param)
            argument = Value(argument.words + own.words, argument.files or own.files)
    lines = tuple((child.info_name or "", child.command.get_short_help_str(60)) for child in below)
    yield CommandNode(path, lines, tuple(options), argument)
    for child in below:
        yield from walk(child, (*path, child.info_name or ""))


def _value(ctx: click.Context, param: click.Parameter) -> Value:
    items = param.shell_complete(ctx, "")
    words = tuple(item.value for item in items if item.type == "plain")
    return Value(words, any(item.type in ("file", "dir") for item in items))


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0].partition(". ")[0].rstrip(".")


_BASH = """\
# Completion for ghp-agents, made by `ghp-agents completion`. It starts no program.
_ghp_agents() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
  local i w at= skip= words= files=
  [[ $prev != "=" ]] || prev=${{COMP_WORDS[COMP_CWORD-2]}}
  [[ $cur != "=" ]] || cur=
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ $skip ]]; then skip=; continue; fi
    w=${{COMP_WORDS[i]}}
    [[ $at || ${{COMP_WORDS[0]##*/}} == ghp || $w == -* || $w == {prefix}* ]] || w={prefix}$w
    case "$at $w" in
      {paths}) at="$at $w" ;;
      {takers}) skip=1 ;;
    esac
  done
  COMPREPLY=()
  case "$at $prev" in
{values}
    *)
      case "$at" in
{nodes}
      esac ;;
  esac
  [[ $at || ${{COMP_WORDS[0]##*/}} != {short} ]] || words=${{words//{prefix}/}}
  [[ -z $words ]] || COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ $files && $cur != -* ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$cur"))
  fi
}}
complete -F _ghp_agents {programs}
"""


def bash(nodes: Iterable[CommandNode]) -> str:
    """The script for bash."""
    paths, takers, values, cases = [], [], [], []
    for node in nodes:
        at = "".join(f" {name}" for name in node.path)
        if at:
            paths.append(shlex.quote(at))
        for option in node.options:
            if option.value is not None:
                names = "|".join(shlex.quote(f"{at} {name}") for name in option.names)
                takers.append(names)
                values.append(f"    {names}) {_offer(option.value)} ;;")
        options = " ".join(name for option in node.options for name in option.names)
        first = Value((*(name for name, _ in node.commands), *node.argument.words))
        follow = _offer(first._replace(files=node.argument.files))
        case = f'if [[ $cur == -* ]]; then words="{options}"; else {follow}; fi'
        cases.append(f"        {shlex.quote(at)}) {case} ;;")
    return _BASH.format(
        paths="|".join(paths), takers="|".join(takers), values="\n".join(values),
        nodes="\n".join(cases), programs=" ".join(PROGRAMS), prefix=PREFIX, short=SHORT,
    ).rstrip("\n")  # fmt: skip


def _offer(value: Value) -> str:
    return f'words="{" ".join(value.words)}" files={"1" if value.files else ""}'


_BRIDGE = """\
(( $+functions[compdef] )) || { autoload -U compinit && compinit; }
autoload -U +X bashcompinit && bashcompinit
"""


def zsh(nodes: Iterable[CommandNode]) -> str:
    """The script for zsh: that of bash, through zsh's own bridge."""
    return f"{_BRIDGE}{bash(nodes)}"


def fish(nodes: Iterable[CommandNode]) -> str:
    """The script for fish."""
    first, other, short = PROGRAMS
    lines = ["# Completion for ghp-agents, made by `ghp-agents completion`. It starts no program."]
    commands = list(nodes)
    for program, prefix in ((first, ""), (short, PREFIX)):
        for node in commands:
            rules = _fish_rules(node, prefix)
            lines += [f"complete -c {program} {rule}" for rule in rules]
    return "\n".join([*lines, f"complete -c {other} -w {first}"])


def _fish_rules(node: CommandNode, prefix: str) -> list[str]:
    """The rules for a command, whose name is typed without `prefix`."""
    path = [name.removeprefix(prefix) for name in node.path]
    below = [(name.removeprefix(prefix), text) for name, text in node.commands]
    conditions = [f"__fish_seen_subcommand_from {name}" for name in path]
    if below:
        conditions.append(f"not __fish_seen_subcommand_from {' '.join(name for name, _ in below)}")
    where = shlex.quote(" && ".join(conditions if path else ["__fish_use_subcommand"]))
    rules = [f"-a {name} -d {shlex.quote(text)}" for name, text in below]
    if path:
        rules.append(_fish_value(node.argument))
    for option in node.options:
        flags = " ".join(_fish_name(name) for name in option.names)
        value = "" if option.value is None else f" -r {_fish_value(option.value)}"
        rules.append(f"{flags} -d {shlex.quote(option.help)}{value}")
    return [f"-n {where} {rule}" for rule in rules]


def _fish_name(name: str) -> str:
    return f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"


def _fish_value(value: Value) -> str:
    words = f" -a {shlex.quote(' '.join(value.words))}" if value.words else ""
    return ("-F" if value.files else "-f") + words
