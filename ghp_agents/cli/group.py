"""A group of commands that helps whoever mistypes one."""

import difflib

import click

from ghp_agents.errors import UsageError
from ghp_agents.model.names import one_line

ALIKE = 60  # characters that are compared; the names of commands are shorter


class Group(click.Group):
    """click's group; an unknown command is told the ones that look like it."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that `args` begin with. Raises UsageError."""
        word = args[0]
        if word.startswith("-") or self.get_command(ctx, word) is not None:
            return super().resolve_command(ctx, args)
        alike = difflib.get_close_matches(word[:ALIKE], self.list_commands(ctx), n=2, cutoff=0.8)
        path = ctx.command_path
        meant = " or ".join(f"`{path} {name}`" for name in alike)
        raise UsageError(
            f"{path} has no command {one_line(word, ALIKE)!r}.",
            hint=(f"Did you mean {meant}? " if alike else "") + f"`{path} --help` lists them all.",
        )
