"""A click group that suggests commands for a mistyped one."""

import difflib
from collections.abc import Sequence

import click

from ghp_agents.cli import complete, json_choice
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import one_line

ALIKE = 60  # characters that are compared; command names are shorter
SHORT = 4
MARGIN = 0.1  # below the best ratio; worse matches are not suggested
# The arguments of other commands, such as upstream's, are completed as files.
_ANY = click.Argument(["words"], nargs=-1, shell_complete=complete.files)
ELSEWHERE = click.Command("elsewhere", params=[_ANY], add_help_option=False)


def closest(word: str, names: Sequence[str]) -> list[str]:
    """The `names` that are most similar to `word`."""
    cutoff = 0.8 if len(word) > SHORT else 0.6  # a swap of two letters is much of a short word
    prefix = word[:ALIKE]
    matches = difflib.get_close_matches(prefix, names, n=2, cutoff=cutoff)
    ratios = [difflib.SequenceMatcher(None, name, prefix).ratio() for name in matches]
    return [name for name, ratio in zip(matches, ratios, strict=True) if ratio > ratios[0] - MARGIN]


class Group(click.Group):
    """click's group; for an unknown command it suggests similar ones."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that `args` begin with. Raises UsageError."""
        word = args[0]
        command = None if word.startswith("-") else self.get_command(ctx, word)
        if command is not None:
            path = f"{ctx.command_path} {word}".partition(" ")[2]
            return word, command, json_choice.spelled(command, path, args[1:])
        if word.startswith("-"):
            return super().resolve_command(ctx, args)
        if ctx.resilient_parsing:  # shell completion
            return word, ELSEWHERE, args[1:]
        alike = closest(word, self.list_commands(ctx))
        path = ctx.command_path
        meant = " or ".join(f"`{path} {name}`" for name in alike)
        raise UsageError(
            f"{path} has no command {one_line(word, ALIKE)!r}.",
            hint=(f"Did you mean {meant}? " if alike else "") + f"`{path} --help` lists them all.",
        )
