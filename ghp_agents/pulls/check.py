"""A check: a configured command that must succeed, and its result."""

from collections.abc import Iterable
from typing import NamedTuple

from ghp_agents.core.ids import one_line
from ghp_agents.hotpath.quoting import cut, fence

SHOWN = 60  # characters of a command
LAST_LINES = 30


class Check(NamedTuple):
    """One command and its output; secrets are already removed."""

    command: str
    code: int
    output: str = ""
    timed_out: bool = False
    seconds: float = 0.0
    before: bool = False  # it ran earlier, on the same tree

    @property
    def passed(self) -> bool:
        """Whether it succeeded."""
        return self.code == 0 and not self.timed_out

    @property
    def verdict(self) -> str:
        """The result in words."""
        if self.timed_out:
            return f"did not end within {self.seconds:.0f} s"
        if self.before:
            return "passed before on the same files"
        return "passed" if self.passed else f"failed with {self.code}"

    @property
    def line(self) -> str:
        """The command and its result: `make test` passed."""
        from ghp_agents.core.secret_scan import redacted  # slow to load

        command = one_line(redacted(self.command), SHOWN)  # a cut secret would not be recognized
        return f"`{command.replace('`', chr(39))}` {self.verdict}"


def red(checks: Iterable[Check]) -> Check | None:
    """Return the first check that failed."""
    return next((check for check in checks if not check.passed), None)


def tail(output: str, limit: int = 4_000, lines: int = LAST_LINES) -> str:
    """Return the end of an output: errors are usually there."""
    last = output.strip("\n").split("\n")[-lines:]
    text = "\n".join(last)
    whole = len(text) <= limit and len(last) == len(output.strip("\n").split("\n"))
    return text if whole else f"…\n{text[-limit:]}"


def block(check: Check, limit: int) -> str:
    """Return a check as markdown, with the end of its output in a collapsed section."""
    if not check.output.strip():
        return f"- {check.line}; it printed nothing."
    text = fence(cut(tail(check.output, limit), limit + 10, "cut"))
    inner = "\n".join(f"  {line}".rstrip() for line in text.split("\n"))
    return f"- {check.line}.\n  <details><summary>Output</summary>\n\n{inner}\n  </details>"
