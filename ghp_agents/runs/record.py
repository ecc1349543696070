"""What is kept of a run: one client at work on one issue. It stays on this machine."""

import math
import re
from typing import Any, NamedTuple

STARTING, RUNNING, ENDED = "starting", "running", "ended"

# How a run ended.
FINISHED = "finished"  # there is a pull request, or the issue is closed
UNCHANGED = "unchanged"  # its pull request is as it was when it was sent back
ASKS = "asks"  # its agent asked a person and waits
BLOCKED = "blocked"  # its issue waits for another one
FAILED = "failed"
STOPPED = "stopped"  # somebody stopped its agent
INTERRUPTED = "interrupted"  # its supervisor ended, and the next one goes on
LIMITED = "waits"  # its account is at fault, and has to wait
LOST = "lost"  # the issue is no longer its agent's
HANDED_OVER = "handed over"  # failed, and another agent may go on
ESCALATED = "escalated"  # failed, and a person is asked

_ID = re.compile(r"[0-9a-f]{12}")
_SESSION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}")
TEXT_LIMIT = 300  # characters of a reason


class RunRecord(NamedTuple):
    """A run, from before its process starts until it is forgotten."""

    id: str
    agent: str
    issue: int
    runner: str
    path: str  # the worktree
    branch: str
    at: str  # when it began, for people
    boot: str  # `Clock.interval` when it began
    seconds: float
    state: str = STARTING
    pid: int = 0  # of the process group; 0: not known yet
    started: str = ""  # the process by `running.identity`
    session: str = ""  # of the client, to resume it
    tries: int = 0  # failures in a row before this run
    turns: int = 0
    cost: float = 0.0  # US dollars, as the client reports it
    tokens: int = 0
    outcome: str = ""
    why: str = ""  # it ended
    ended: float = 0.0  # `Clock.interval` of the same boot
    cause: str = ""  # the keys of what it was started for again, with spaces between them
    task: str = ""  # of a background task: its name and arguments; then the issue is 0
    starter: str = ""  # the agent that started the task; empty: a person
    container: str = ""  # the program that runs its container
    account: str = ""  # the key of the account that its client worked with
    at_once: int = 0  # 1: it failed within a minute, before its model had answered
    waits: int = 0  # runs in a row that worked and then waited for their account
    declined: int = 0  # 1: its client ended well and left what was sent back unchanged

    @property
    def name(self) -> str:
        """The displayed id."""
        return f"R-{self.id}"

    @property
    def about(self) -> str:
        """What it works on: an issue, or a task."""
        return self.task or f"#{self.issue}"

    @property
    def failures(self) -> int:
        """Failures in a row, with this run. A result or giving up ends the row."""
        if self.outcome in (FINISHED, UNCHANGED, ASKS, BLOCKED, HANDED_OVER, ESCALATED):
            return 0
        return self.tries + (self.outcome == FAILED)


def is_session(text: object) -> bool:
    """Whether a client's word for its session can be given back to it as an argument."""
    return isinstance(text, str) and _SESSION.fullmatch(text) is not None


def encode(run: RunRecord) -> dict[str, Any]:
    """The record as JSON."""
    return run._asdict()


def decode(fields: dict[str, Any]) -> RunRecord | None:
    """The record; None if the fields make none. Unknown fields are left out."""
    values = {name: fields[name] for name in RunRecord._fields if name in fields}
    kinds = RunRecord.__annotations__
    if not all(_fits(value, kinds[name]) for name, value in values.items()):
        return None
    try:
        run = RunRecord(**values)
    except TypeError:  # a field is missing
        return None
    fits = _ID.fullmatch(run.id) and (not run.session or is_session(run.session))
    return run if fits else None


def _fits(value: object, kind: type) -> bool:
    if isinstance(value, bool):
        return False
    if kind is float:
        return isinstance(value, int | float) and math.isfinite(value)
    return isinstance(value, kind)
