"""Parameter types for durations, which click does not have."""

import math
from typing import Any

import click

from ghp_agents.core.clock import duration


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
