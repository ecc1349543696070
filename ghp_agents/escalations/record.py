"""Escalations and answers as files of the state. People read them; their contents are untrusted."""

import re
from collections.abc import Collection, Mapping
from typing import Any, NotRequired, TypedDict

from ghp_agents.core import front_matter
from ghp_agents.core.fields import any_count, any_list, any_text, as_agent
from ghp_agents.core.front_matter import Document
from ghp_agents.core.ids import CloneId, Timestamp
from ghp_agents.escalations.escalation import (
    DEFAULT_URGENCY,
    URGENCIES,
    Answer,
    Escalation,
    Outcome,
    Question,
    listed,
    ordered,
    with_answers,
)
from ghp_agents.hotpath.quoting import fence
from ghp_agents.state import legacy_causes
from ghp_agents.state.cause import DECIDED
from ghp_agents.state.codec import (
    ProvenanceFields,
    any_provenance,
    read_files,
    seconds,
    written_provenance,
)
from ghp_agents.state.join import Settled
from ghp_agents.state.record import Problem

ESCALATIONS = ".ghp/escalations/"
ANSWERS = ".ghp/answers/"
OUTCOMES = ".ghp/decisions/"
FOLDERS = (ESCALATIONS, ANSWERS, OUTCOMES)
_ESCALATION_PATH = re.compile(r"\.ghp/escalations/([0-9a-f]{4,64})\.md")
_ANSWER_PATH = re.compile(r"\.ghp/answers/([0-9a-f]{4,64})/([0-9a-f]{4,64})\.md")
_OUTCOME_PATH = re.compile(r"\.ghp/decisions/([0-9a-f]{4,64})/([0-9a-f]{4,64})\.md")


def path_of(escalation: str) -> str:
    """The path in the state of the escalation with this id."""
    return f"{ESCALATIONS}{escalation}.md"


def answers_of(escalation: str) -> str:
    """The folder of an escalation's answers."""
    return f"{ANSWERS}{escalation}/"


def answer_path_of(escalation: str, answer: str) -> str:
    """The path of one answer."""
    return f"{answers_of(escalation)}{answer}.md"


def outcome_path_of(escalation: str, outcome: str) -> str:
    """The path of one outcome."""
    return f"{OUTCOMES}{escalation}/{outcome}.md"


class QuestionFile(TypedDict):
    """The front matter of a question."""

    id: str
    agent: str
    issue: int | None
    urgency: str
    options: list[str]
    kind: str
    about: NotRequired[list[str]]
    askedAt: str
    clock: int
    clone: str
    branch: str | None
    commit: str | None
    questionLines: int
    contextLines: int


class AnswerFile(ProvenanceFields):
    """The front matter of an answer."""

    escalation: str
    where: NotRequired[str]


class OutcomeFile(ProvenanceFields):
    """The front matter of the outcome of an answer. The body describes it."""

    escalation: str
    answer: str
    done: bool
    agents: NotRequired[list[str]]


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
        **written_provenance(answer),
        **({"where": answer.where} if answer.where else {}),
    }
    return front_matter.render(Document(meta, answer.text + "\n"))


def render_outcome(outcome: Outcome) -> bytes:
    """An outcome as a file."""
    meta = {
        "escalation": f"E-{outcome.escalation}",
        "answer": outcome.answer,
        "done": outcome.is_done,
        **({"agents": list(outcome.agents)} if outcome.agents else {}),
        **written_provenance(outcome),
    }
    return front_matter.render(Document(meta, outcome.text + "\n"))


