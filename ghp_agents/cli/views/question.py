"""Questions as a table, in full and as JSON."""

from collections.abc import Sequence
from typing import Any

from ghp_agents.cli import output
from ghp_agents.core.clock import age
from ghp_agents.core.ids import one_line
from ghp_agents.escalations import escalation as rules
from ghp_agents.escalations.escalation import Answer, Escalation
from ghp_agents.escalations.messages import who
from ghp_agents.hotpath.quoting import clean


def table(chosen: Sequence[Escalation], names: dict[str, str], now: float) -> None:
    """Print questions, and why those that are settled need no answer any more."""
    rows = [_row(escalation, names[escalation.id], now) for escalation in chosen]
    styles = ["bold" if escalation.is_open else "dim" for escalation in chosen]
    output.table(("ID", "STATE", "URGENCY", "AGENT", "ISSUE", "ASKED", "QUESTION"), rows, styles)
    for escalation in chosen:
        if escalation.settled:
            name = names[escalation.id]
            output.say(f"{name} needs no answer any more: {escalation.settled}.")


def _row(escalation: Escalation, name: str, now: float) -> tuple[str, ...]:
    question = escalation.question
    issue = f"#{question.issue}" if question.issue else "-"
    title = one_line(escalation.title, 80)
    return (
        name,
        escalation.state,
        escalation.urgency,
        question.agent,
        issue,
        age(escalation.asked_at, now),
        title,
    )


def page(escalation: Escalation, then: float | None) -> str:
    """A question in full, at a time in the past or now."""
    question = escalation.question
    facts = [
        ("Asked by", f"{question.agent}, {output.when(escalation.asked_at)}"),
        ("Issue", f"#{question.issue}" if question.issue else ""),
        ("Urgency", escalation.urgency),
        ("Branch", f"{escalation.branch or ''} {(escalation.commit or '')[:12]}".strip()),
    ]
    head = "\n".join(f"{key}: {one_line(value, 200)}" for key, value in facts if value)
    parts = [f"{escalation.name}\n{head}", clean(question.text)]
    if question.options:
        parts.append("Options:\n" + rules.listed(question.options))
    if escalation.context:
        parts.append("Context:\n" + clean(escalation.context))
    for index, answer in enumerate(escalation.answers):
        word = "Answer" if index == 0 else "Another answer"
        word += ", which counts," if 0 < index == len(escalation.answers) - 1 else ""
        head = f"{word} by {who(answer.by)}, {output.when(answer.at)}:"
        parts.append(f"{head}\n{clean(answer.text)}")
    if escalation.outcome:
        parts.append(f"Result: {clean(escalation.outcome.text)}")
    for advice in escalation.advice:
        head = f"Advice by {who(advice.by)}, {output.when(advice.at)} (not an answer):"
        parts.append(f"{head}\n{clean(advice.text)}")
    if escalation.settled:
        parts.append(f"Nobody needs to answer any more: {escalation.settled}.")
    elif escalation.is_open and then is None:
        parts.append(f"Nobody has answered yet. To answer: ghp agent-answer {escalation.name} TEXT")
    elif escalation.is_open:
        parts.append("Nobody had answered by then.")
    return "\n\n".join(parts)


def as_json(escalation: Escalation) -> dict[str, Any]:
    """A question as JSON."""
    question, outcome = escalation.question, escalation.outcome
    return {
        "id": escalation.name,
        "state": escalation.state,
        **({"settled": escalation.settled} if escalation.settled else {}),
        "agent": question.agent,
        "issue": question.issue,
        "urgency": escalation.urgency,
        "question": question.text,
        "options": list(question.options),
        "context": escalation.context,
        "askedAt": escalation.asked_at,
        "branch": escalation.branch,
        "commit": escalation.commit,
        "answers": [_answer_fields(answer) for answer in escalation.answers],
        "outcome": outcome
        and {
            "answer": outcome.answer,
            "done": outcome.is_done,
            "text": outcome.text,
        },
        "advice": [_answer_fields(answer) for answer in escalation.advice],
    }


def _answer_fields(answer: Answer) -> dict[str, Any]:
    by = {"by": answer.by.name, "person": answer.by.is_person}
    return {"id": answer.id, **by, "at": answer.at, "text": answer.text}
