"""Escalations and answers as files of the state. People read them; their contents are untrusted."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from ghp_agents.core import front_matter
from ghp_agents.core.errors import UsageError
from ghp_agents.core.front_matter import Document
from ghp_agents.core.ids import Actor, CloneId, Timestamp, agent_name
from ghp_agents.escalations.escalation import (
    DEFAULT_URGENCY,
    URGENCIES,
    Answer,
    Escalation,
    Question,
    listed,
    ordered,
    with_answers,
)
from ghp_agents.hotpath.quoting import fence
from ghp_agents.state import legacy_causes
from ghp_agents.state.join import Problem

T = TypeVar("T")

ESCALATIONS = ".ghp/escalations/"
ANSWERS = ".ghp/answers/"
_ESCALATION_PATH = re.compile(r"\.ghp/escalations/([0-9a-f]{4,64})\.md")
_ANSWER_PATH = re.compile(r"\.ghp/answers/([0-9a-f]{4,64})/([0-9a-f]{4,64})\.md")


def path_of(escalation: str) -> str:
    """The path in the state of the escalation with this id."""
    return f"{ESCALATIONS}{escalation}.md"


def answers_of(escalation: str) -> str:
    """The folder of an escalation's answers."""
    return f"{ANSWERS}{escalation}/"


def answer_path_of(escalation: str, answer: str) -> str:
    """The path of one answer."""
    return f"{answers_of(escalation)}{answer}.md"


def render(escalation: Escalation) -> bytes:
    """An escalation as a file. The front matter has the numbers of lines of question and context,
    because their texts may look like any part of the body."""
    question = escalation.question
    meta = {
        "id": escalation.name,
        "agent": question.agent,
        "issue": question.issue,
        "urgency": escalation.urgency,
        "options": list(question.options),
        "kind": question.kind,
        **({"about": list(question.about)} if question.about else {}),
        "askedAt": escalation.asked_at,
        "clock": escalation.clock,
        "clone": escalation.clone,
        "branch": escalation.branch,
        "commit": escalation.commit,
        "questionLines": _count(question.text),
        "contextLines": _count(escalation.context) if escalation.context else 0,
    }
    parts = [question.text]
    if question.options:
        parts.append("Options:\n" + listed(question.options))
    if escalation.context:
        parts.append("Context:\n\n" + fence(escalation.context))
    return front_matter.render(Document(meta, "\n\n".join(parts) + "\n"))


def render_answer(answer: Answer) -> bytes:
    """An answer as a file."""
    meta = {
        "escalation": f"E-{answer.escalation}",
        "by": answer.by.name,
        "person": answer.by.is_person,
        "at": answer.at,
        "clock": answer.clock,
        "clone": answer.clone,
        **({"where": answer.where} if answer.where else {}),
    }
    return front_matter.render(Document(meta, answer.text + "\n"))


def read(
    files: Mapping[str, bytes], orchestrators: Collection[str] = ()
) -> tuple[list[Escalation], list[Problem]]:
    """The escalations in files of the state, oldest first, with their answers, and the problems.

    Unknown files are ignored. An answer decides if the record says that its author is a person,
    or if the author is an orchestrator now."""
    problems: list[Problem] = []
    escalations = _each(_ESCALATION_PATH, _escalation, files, problems)
    answers: dict[str, list[Answer]] = {}
    for answer in _each(_ANSWER_PATH, _answer, files, problems):
        answers.setdefault(answer.escalation, []).append(answer)
    answered = [with_answers(x, answers.get(x.id, ()), orchestrators) for x in escalations]
    return list(ordered(answered)), problems


def read_answers(files: Mapping[str, bytes]) -> list[Answer]:
    """The answers in files of the state, oldest first."""
    return list(ordered(_each(_ANSWER_PATH, _answer, files, [])))


def _each(
    path: re.Pattern[str],
    make: Callable[[Sequence[str], Document], T],
    files: Mapping[str, bytes],
    problems: list[Problem],
) -> list[T]:
    records: list[T] = []
    for place, data in sorted(files.items()):
        match = path.fullmatch(place)
        try:
            if match:
                records.append(make(match.groups(), front_matter.parse(data)))
        except ValueError as error:
            problems.append(Problem(place, str(error)))
    return records


def _escalation(ids: Sequence[str], document: Document) -> Escalation:
    meta, lines = document.meta, document.body.removesuffix("\n").split("\n")
    count, context = _number(meta.get("questionLines")), _number(meta.get("contextLines"))
    text = "\n".join(lines[:count] if count else lines)
    issue, options = _number(meta.get("issue")) or None, _texts(meta.get("options"))
    kind, about = _text(meta.get("kind")), _texts(meta.get("about"))
    if "kind" not in meta:
        kind, about = legacy_causes.of_question(text, options, issue)
    question = Question(_agent(meta.get("agent")), text, issue, options, kind, about)
    urgency = meta.get("urgency")
    return Escalation(
        id=ids[0],
        question=question,
        asked_at=Timestamp(_text(meta.get("askedAt"))),
        clock=_number(meta.get("clock")),
        clone=CloneId(_text(meta.get("clone"))),
        urgency=urgency if urgency in URGENCIES else DEFAULT_URGENCY,
        context="\n".join(lines[-1 - context : -1]) if 0 < context < len(lines) else "",
        branch=_text(meta.get("branch")) or None,
        commit=_text(meta.get("commit")) or None,
    )


def _answer(ids: Sequence[str], document: Document) -> Answer:
    meta = document.meta
    is_person = meta.get("person") is True
    by = _text(meta.get("by"))
    if not by.strip():
        raise ValueError("an answer by nobody")
    return Answer(
        id=ids[1],
        escalation=ids[0],
        by=Actor(by if is_person else _agent(by), is_person),
        text=document.body.removesuffix("\n"),
        at=Timestamp(_text(meta.get("at"))),
        clock=_number(meta.get("clock")),
        clone=CloneId(_text(meta.get("clone"))),
        where=_text(meta.get("where")),
    )


def _count(text: str) -> int:
    return text.count("\n") + 1


def _agent(value: Any) -> str:
    try:
        return agent_name(_text(value))
    except UsageError as error:
        raise ValueError(str(error)) from None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
