"""A finding of the doctor: what is so, how bad it is, and what to do about it."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    """How bad a finding is. Only an error makes the doctor's exit code 1."""

    OK = "ok"
    INFO = "info"  # worth knowing; nothing needs to be done
    WARNING = "warning"  # works, but not as it should
    ERROR = "error"  # does not work until somebody does something


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's report."""

    level: Level
    code: str  # what was looked at; scripts and `--fix` go by it
    text: str
    remedy: str = ""
    fixable: bool = False  # `agent-doctor --fix` does it
    fixed: bool = False  # it was there, and `--fix` took it away


Check = Callable[[], Iterable[Finding]]
Repair = Callable[[], object]


def ok(code: str, text: str) -> Finding:
    """All is well."""
    return Finding(Level.OK, code, text)


def info(code: str, text: str, remedy: str = "", *, fixable: bool = False) -> Finding:
    """Worth knowing."""
    return Finding(Level.INFO, code, text, remedy, fixable)


def warning(code: str, text: str, remedy: str, *, fixable: bool = False) -> Finding:
    """It works, but not as it should."""
    return Finding(Level.WARNING, code, text, remedy, fixable)


def error(code: str, text: str, remedy: str, *, fixable: bool = False) -> Finding:
    """It does not work."""
    return Finding(Level.ERROR, code, text, remedy, fixable)


def as_json(finding: Finding) -> dict[str, Any]:
    """A finding for scripts."""
    return asdict(finding) | {"level": finding.level.value}
