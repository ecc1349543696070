"""Whether an open question may need no answer any more: the cheap part of that decision, which
loads nothing that reads leases, claims or orders."""

from collections.abc import Iterable

from ghp_agents.escalations.escalation import Escalation, Question
from ghp_agents.ports import Snapshot
from ghp_agents.state.cause import (
    CHOICE,
    DECIDED,
    DISPUTED,
    LAST_RESORT,
    OWNERS,
    TAKEN_OUT,
    WORKFLOW,
)

STOPS = ".ghp/stops/"  # `presence.stop_order.FOLDER`


def any_doubtful(escalations: Iterable[Escalation], snapshot: Snapshot) -> bool:
    """Whether `leases.settled_questions` could settle one of these questions."""
    return any(x.is_open and _is_doubtful(x.question, snapshot) for x in escalations)


def _is_doubtful(question: Question, snapshot: Snapshot) -> bool:
    if question.kind in (*DECIDED, DISPUTED, OWNERS) or is_of_program(question):
        return True
    return is_about_issue(question) and (
        has_stopped(question.agent, snapshot) or bool(snapshot.present(f"{STOPS}{question.agent}/"))
    )


def is_of_program(question: Question) -> bool:
    """Whether the program asks how work on an issue goes on: no agent waits for the answer. What an
    agent asks for itself, such as a lease of shared files, names no subject."""
    return question.kind in (LAST_RESORT, TAKEN_OUT) or (
        question.kind == CHOICE and bool(question.about)
    )


def is_about_issue(question: Question) -> bool:
    """Whether it ends with an issue. A step of a workflow goes on by itself."""
    return question.issue is not None and question.kind != WORKFLOW


def has_stopped(agent: str, snapshot: Snapshot) -> bool:
    """Whether an agent reports that it has stopped."""
    return snapshot.agents().get(agent, {}).get("status") == "stopped"
