"""A click group that knows aliases, and suggests commands for a mistyped one."""

from collections.abc import Sequence
from typing import Any

import click

from ghp_agents.cli import aliases, common_options, complete, json_choice, secret_gate
from ghp_agents.cli.terminal.closest import ALIKE, closest
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import one_line

# The arguments of other commands, such as upstream's, are completed as files.
_ANY = click.Argument(["words"], nargs=-1, shell_complete=complete.files)
SHOWS = ("show", "read")  # commands that print one object
NAMED = ("agent-workflows",)  # groups whose objects have any name
SHORT = "ghpa"  # the program whose commands have no `agent-`
ELSEWHERE = click.Command("elsewhere", params=[_ANY], add_help_option=False)


class Group(click.Group):
    """click's group; for an unknown command it suggests similar ones."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that `args` begin with. Raises UsageError."""
        word = args[0]
        if word.startswith("-"):
            return super().resolve_command(ctx, args)
        command = self.get_command(ctx, word)
        if command is None and (shows := self._shows(ctx, word)):
            args, word = [shows, *args], shows
            command = self.get_command(ctx, word)
        if command is not None:
            common_options.add(command)
            secret_gate.add(command)
            path = f"{ctx.command_path} {word}"
            return word, command, json_choice.spelled(command, path, args[1:])
        if ctx.resilient_parsing:  # shell completion
            return word, ELSEWHERE, args[1:]
        path = ctx.command_path
        meant = " or ".join(f"`{path} {name}`" for name in self.alike(ctx, word))
        raise UsageError(
            f"{path} has no command {one_line(word, ALIKE)!r}.",
            hint=(f"Did you mean {meant}? " if meant else "") + f"`{path} --help` lists them all.",
        )

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; click's error about a missing value does not say of which."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            name = ctx.invoked_subcommand
            command = self.get_command(ctx, name) if name and error.ctx is None else None
            if command is not None:
                error.ctx = click.Context(command, parent=ctx, info_name=name)
            raise

    def _shows(self, ctx: click.Context, word: str) -> str:
        """The command that shows the object that `word` names, or nothing: `agent-issue 5` is
        `agent-issue show 5`. Numbers, ids and names of jobs have a digit; no command has one."""
        named = any(mark.isdigit() for mark in word) or (
            self.name in NAMED and not self.alike(ctx, word)
        )
        return next((name for name in SHOWS if named and self.get_command(ctx, name)), "")

    def alike(self, ctx: click.Context, word: str) -> Sequence[str]:
        """The commands that an unknown one may mean."""
        names = self.list_commands(ctx)
        suggested = aliases.suggested_below(self.name or "", word)
        return [name for name in suggested if name in names] or closest(word, names)


class Program(Group):
    """The group of all commands. Where the program is not `ghp`, whose other words belong to
    upstream, they can be typed without `agent-`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`help X` is `X --help`."""
        if args[:1] and args[0] in aliases.HELP and not ctx.resilient_parsing:
            names = [self._full(ctx, word) for word in args[1:2]]
            args = [*names, *args[2:], "--help"]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that `args` begin with, or an alias of it. Raises UsageError."""
        word = args[0] if ctx.info_name == "ghp" else self._full(ctx, args[0])
        name, command, rest = super().resolve_command(ctx, aliases.canonical([word, *args[1:]]))
        return name and self.shown(ctx, name), command, rest

    def _full(self, ctx: click.Context, word: str) -> str:
        """The name of a command that was typed without `agent-`."""
        full = f"{aliases.PREFIX}{word}"
        return full if self.get_command(ctx, full) or (full,) in aliases.ALIASES else word

    def shown(self, ctx: click.Context, name: str) -> str:
        """The name of a command as this program's help has it."""
        return name.removeprefix(aliases.PREFIX) if ctx.info_name == SHORT else name

    def alike(self, ctx: click.Context, word: str) -> Sequence[str]:
        """The commands that do what the word says, or whose names are similar."""
        bare = [name.removeprefix(aliases.PREFIX) for name in self.list_commands(ctx)]
        similar = closest(word.removeprefix(aliases.PREFIX), bare)
        suggested = aliases.suggested(word) or [f"{aliases.PREFIX}{name}" for name in similar]
        return [self.shown(ctx, name) for name in suggested]
