"""A finding of the doctor: what is the case, how severe it is, and what to do."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """The severity of a finding. Only an error makes the doctor's exit code 1."""

    OK = "ok"
    INFO = "info"  # worth knowing; nothing needs to be done
    WARNING = "warning"  # works, but not as intended
    ERROR = "error"  # does not work until someone acts


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of the doctor. Scripts rely on `code`."""

    level: Level
    code: str  # what was checked; scripts and `--fix` rely on it
    text: str
    remedy: str = ""
    fixable: bool = False  # `agent-doctor --fix` can fix it
    fixed: bool = False  # `--fix` fixed it


Check = Callable[[], Iterable[Finding]]
Repair = Callable[[], object]


def ok(code: str, text: str) -> Finding:
    """No problem."""
    return Finding(Level.OK, code, text)


def info(code: str, text: str, remedy: str = "", *, fixable: bool = False) -> Finding:
    """Worth knowing."""
    return Finding(Level.INFO, code, text, remedy, fixable)


def warning(code: str, text: str, remedy: str, *, fixable: bool = False) -> Finding:
    """It works, but not as intended."""
    return Finding(Level.WARNING, code, text, remedy, fixable)


def error(code: str, text: str, remedy: str, *, fixable: bool = False) -> Finding:
    """It does not work."""
    return Finding(Level.ERROR, code, text, remedy, fixable)
