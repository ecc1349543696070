"""An escalation: a question that only a person can decide, and what was answered."""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, TypeVar

from ghp_agents.core.errors import NotFoundError, UsageError
from ghp_agents.core.ids import Actor, CloneId, Timestamp, digest, one_line, short_ids
from ghp_agents.state.cause import LAST_RESORT, QUESTION

URGENCIES = ("low", "normal", "high")
DEFAULT_URGENCY = "normal"


class Answer(NamedTuple):
    """What somebody answered."""

    id: str
    escalation: str
    by: Actor
    text: str
    at: Timestamp
    clock: int
    clone: CloneId
    where: str = ""  # in which comment it was given, if it was in one; it is there to read then


class Question(NamedTuple):
    """What is asked; whoever asks the same again means the same question."""

    agent: str
    text: str
    issue: int | None = None
    options: tuple[str, ...] = ()
    kind: str = QUESTION  # what it is about; a program's own questions have others
    about: tuple[str, ...] = ()  # the ids of the leases that overlap


class Escalation(NamedTuple):
    """A question that was asked, and its answers; the first closes it, and the last counts. What
    an agent says that may not decide is advice, and closes nothing."""

    id: str
    question: Question
    asked_at: Timestamp
    clock: int
    clone: CloneId
    urgency: str = DEFAULT_URGENCY
    context: str = ""
    branch: str | None = None
    commit: str | None = None
    answers: tuple[Answer, ...] = ()
    advice: tuple[Answer, ...] = ()

    @property
    def name(self) -> str:
        """Its id in print."""
        return f"E-{self.id}"

    @property
    def title(self) -> str:
        """The question in one line."""
        return first_line(self.question.text)

    @property
    def is_open(self) -> bool:
        """Whether nobody who may decide has answered yet."""
        return not self.answers


Said = TypeVar("Said", Escalation, Answer)


def first_line(text: str, limit: int = 120) -> str:
    """The first line of a text that says something."""
    return one_line(next((line for line in text.splitlines() if line.strip()), ""), limit)


def identity(question: Question, times: int) -> str:
    """The id of a question that was asked and answered `times` times before."""
    said = [question.agent, question.issue, question.text, list(question.options), times]
    return digest(json.dumps(said))


def is_same(one: Question, other: Question) -> bool:
    """Whether the program means the same by two of its questions."""
    return one.kind == other.kind and identity(one, 0) == identity(other, 0)


def answer_identity(escalation: str, by: Actor, text: str, after: str = "") -> str:
    """The id of an answer: whoever says the same again has said it once, unless it is `after`
    another answer, which it takes back."""
    said = [escalation, by.name, by.is_person, text]
    return digest(json.dumps([*said, after] if after else said))


def chosen(question: Question, text: str) -> str:
    """What an answer says: the number of an option is that option, as it was shown."""
    options = question.options
    if text in options or not (text.isascii() and text.isdigit()):
        return text
    return options[int(text) - 1] if 0 < int(text) <= len(options) else text


def is_odd(question: Question, text: str) -> bool:
    """Whether an answer is none of the options that there are."""
    known = [option.casefold() for option in question.options]
    return bool(known) and text.strip().casefold() not in known


def may_decide(by: Actor, orchestrators: Collection[str]) -> bool:
    """Whether somebody's answer closes a question: a person's, or an orchestrator's."""
    return by.is_person or by.name in orchestrators


def with_answers(
    escalation: Escalation, answers: Iterable[Answer], orchestrators: Collection[str]
) -> Escalation:
    """The escalation after more answers, each among what it is."""
    known = ordered([*escalation.answers, *escalation.advice, *answers])
    return escalation._replace(
        answers=tuple(each for each in known if may_decide(each.by, orchestrators)),
        advice=tuple(each for each in known if not may_decide(each.by, orchestrators)),
    )


def ordered(said: Iterable[Said]) -> tuple[Said, ...]:
    """Questions or answers in the order in which they were said, the same on every machine."""
    return tuple(sorted(said, key=lambda each: (each.clock, each.clone, each.id)))


def by_need(escalations: Iterable[Escalation]) -> list[Escalation]:
    """Open ones first, of these the most urgent, then in the order in which they were asked."""

    def need(each: Escalation) -> tuple[bool, int]:
        return not each.is_open, -URGENCIES.index(each.urgency) if each.is_open else 0

    return sorted(ordered(escalations), key=need)


def listed(options: Iterable[str]) -> str:
    """Options as a numbered list, each on one line."""
    return "\n".join(f"{i}. {one_line(text, 1000)}" for i, text in enumerate(options, 1))


def find(known: Sequence[Escalation], reference: str) -> Escalation:
    """The escalation whose id is, or begins with, `reference`: `E-3f9a`, `3f9a`, `E3f9a`.

    Raises NotFoundError, or UsageError when several fit.
    """
    prefix = reference.strip().lower().removeprefix("e-")
    found = _starting(known, prefix) or _starting(known, prefix.removeprefix("e"))
    exact = [each for each in found if each.id == prefix]
    if len(exact or found) == 1:
        return (exact or found)[0]
    said = one_line(reference, 40) or "(nothing)"
    if found:
        names = ", ".join(f"{each.name} ({one_line(each.title, 30)})" for each in found[:5])
        raise UsageError(
            f"{said!r} fits {len(found)} questions.",
            hint=f"Name one by more of its id: {names}{'…' if len(found) > 5 else '.'}",
        )
    raise NotFoundError(
        f"There is no question {said}.",
        hint="`ghp agent-escalations` lists them; `ghp agent-sync` fetches those of other clones.",
    )


def _starting(known: Sequence[Escalation], prefix: str) -> list[Escalation]:
    return [each for each in known if prefix and each.id.startswith(prefix)]


def short_names(known: Sequence[Escalation]) -> dict[str, str]:
    """Each one's name as short as it is unique among `known`, at least four digits, by id."""
    return {each: f"E-{short}" for each, short in short_ids(each.id for each in known).items()}


def is_last_resort(asked: Escalation) -> bool:
    """Whether it is the question that a sweep asks when an issue died too often."""
    return asked.question.kind == LAST_RESORT and asked.question.issue is not None