def read(
    files: Mapping[str, bytes], orchestrators: Collection[str] = ()
) -> tuple[list[Escalation], list[Problem]]:
    """The escalations in files of the state, oldest first, with their answers, and the problems.

    Unknown files are ignored. An answer decides if the record says that its author is a person,
    or if the author is an orchestrator now."""
    escalations, problems = read_files(files, _escalation, _ESCALATION_PATH)
    all_answers, more = read_files(files, _answer, _ANSWER_PATH)
    answers: dict[str, list[Answer]] = {}
    for answer in all_answers:
        answers.setdefault(answer.escalation, []).append(answer)
    outcomes, further = read_files(files, _outcome, _OUTCOME_PATH)
    by_question: dict[str, list[Outcome]] = {}
    for outcome in ordered(outcomes):
        by_question.setdefault(outcome.escalation, []).append(outcome)
    answered = [
        with_answers(
            x._replace(outcomes=tuple(by_question.get(x.id, ()))),
            answers.get(x.id, ()),
            orchestrators,
        )
        for x in escalations
    ]
    return list(ordered(answered)), problems + more + further


def settled(files: Mapping[str, bytes], before: float) -> list[tuple[Escalation, Settled]]:
    """The questions that a person answered, and whose last record is older than a time in seconds.
    Not those with a record that this version cannot read, nor those whose answer is carried out."""
    escalations, problems = read(files)
    broken = {problem.place for problem in problems}
    answers: dict[str, set[str]] = {}
    for path in files:
        if path.startswith(ANSWERS):
            answers.setdefault(path.removeprefix(ANSWERS).partition("/")[0], set()).add(path)
    ended: list[tuple[Escalation, Settled]] = []
    for item in (
        escalation for escalation in escalations if escalation.question.kind not in DECIDED
    ):
        ends = frozenset(answers.get(item.id, ()))
        paths = {answer_path_of(item.id, x.id) for x in (*item.answers, *item.advice)}
        times = [item.asked_at, *(answer.at for answer in (*item.answers, *item.advice))]
        if item.answers and ends == paths - broken and all(seconds(at) < before for at in times):
            ended.append((item, Settled(frozenset({path_of(item.id)}), ends)))
    return ended


def read_answers(files: Mapping[str, bytes]) -> list[Answer]:
    """The answers in files of the state, oldest first."""
    return list(ordered(read_files(files, _answer, _ANSWER_PATH)[0]))


def _escalation(identity: str, data: bytes) -> Escalation:
    document = front_matter.parse(data)
    meta, lines = document.meta, document.body.removesuffix("\n").split("\n")
    count, context = any_count(meta.get("questionLines")), any_count(meta.get("contextLines"))
    text = "\n".join(lines[:count] if count else lines)
    issue, options = any_count(meta.get("issue")) or None, _texts(meta.get("options"))
    kind, about = any_text(meta.get("kind")), _texts(meta.get("about"))
    if "kind" not in meta:
        kind, about = legacy_causes.of_question(text, options, issue)
    question = Question(as_agent(any_text(meta.get("agent"))), text, issue, options, kind, about)
    urgency = meta.get("urgency")
    return Escalation(
        id=identity,
        question=question,
        asked_at=Timestamp(any_text(meta.get("askedAt"))),
        clock=any_count(meta.get("clock")),
        clone=CloneId(any_text(meta.get("clone"))),
        urgency=urgency if urgency in URGENCIES else DEFAULT_URGENCY,
        context="\n".join(lines[-1 - context : -1]) if 0 < context < len(lines) else "",
        branch=any_text(meta.get("branch")) or None,
        commit=any_text(meta.get("commit")) or None,
    )


def _answer(escalation: str, identity: str, data: bytes) -> Answer:
    document = front_matter.parse(data)
    meta = document.meta
    return Answer(
        id=identity,
        escalation=escalation,
        **any_provenance(meta),
        text=document.body.removesuffix("\n"),
        where=any_text(meta.get("where")),
    )


def _outcome(escalation: str, identity: str, data: bytes) -> Outcome:
    document = front_matter.parse(data)
    meta = document.meta
    return Outcome(
        id=identity,
        escalation=escalation,
        answer=any_text(meta.get("answer")),
        **any_provenance(meta),
        text=document.body.removesuffix("\n"),
        is_done=meta.get("done") is True,
        agents=_texts(meta.get("agents")),
    )


def _count(text: str) -> int:
    return text.count("\n") + 1


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(text for text in any_list(value) if isinstance(text, str))
