"""A figure: one thing that was measured, its bound if it has one, and whether it holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured, in `unit`; `bound` is what not to exceed, or with `at_least` to reach."""

    row: str  # the module of bench/ that measured it
    name: str
    measured: float
    unit: str
    bound: float | None = None
    at_least: bool = False
    note: str = ""  # for people: the times or counts behind a ratio
    detail: Mapping[str, Any] = field(default_factory=dict)  # what it was computed from

    @property
    def holds(self) -> bool:
        """Whether the bound is kept; a figure without one always is."""
        if self.bound is None:
            return True
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound

    @property
    def verdict(self) -> str:
        """For people: ok, NOT OK, or nothing where there is no bound."""
        if self.bound is None:
            return ""
        return "ok" if self.holds else "NOT OK"

    def as_json(self) -> dict[str, Any]:
        """The figure as the results file has it."""
        return {
            "row": self.row,
            "name": self.name,
            "measured": round(self.measured, 4),
            "unit": self.unit,
            "bound": self.bound,
            "atLeast": self.at_least,
            "holds": self.holds,
            "note": self.note,
            "detail": dict(self.detail),
        }


def count(number: float) -> str:
    """A number as people read it: three digits that say something."""
    if number == int(number) or abs(number) >= 100:
        return f"{number:,.0f}"
    whole = len(str(int(abs(number)))) if abs(number) >= 1 else 0
    return f"{number:.{3 - whole}f}"


def milliseconds(seconds: float) -> float:
    """Seconds as milliseconds, rounded to what can be trusted."""
    return round(seconds * 1000, 2)
