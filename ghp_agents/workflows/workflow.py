"""A workflow: steps that agents and people do one after another, as a markdown file says.

The front matter has the name and what starts it. Each `##` heading is a step: a list of fields, and
below it the prompt. The file is the repository's own text; what events say is only put in quoted.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core import front_matter
from ghp_agents.core.clock import duration
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import one_line, slug
from ghp_agents.issues.body_sections import of_level
from ghp_agents.messages import address
from ghp_agents.messages.topics import topic

LARGEST = 100_000  # bytes of a file
MOST_STEPS = 30
LINE = 200  # characters of a description or a field
PROMPT_LIMIT = 20_000  # characters
STARTER = "starter"  # as a role: who started it
AUTHOR = "author"  # as a role: the agent that has the issue, else who started it
JOB = "job"
KINDS = ("request", "question", "review", "context", JOB)
APPROVAL, CHECKS, PARTS, VOTE = "approval", "checks", "parts", "vote"
GATES = (APPROVAL, CHECKS, PARTS, VOTE)
DONE, FAILED, APPROVED, CHANGES, REFUSED = "done", "failed", "approved", "changes", "refused"
OUTCOMES = (DONE, FAILED, APPROVED, CHANGES, REFUSED)
VALUES = ("subject", "text", "issue", STARTER)  # that a prompt may name, besides earlier steps
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_FIELD = re.compile(r"[-*] ([A-Za-z]+(?: [a-z]+)?): *(.*)")
_VALUE = re.compile(r"\{([a-z0-9][a-z0-9-]{0,39})\}")


class WorkflowStep(NamedTuple):
    """One step: what is asked of whom, after which steps, and what must hold before the next."""

    name: str
    title: str
    role: str = ""  # an address of messages, STARTER or AUTHOR; empty: only its gate counts
    kind: str = KINDS[0]
    after: tuple[str, ...] = ()
    only_if: str = ""  # the outcome of a step before it that makes it necessary
    gate: str = ""  # one of GATES
    voters: str = ""  # of a vote: an address
    within: int = 0  # seconds
    output: str = ""  # what to hand back
    prompt: str = ""


class Workflow(NamedTuple):
    """Steps, and what starts them."""

    name: str
    description: str = ""
    topic: str = ""  # a message to this topic starts it
    when: str = ""  # only if this field of the message's payload is true
    label: str = ""  # an issue with this label starts it
    steps: tuple[WorkflowStep, ...] = ()
    is_shipped: bool = False  # with this program; then only the command starts it


def parse(data: bytes, name: str, *, is_shipped: bool = False) -> Workflow:
    """The workflow in a file `<name>.md`. Raises ValueError with a reason."""
    if len(data) > LARGEST:
        raise ValueError(f"it has more than {LARGEST} bytes")
    document = front_matter.parse(data)
    meta = document.meta
    unknown = sorted({*meta} - {"name", "description", "topic", "when", "label"})
    if unknown:
        raise ValueError(f"its front matter has the unknown field {one_line(unknown[0], 40)!r}")
    if not _NAME.fullmatch(name) or meta.get("name", name) != name:
        raise ValueError("its name is not that of its file, in a-z, 0-9 and '-'")
    start = _checked_topic(_text(meta, "topic"))
    when = _text(meta, "when")
    if when and not start:
        raise ValueError("`when` is about the payload of a `topic`, which is missing")
    steps = _steps(document.body)
    return Workflow(
        name, _text(meta, "description"), start, when, _text(meta, "label"), steps, is_shipped
    )


def _text(meta: Mapping[str, Any], key: str) -> str:
    value = meta.get(key) or ""
    if not isinstance(value, str) or len(value) > LINE or not value.isprintable():
        raise ValueError(f"`{key}` is not one line of at most {LINE} characters")
    return value.strip()


def _checked_topic(text: str) -> str:
    return topic.checked_name(text.removeprefix("@")) if text else ""


def _steps(body: str) -> tuple[WorkflowStep, ...]:
    sections = of_level(body, 2)
    if not 0 < len(sections) <= MOST_STEPS:
        raise ValueError(f"it has {len(sections)} steps; a step is a heading `## Name`")
    steps: list[WorkflowStep] = []
    for section in sections:
        try:
            steps.append(_step(section.title, section.text, steps))
        except (ValueError, UsageError) as error:
            raise ValueError(f"step {one_line(section.title, 40)!r}: {error}") from None
    return tuple(steps)


def _step(title: str, text: str, before: Sequence[WorkflowStep]) -> WorkflowStep:
    name = slug(title, 40)
    earlier = [step.name for step in before]
    if not _NAME.fullmatch(name) or name in (*earlier, *VALUES):
        raise ValueError("its name is empty, or is taken")
    fields, prompt = _fields(text)
    after = tuple(filter(None, (slug(x) for x in fields.pop("after", "").split(","))))
    missing = [wanted for wanted in after if wanted not in (*earlier, "start")]
    if missing:
        raise ValueError(f"`After` names {missing[0]!r}, which is not a step above it")
    gate, _, voters = fields.pop("gate", "").partition(" ")
    only_if, kind = fields.pop("only if", ""), fields.pop("kind", KINDS[0])
    _one_of("Gate", gate, ("", *GATES))
    _one_of("Only if", only_if, ("", *OUTCOMES))
    _one_of("Kind", kind, KINDS)
    within = fields.pop("within", "")
    step = WorkflowStep(
        name, one_line(title, LINE), _role(fields.pop("role", "")), kind,
        () if "start" in after else after or tuple(earlier[-1:]), only_if, gate,
        _role(voters) if gate == VOTE else "", int(duration(within)) if within else 0,
        fields.pop("output", ""), prompt,
    )  # fmt: skip
    if fields:
        raise ValueError(f"{next(iter(fields))!r} is not a field of a step")
    if not step.role and kind != JOB and not gate:
        raise ValueError("it has neither a `Role` nor a `Gate`")
    if only_if and not step.after:
        raise ValueError("`Only if` needs a step before it")
    _check_values(prompt, earlier)
    return step


def _fields(text: str) -> tuple[dict[str, str], str]:
    """The list of fields at the top of a section, and the prompt below it."""
    lines = text.strip().split("\n")
    fields: dict[str, str] = {}
    while lines and (match := _FIELD.fullmatch(lines[0].rstrip())):
        key = match[1].lower()
        if key in fields or len(match[2]) > LINE:
            raise ValueError(f"`{match[1]}` occurs twice, or is too long")
        fields[key] = match[2].strip()
        lines.pop(0)
    prompt = "\n".join(lines).strip()
    if len(prompt) > PROMPT_LIMIT:
        raise ValueError(f"its text has more than {PROMPT_LIMIT} characters")
    return fields, prompt


def _role(text: str) -> str:
    """An address: a bare word is a capability. Raises ValueError, UsageError."""
    if text in ("", STARTER, AUTHOR):
        return text
    if text.startswith("@"):
        return address.checked(text)
    return address.checked(f"{address.CAPABILITY}{text}")


def _one_of(field: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"`{field}` must be one of {', '.join(filter(None, choices))}")


def _check_values(prompt: str, earlier: Sequence[str]) -> None:
    for name in _VALUE.findall(prompt):
        if name not in (*VALUES, *earlier):
            names = ", ".join((*VALUES, *earlier))
            raise ValueError(f"there is no value {{{name}}}; the values are {names}")


def fill(prompt: str, values: Mapping[str, tuple[str, str]]) -> str:
    """A prompt with its values, which are quoted. Each value has a short form for a place inside of
    a line, and a block for a line of its own; an empty block leaves no line."""
    lines: list[str] = []
    for line in prompt.split("\n"):
        alone = _VALUE.fullmatch(line.strip())
        if alone:
            block = values[alone[1]][1]
            lines += [block] if block else []
        else:
            lines.append(_VALUE.sub(lambda match: values[match[1]][0], line))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
