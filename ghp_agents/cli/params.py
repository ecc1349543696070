"""Values of parameters that click does not read: durations, and text on standard input."""

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from ghp_agents.cli import output
from ghp_agents.cli.secret_gate import refuse_read
from ghp_agents.core import metadata
from ghp_agents.core.clock import FORMS, duration, moment
from ghp_agents.core.errors import UsageError

T = TypeVar("T")
STDIN = "-"
NUMBER_DIGITS = 20


class Duration(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A length of time, in seconds: 90s, 30m, 2h, 1d."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Seconds."""
        try:
            return duration(str(value))
        except ValueError:
            self.fail(f"{str(value)[:40]!r} is not a duration; use e.g. 90s, 30m, 2h or 1d.")


class Seconds(click.FloatRange):
    """A number of seconds that a clock can count."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Seconds; `nan` is rejected, as it compares with nothing and would never time out."""
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            self.fail(f"{str(value)[:40]!r} is not a number of seconds.", param, ctx)
        return seconds


def as_number(text: str, what: str, example: str) -> int:
    """The number in `12` or `#12`. Raises UsageError, which names `what` it should be."""
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdigit() and len(digits) < NUMBER_DIGITS):
        raise UsageError(f"{text[:40]!r} is not {what}.", hint=f"Example: `{example}`.")
    return int(digits)


def seconds_of(text: str, now: float) -> float:
    """A time that a person typed, in seconds since the epoch. Raises UsageError."""
    try:
        return moment(text, now)
    except (ValueError, OverflowError, OSError):  # the last two: too far for this machine's zone
        raise UsageError(f"{text[:40]!r} is not a time.", hint=f"Use {FORMS}.") from None


class MetadataJson(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A JSON object, or `@` and a file that has one."""

    name = "metadata"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> metadata.Metadata:
        """The object, checked."""
        text = str(value)
        return metadata.checked(_read_file(text[1:]) if text.startswith("@") else text)


def _read_file(name: str) -> str:
    try:
        with Path(name).open(encoding="utf-8") as file:
            return file.read(4 * metadata.LIMIT)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"Cannot read {name}: {why}.", hint="Check the path.") from None


METADATA = click.option(
    "--metadata", type=MetadataJson(), metavar="JSON",
    help="Fields for programs: a JSON object, or @FILE with one; {} for none.",
)  # fmt: skip
LIMIT = click.option(
    "-L", "--limit", type=click.IntRange(min=1), metavar="N", help="Print at most N."
)


def limited(items: Sequence[T], limit: int | None) -> list[T]:
    """The first `limit` of a list, with a line about the others."""
    if limit is not None and len(items) > limit:
        output.say(f"The first {limit} of {len(items)}; --limit shows more.")
    return list(items[:limit])


def read_text(text: str, most: int, what: str = "Standard input") -> str:
    """The text, or standard input for `-`, up to `most` bytes. Raises UsageError."""
    if text != STDIN:
        return text
    try:
        return refuse_read(what, sys.stdin.buffer.read(most).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{what} is not UTF-8 text (byte {error.start}).",
            hint="Convert it first, e.g. with `iconv -t UTF-8`.",
        ) from None
