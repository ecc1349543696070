"""An option that takes a list: `--label bug,docs`, `--label bug --label docs`, or both."""

from typing import Any

import click

HELP = " A list: with commas, or repeat it."


class ListOption(click.Option):
    """An option whose values are separated by commas, repeated, or both."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        settings |= {"help": f"{settings.get('help', '')}{HELP}", "multiple": True}
        super().__init__(*args, **settings)

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """The words of all values; each is checked by the option's type."""
        if isinstance(value, list | tuple):
            parts = [part.strip() for text in value for part in str(text).split(",")]
            value = tuple(filter(None, parts)) or value
        return super().type_cast_value(ctx, value)


def joined(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> str | None:
    """The words as one text, with commas; None without the option. A callback."""
    return ",".join(value) if value else None


def example(ctx: click.Context, *words: str) -> str:
    """How the list of the command's only such option that was used is written, with a word that
    was not taken; empty if that is not clear."""
    used = [param for param in ctx.command.params if isinstance(param, ListOption)
            and param.name and ctx.params.get(param.name)]  # fmt: skip
    if len(used) != 1:
        return ""
    value = ctx.params[used[0].name or ""]
    values = value.split(",") if isinstance(value, str) else [*map(str, value)]
    return f"`{max(used[0].opts, key=len)} {','.join([*values, *words])}`"
