"""Man pages, made from the commands: `ghp-agents.1` for the whole, and one for each command.

The build of a wheel calls it (`tools/build_hooks.py`). `python -m tools.man_pages FOLDER VERSION`
writes the pages to a folder.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ghp_agents.cli.app import COMMANDS, app
from ghp_agents.core.errors import ExitCode

WHOLE = "ghp-agents"
EXITS = {
    ExitCode.DONE: "Done.",
    ExitCode.ERROR: "An error. It says what happened, why, and what to do next.",
    ExitCode.USAGE: "The arguments are wrong. Nothing was done.",
    ExitCode.REFUSED: "Refused: held by another, or needs approval.",
    ExitCode.UNKNOWN: "Unknown: the answer depends on a remote that cannot be reached.",
    ExitCode.NOT_SET_UP: "Not set up: no repository, no name, or no configuration.",
}


def pages(version: str) -> dict[str, str]:
    """The text of each page, by its file name."""
    program = click.Context(app, info_name="ghp", **app.context_settings)
    found = {f"{WHOLE}.1": _page(version, WHOLE, _whole(program))}
    for name, row in COMMANDS.items():
        command = app.get_command(program, name)
        assert command is not None
        lines = [*_title(f"ghp-{name}", row.line), *_command(click.Context(command, program, name))]
        found[f"ghp-{name}.1"] = _page(version, f"ghp-{name}", [*lines, *_see_also()])
    return found


def _page(version: str, title: str, lines: list[str]) -> str:
    heading = f'.TH {title.upper()} 1 "" "ghp-agents {version}" "ghp-agents"'
    return "\n".join([heading.replace("-", r"\-"), *lines, ""])


def _title(name: str, line: str) -> list[str]:
    return [".SH NAME", rf"{_text(name)} \- {_text(line.rstrip('.'))}"]


def _whole(program: click.Context) -> list[str]:
    lines = _title(WHOLE, (app.help or "").strip())
    lines += [".SH SYNOPSIS", r".B ghp agent\-\fICOMMAND\fP [\fIOPTIONS\fP]", ".br"]
    lines += [r".B ghp\-agents agent\-\fICOMMAND\fP [\fIOPTIONS\fP]", ".br"]
    lines += [r".B ghpa \fICOMMAND\fP [\fIOPTIONS\fP]", ".SH OPTIONS", *_options(program)]
    lines.append(".SH COMMANDS")
    for name, row in COMMANDS.items():
        lines += [".TP", rf".BR ghp\-{_text(name)} (1)", _text(row.line)]
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXITS.items():
        lines += [".TP", f".B {int(code)}", _text(meaning)]
    return lines


def _see_also() -> list[str]:
    return [".SH SEE ALSO", rf".BR {_text(WHOLE)} (1)"]


def _command(ctx: click.Context) -> Iterator[str]:
    """Synopsis, description, options and example of a command, and of the commands below it."""
    yield from (".SH SYNOPSIS", *_usage(ctx), ".SH DESCRIPTION", *_paragraphs(ctx.command.help))
    yield from (".SH OPTIONS", *_options(ctx))
    if isinstance(ctx.command, click.Group):
        yield ".SH COMMANDS"
        for name, inner in sorted(ctx.command.commands.items()):
            below = click.Context(inner, ctx, name)
            yield f".SS {_text(name)}"
            yield from (*_usage(below), ".PP", *_paragraphs(inner.help), *_options(below))
            yield from (".PP", *_paragraphs(inner.epilog))
    example = (ctx.command.epilog or "").removeprefix("Example: ")
    if example:
        yield from (".SH EXAMPLES", ".EX", *map(_text, example.splitlines()), ".EE")


def _usage(ctx: click.Context) -> list[str]:
    words = " ".join(ctx.command.collect_usage_pieces(ctx))
    return [f".B {_text(ctx.command_path)}", _text(words)]


def _paragraphs(text: str | None) -> list[str]:
    """A docstring's paragraphs; click's mark keeps the lines of one as they are."""
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", (text or "").strip()):
        kept = paragraph.startswith("\b")
        own = [_text(line.strip()) for line in paragraph.lstrip("\b\n").splitlines()]
        lines += [".PP"] if lines else []
        lines += [".EX", *own, ".EE"] if kept else own
    return lines


def _options(ctx: click.Context) -> Iterator[str]:
    for param in ctx.command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is not None and record[1]:
            yield from (".TP", f".B {_text(record[0])}", _text(record[1]))


def _text(text: str) -> str:
    """Text as roff takes it literally, on one line."""
    line = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-")
    return f"\\&{line}" if line.startswith((".", "'")) else line


if __name__ == "__main__":
    for file, content in pages(sys.argv[2]).items():
        Path(sys.argv[1], file).write_text(content, encoding="utf-8")
