"""Background tasks as files on main declare them, their progress and their results."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.cards import card
from ghp_agents.cards.card import AgentCard
from ghp_agents.core import front_matter
from ghp_agents.core.clock import duration
from ghp_agents.core.ids import one_line
from ghp_agents.hotpath.quoting import clean
from ghp_agents.runs.record import ENDED, FAILED, FINISHED, STARTING, RunRecord

CARD_FIELDS = ("permissions", "autonomous", "model")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
DEFAULT_TIME = 3_600.0  # seconds
LONGEST_TIME = 7 * 86_400.0
STARTS_WITHIN = 60.0  # seconds
STEPS_MOST, STEP_LIMIT = 200, 200  # steps, and characters of one
RUNNING, DONE, PENDING = "running", "done", "pending"
_ARGUMENT = re.compile(r"\$(ARGUMENTS|[1-9])")
_PERCENT = re.compile(r"(?:(\d{1,3})% )?(.*)")


class TaskFile(NamedTuple):
    """A declared task: a shell command, or a prompt for a client."""

    name: str
    description: str = ""
    run: str = ""  # a shell command with "$1" and "$@"; empty: the prompt is for the runner
    runner: str = "claude"
    steps: tuple[str, ...] = ()
    time: float = DEFAULT_TIME  # seconds
    prompt: str = ""
    card: AgentCard | None = None  # what its client may do, and its model


class TaskStep(NamedTuple):
    """A step of a task."""

    text: str
    state: str  # done, running, failed, pending
    percent: int | None = None


def parse(name: str, data: bytes) -> TaskFile:
    """The task in a markdown file. Raises ValueError."""
    if not NAME.fullmatch(name):
        raise ValueError("the name has characters other than letters, digits, `.`, `_` and `-`")
    document = front_matter.parse(data) if data.startswith(b"---") else front_matter.Document(
        {}, data.decode("utf-8")
    )  # fmt: skip
    meta = document.meta
    steps = meta.get("steps", [])
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise ValueError("`steps` is not a list of texts")
    prompt, run = document.body.strip(), _text(meta, "run")
    if not (run or prompt):
        raise ValueError("it has neither `run` nor a text below the front matter")
    rights = _card(name, meta)
    if run and rights:
        raise ValueError("`permissions` and `model` are for a prompt, not for `run`")
    seconds = duration(_text(meta, "time") or "1h")
    if not 0 < seconds <= LONGEST_TIME:
        raise ValueError("`time` is not between 1s and 7d")
    return TaskFile(
        name, one_line(clean(_text(meta, "description")), STEP_LIMIT), run,
        _text(meta, "runner") or "claude",
        tuple(one_line(clean(step), STEP_LIMIT) for step in steps[:STEPS_MOST]), seconds, prompt,
        rights,
    )  # fmt: skip


def _card(name: str, meta: Mapping[str, Any]) -> AgentCard | None:
    """The fields that are those of an agent's card; None without any. Raises ValueError."""
    fields = {key: meta[key] for key in CARD_FIELDS if key in meta}
    return card.parse("task", f".ghp/tasks/{name}.md", fields) if fields else None


def _text(meta: Mapping[str, Any], key: str) -> str:
    value = meta.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f"`{key}` is not a text")
    return value.strip()


def filled(prompt: str, args: Sequence[str]) -> str:
    """The prompt with its arguments: `$ARGUMENTS` are all, `$1` is the first."""

    def value(match: re.Match[str]) -> str:
        if match[1] == "ARGUMENTS":
            return " ".join(args)
        return args[int(match[1]) - 1] if int(match[1]) <= len(args) else ""

    return _ARGUMENT.sub(value, prompt)


def state(run: RunRecord, *, lives: bool, age: float) -> str:
    """The result of a task; `age` is in seconds since its record was written."""
    if run.state == ENDED:
        return run.outcome
    if lives or (run.state == STARTING and age < STARTS_WITHIN):
        return RUNNING
    return FAILED


def steps(declared: Sequence[str], lines: Sequence[str], now: str) -> list[TaskStep]:
    """The steps of a task in its state `now`. A line is a step that began, with its percentage
    before it: `45% Write the index`."""
    reported: dict[str, int | None] = {}
    for line in lines:
        match = _PERCENT.fullmatch(one_line(clean(line), STEP_LIMIT + 5))
        if match and match[2].strip():
            text = match[2].strip()[:STEP_LIMIT]
            reported.pop(text, None)  # the last one that was named is the one that runs
            reported[text] = min(100, int(match[1])) if match[1] else None
    begun = [TaskStep(text, DONE, percent) for text, percent in reported.items()]
    if begun and now != FINISHED:
        last = RUNNING if now == RUNNING else FAILED
        begun[-1] = begun[-1]._replace(state=last)
    rest = [TaskStep(text, PENDING) for text in declared if text not in reported]
    return [*begun, *rest][:STEPS_MOST]
