"""Escalations and answers as files of the state, which people read and anybody may have written."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ghp_agents.errors import UsageError
from ghp_agents.model import document
from ghp_agents.model.document import Document
from ghp_agents.model.escalation import (
    DEFAULT_URGENCY,
    URGENCIES,
    Answer,
    Escalation,
    Question,
    listed,
    ordered,
)
from ghp_agents.model.names import Actor, CloneId, Timestamp, agent_name
from ghp_agents.model.quote import fence
from ghp_agents.model.state import Problem

ESCALATIONS = ".ghp/escalations/"
ANSWERS = ".ghp/answers/"
_ESCALATION_PATH = re.compile(r"\.ghp/escalations/([0-9a-f]{4,64})\.md")
_ANSWER_PATH = re.compile(r"\.ghp/answers/([0-9a-f]{4,64})/([0-9a-f]{4,64})\.md")


def path(escalation: Escalation) -> str:
    """Where an escalation is in the state."""
    return f"{ESCALATIONS}{escalation.id}.md"


def answer_path(answer: Answer) -> str:
    """Where an answer is in the state."""
    return f"{ANSWERS}{answer.escalation}/{answer.id}.md"


def render(escalation: Escalation) -> bytes:
    """An escalation as a file. The body is for people; how many of its lines are whose is in the
    front matter, because a question may look like anything."""
    question = escalation.question
    meta = {
        "id": escalation.name,
        "agent": question.agent,
        "issue": question.issue,
        "urgency": escalation.urgency,
        "options": list(question.options),
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
    return document.render(Document(meta, "\n\n".join(parts) + "\n"))


def render_answer(answer: Answer) -> bytes:
    """An answer as a file."""
    meta = {
        "escalation": f"E-{answer.escalation}",
        "by": answer.by.name,
        "person": answer.by.is_person,
        "at": answer.at,
        "clock": answer.clock,
        "clone": answer.clone,
    }
    return document.render(Document(meta, answer.text + "\n"))


def read(files: Mapping[str, bytes]) -> tuple[list[Escalation], list[Problem]]:
    """The escalations in files of the state with their answers, in the order in which they were
    asked, and what could not be read. Files that we do not know are none of ours."""
    asked: list[Escalation] = []
    answers: dict[str, list[Answer]] = {}
    problems: list[Problem] = []
    for place, data in sorted(files.items()):
        try:
            if found := _ESCALATION_PATH.fullmatch(place):
                asked.append(_escalation(found[1], document.parse(data)))
            elif found := _ANSWER_PATH.fullmatch(place):
                answer = _answer(found[1], found[2], document.parse(data))
                answers.setdefault(answer.escalation, []).append(answer)
        except ValueError as error:
            problems.append(Problem(place, str(error)))
    whole = [replace(each, answers=ordered(answers.get(each.id, ()))) for each in asked]
    return list(ordered(whole)), problems


def _escalation(identifier: str, said: Document) -> Escalation:
    meta, lines = said.meta, said.body.removesuffix("\n").split("\n")
    count, context = _number(meta.get("questionLines")), _number(meta.get("contextLines"))
    options = meta.get("options")
    question = Question(
        agent=_agent(meta.get("agent")),
        text="\n".join(lines[:count] if count else lines),
        issue=_number(meta.get("issue")) or None,
        options=tuple(o for o in options if isinstance(o, str))
        if isinstance(options, list)
        else (),
    )
    urgency = meta.get("urgency")
    return Escalation(
        id=identifier,
        question=question,
        asked_at=Timestamp(_text(meta.get("askedAt"))),
        clock=_number(meta.get("clock")),
        clone=CloneId(_text(meta.get("clone"))),
        urgency=urgency if urgency in URGENCIES else DEFAULT_URGENCY,
        context="\n".join(lines[-1 - context : -1]) if 0 < context < len(lines) else "",
        branch=_text(meta.get("branch")) or None,
        commit=_text(meta.get("commit")) or None,
    )


def _answer(escalation: str, identifier: str, said: Document) -> Answer:
    meta = said.meta
    is_person = meta.get("person") is True
    by = _text(meta.get("by"))
    if not by.strip():
        raise ValueError("an answer by nobody")
    return Answer(
        id=identifier,
        escalation=escalation,
        by=Actor(by if is_person else _agent(by), is_person),
        text=said.body.removesuffix("\n"),
        at=Timestamp(_text(meta.get("at"))),
        clock=_number(meta.get("clock")),
        clone=CloneId(_text(meta.get("clone"))),
    )


def _count(text: str) -> int:
    return text.count("\n") + 1


def _agent(value: Any) -> str:
    try:
        return agent_name(_text(value))
    except UsageError as error:
        raise ValueError(str(error)) from None


def _text(value: Any) -> str:
    """A field that is text; a time that somebody wrote by hand was read as one, by YAML."""
    return str(value) if isinstance(value, str) or hasattr(value, "isoformat") else ""


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
