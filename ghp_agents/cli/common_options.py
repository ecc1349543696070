"""Options of all commands, before or after the command's name: `-C`, `-q`, `-v`, `--no-pager`."""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from ghp_agents.cli import complete, output
from ghp_agents.core import trace
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import one_line

SHOWN = 300  # characters of a line of -v
TAKERS = ("-C",)


def _enter(ctx: click.Context, _: click.Parameter, folders: Sequence[str]) -> None:
    for folder in filter(None, folders):  # as git: an empty name changes nothing
        try:
            os.chdir(folder)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not a file name"
            raise UsageError(
                f"Cannot change to {one_line(folder, SHOWN)}: {reason}.",
                hint="Give -C a folder that exists.",
            ) from None
        app = ctx.find_root().obj
        if app is not None:
            app.cwd = Path.cwd()


def _be_quiet(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[output.QUIET] = True


def _be_verbose(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and output.VERBOSE not in ctx.meta:
        ctx.meta[output.VERBOSE] = True
        ctx.find_root().with_resource(trace.listening(_tell_step))


def _tell_step(line: str) -> None:
    output.step(one_line(line, SHOWN))


def _print_directly(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[output.NO_PAGER] = True


def options(*, hidden: bool) -> list[click.Option]:
    """The options; a command's own copies are hidden, because the program's help lists them."""
    shared = {"expose_value": False, "is_eager": True, "hidden": hidden}
    return [
        click.Option(
            ["-C", "work_folder"], metavar="FOLDER", multiple=True, callback=_enter,
            shell_complete=complete.folders,
            help="Run as if started in FOLDER. These four options may also follow the command.",
            **shared,
        ),
        click.Option(
            ["-q", "--quiet", "be_quiet"], is_flag=True, callback=_be_quiet,
            help="Print only data and errors.", **shared,
        ),
        click.Option(
            ["-v", "--verbose", "be_verbose"], is_flag=True, callback=_be_verbose,
            help="Print the git commands and HTTP requests that are run.", **shared,
        ),
        click.Option(
            ["--no-pager", "without_pager"], is_flag=True, callback=_print_directly,
            help="Print long output without a pager.", **shared,
        ),
    ]  # fmt: skip


HIDDEN = options(hidden=True)


def add(command: click.Command) -> None:
    """Let a command take the options, too. Repeating it changes nothing."""
    if HIDDEN[0] not in command.params:
        command.params.extend(HIDDEN)


def first_word(argv: Sequence[str]) -> str:
    """The command's name in the arguments of the program; empty if there is none."""
    words = iter(argv)
    for word in words:
        if word in TAKERS:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""
