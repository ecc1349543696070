"""Questions, notes and handoffs, as JSON."""

from typing import Literal, NotRequired, TypedDict

from ghp_agents.handoffs.record import HandoffFile


class AnswerJson(TypedDict):
    """An answer to a question."""

    id: str
    by: str
    person: bool
    at: str
    text: str


class OutcomeJson(TypedDict):
    """What was done because of an answer, or why nothing could be done."""

    answer: str
    done: bool
    text: str


class QuestionJson(TypedDict):
    """A question with its answers."""

    id: str
    state: Literal["open", "settled", "answered"]
    settled: NotRequired[str]  # why nobody needs to answer any more
    agent: str
    issue: int | None
    urgency: str
    question: str
    options: list[str]
    context: str
    askedAt: str
    branch: str | None
    commit: str | None
    answers: list[AnswerJson]
    outcome: OutcomeJson | None
    advice: list[AnswerJson]


class NoteJson(TypedDict):
    """A note."""

    id: str
    state: str
    kind: str
    text: str
    by: str
    person: bool
    at: str
    issue: int | None
    paths: list[str]
    expires: str | None
    branch: str | None
    commit: str | None
    supersededBy: str | None
    changedBy: str | None
    changedAt: str | None


class NoteHitJson(NoteJson):
    """A note that was found, and how well it fits."""

    score: float


class HandoffJson(HandoffFile):
    """A handoff or checkpoint. `new`: whether it differs from the one before."""

    new: bool


class ResumeJson(TypedDict):
    """What an agent needs to continue."""

    issue: int | None
    handoff: HandoffFile | None
    text: str
