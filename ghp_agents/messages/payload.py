"""The payloads of typed topics: their fields, and the check that a payload has them.

JSON Schemas are written from these types: `docs/schemas/topic/`.
"""

import json
from types import NoneType
from typing import (
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    TypedDict,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ghp_agents.core.ids import one_line
from ghp_agents.core.schema_version import KEY, VERSION


class CodeCompleted(TypedDict):
    """Code is finished."""

    files: list[str]
    summary: str
    requestReview: NotRequired[bool]
    branch: NotRequired[str]


class ReviewRequested(TypedDict):
    """Somebody should review code."""

    files: list[str]
    context: NotRequired[str]
    commits: NotRequired[list[str]]
    priority: NotRequired[Literal["low", "normal", "high"]]


class ReviewFinding(TypedDict):
    """One finding of a review."""

    file: str
    line: int
    severity: Literal["error", "warning", "suggestion"]
    message: str


class ReviewCompleted(TypedDict):
    """A review is finished."""

    files: list[str]
    approved: bool
    summary: str
    issues: NotRequired[list[ReviewFinding]]


class ProposalReady(TypedDict):
    """A proposal can be discussed."""

    title: str
    description: str
    recommendation: str
    tradeoffs: NotRequired[str]
    diagrams: NotRequired[list[str]]


class FeasibilityCheck(TypedDict):
    """Whether a proposal can be built."""

    feasible: bool
    summary: str
    concerns: NotRequired[list[str]]


class AgentQuestion(TypedDict):
    """A question to other agents."""

    question: str
    context: NotRequired[str]


class TaskStarted(TypedDict):
    """A task has begun."""

    task: str
    detail: NotRequired[str]


class TaskProgress(TypedDict):
    """How far a task is."""

    task: str
    step: int
    steps: NotRequired[int]
    detail: NotRequired[str]


class TaskCompleted(TypedDict):
    """A task has ended."""

    task: str
    success: bool
    summary: NotRequired[str]


class InputRequired(TypedDict):
    """A person must decide something."""

    question: str
    context: NotRequired[str]


class VulnerabilityFound(TypedDict):
    """A weakness of the code."""

    title: str
    severity: Literal["low", "normal", "high", "critical"]
    files: list[str]
    description: str


class ProjectUpdate(TypedDict):
    """News of the project."""

    summary: str


class NewTopic(TypedDict):
    """A topic that somebody describes."""

    topic: str
    description: str


class PayloadShape(NamedTuple):
    """The payload of a topic."""

    type: Any
    description: str


SHAPES: dict[str, PayloadShape] = {
    name: PayloadShape(shape, str(shape.__doc__))
    for name, shape in {
        "agent.question": AgentQuestion,
        "arch.feasibility_check": FeasibilityCheck,
        "arch.proposal_ready": ProposalReady,
        "code.completed": CodeCompleted,
        "code.review_completed": ReviewCompleted,
        "code.review_requested": ReviewRequested,
        "meta.new_topic": NewTopic,
        "project_updates": ProjectUpdate,
        "security.vulnerability_found": VulnerabilityFound,
        "task.completed": TaskCompleted,
        "task.progress": TaskProgress,
        "task.started": TaskStarted,
        "user.input_required": InputRequired,
    }.items()
}
_WORDS = {str: "a text", bool: "true or false", int: "a whole number", NoneType: "null"}


def problem(shape: Any, value: Any, name: str = "it") -> str:
    """What is wrong with a value, in words; empty if it fits. Further fields are allowed."""
    if is_typeddict(shape):
        if not isinstance(value, dict):
            return f"{name} is not an object"
        missing = sorted(shape.__required_keys__ - value.keys())
        if missing:
            return f"{name} lacks {', '.join(missing)}"
        hints = get_type_hints(shape)
        problems = (problem(hints[key], value[key], key) for key in hints if key in value)
        return next((text for text in problems if text), "")
    if get_origin(shape) is list:
        if not isinstance(value, list):
            return f"{name} is not a list"
        (inner,) = get_args(shape)
        return next((text for x in value if (text := problem(inner, x, name))), "")
    if get_origin(shape) is Literal:
        choices = get_args(shape)
        return "" if value in choices else f"{name} is not one of {', '.join(choices)}"
    return "" if type(value) is shape else f"{one_line(name, 40)} is not {_WORDS[shape]}"


def version_problem(value: dict[str, Any]) -> str:
    """What is wrong with the version of a payload, in words; empty if it is known or absent."""
    version = value.get(KEY, VERSION)
    is_known = type(version) is int and version == VERSION
    return "" if is_known else f"its {KEY} is not {VERSION}, the one that this program knows"


def fields(shape: Any) -> list[tuple[str, str, bool]]:
    """The fields of a payload: name, type in words, and whether it is required."""
    hints = get_type_hints(shape)
    return [(key, _spelled(hint), key in shape.__required_keys__) for key, hint in hints.items()]


def _spelled(shape: Any) -> str:
    if get_origin(shape) is list:
        return f"list of {_spelled(get_args(shape)[0]).removeprefix('a ')}s"
    if get_origin(shape) is Literal:
        return " or ".join(get_args(shape))
    if is_typeddict(shape):
        return "object with " + ", ".join(get_type_hints(shape))
    return _WORDS[shape]


def example(shape: Any) -> str:
    """A payload with the required fields, as JSON."""
    hints = get_type_hints(shape)
    return json.dumps(
        {key: _sample(hints[key]) for key in hints if key in shape.__required_keys__},
        ensure_ascii=False,
    )


def _sample(shape: Any) -> Any:
    if get_origin(shape) is list:
        return ["…"]
    if get_origin(shape) is Literal:
        return get_args(shape)[0]
    return {str: "…", bool: True, int: 1}[shape]
