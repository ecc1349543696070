"""An escalation: a question that only a person can decide, and its answers."""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, TypeVar

from ghp_agents.core.ids import (
    Actor,
    CloneId,
    Timestamp,
    digest,
    first_line,
    one_line,
    only_match,
    short_ids,
)
from ghp_agents.settings import rights
from ghp_agents.state.cause import LAST_RESORT, QUESTION
from ghp_agents.state.codec import order
from ghp_agents.state.legacy_causes import LEAVE_IT, TRY_AGAIN

CLOSE_IT = "Close the issue"
CONTINUE = (TRY_AGAIN, LEAVE_IT, CLOSE_IT)  # the options of a last resort
MYSELF = "I look at it myself"  # an option of a pull request that was sent back too often
ENDS = (LEAVE_IT, CLOSE_IT, MYSELF)  # with these, no agent continues
URGENCIES = ("low", "normal", "high")
DEFAULT_URGENCY = "normal"
MEANINGS = {
    "yes": "approve", "no": "refuse", "approve": "yes", "refuse": "no",
    "close": "close the issue", "close it": "close the issue", "retry": "try again",
    "leave it": "leave it to a person",
}  # fmt: skip


class Answer(NamedTuple):
    """An answer to a question."""

    id: str
    escalation: str
    by: Actor
    text: str
    at: Timestamp
    clock: int
    clone: CloneId
    where: str = ""  # the comment with the answer, if it was given in one


class Question(NamedTuple):
    """The contents of a question; the same contents are the same question."""

    agent: str
    text: str
    issue: int | None = None
    options: tuple[str, ...] = ()
    kind: str = QUESTION  # other kinds are for the program's own questions
    about: tuple[str, ...] = ()  # what it decides, by kind: leases, a path, patterns, waits


class Outcome(NamedTuple):
    """What was done because of an answer, or why nothing could be done."""

    id: str
    escalation: str
    answer: str  # its id
    by: Actor  # who decided
    at: Timestamp
    clock: int
    clone: CloneId
    text: str
    is_done: bool
    agents: tuple[str, ...] = ()  # those that it concerns


class Escalation(NamedTuple):
    """A question and its answers. The first answer closes it, the last one counts. An answer by an
    agent that may not decide is advice and does not close it, nor does one that picks no option of
    a question of the program."""

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
    outcomes: tuple[Outcome, ...] = ()
    settled: str = ""  # why nobody needs to answer any more; `leases.settled_questions` decides it

    @property
    def name(self) -> str:
        """The displayed id."""
        return f"E-{self.id}"

    @property
    def title(self) -> str:
        """The question in one line."""
        return first_line(self.question.text)

    @property
    def is_open(self) -> bool:
        """Whether there is no answer yet by anyone who may decide, and one is needed."""
        return not (self.answers or self.settled)

    @property
    def is_over(self) -> bool:
        """Whether a clone recorded that it needs no answer any more, and nobody answered."""
        return not self.answers and any(x.is_done and not x.answer for x in self.outcomes)

    @property
    def state(self) -> str:
        """In a word: answered, settled or open."""
        return "answered" if self.answers else "settled" if self.settled else "open"

    @property
    def news(self) -> tuple[Answer, ...]:
        """The news for its agent: the answer that counts, and all advice."""
        return (*self.answers[-1:], *self.advice)

    @property
    def outcome(self) -> Outcome | None:
        """What was done because of the answer that counts. If one clone could do it and another
        could not, it is done."""
        outcomes = [x for x in self.outcomes if self.answers and x.answer == self.answers[-1].id]
        return max(outcomes, key=lambda outcome: outcome.is_done, default=None)


E = TypeVar("E", Escalation, Answer, Outcome)


def identity(question: Question, times: int) -> str:
    """The id of a question that was asked and answered `times` times before."""
    fields = [question.agent, question.issue, question.text, list(question.options), times]
    return digest(json.dumps(fields))


def own_key(question: Question) -> tuple[str, str]:
    """What is the same for two of the program's own questions if they are the same."""
    return question.kind, identity(question, 0)


def answer_identity(escalation: str, by: Actor, text: str, after: str = "") -> str:
    """The id of an answer. Repeating an answer gives the same id, unless it comes `after` another
    answer, which it replaces."""
    fields = [escalation, by.name, by.is_person, text]
    return digest(json.dumps([*fields, after] if after else fields))


def chosen(question: Question, text: str) -> str:
    """The text of an answer: the number of an option means that option. An answer to a question of
    the program picks an option in other words, too: `close it`."""
    options = question.options
    number = option_number(question, text) if question.kind != QUESTION else None
    if number is not None:
        return options[number]
    if text in options or not (text.isascii() and text.isdigit()):
        return text
    return options[int(text) - 1] if 0 < int(text) <= len(options) else text


def decides(question: Question, answer: Answer, orchestrators: Collection[str]) -> bool:
    """Whether an answer closes a question. What an agent asks may be answered in any words, for it
    reads them. The program's own question is decided by one of its options only: anything else
    would be taken for one that nobody has chosen."""
    is_unclear = question.kind != QUESTION and is_odd(question, answer.text)
    return rights.may_answer(answer.by, question.agent, orchestrators) and not is_unclear


def picked(question: Question, answers: Sequence[Answer]) -> str:
    """The option that the answer which counts has picked; empty without one."""
    number = option_number(question, answers[-1].text) if answers else None
    return "" if number is None else question.options[number]


def is_odd(question: Question, text: str) -> bool:
    """Whether there are options and an answer is not one of them."""
    return bool(question.options) and option_number(question, text) is None


def option_number(question: Question, text: str) -> int | None:
    """The index of the option that an answer picks; None if it is none of them, or two."""
    wanted = text.strip().rstrip(".!").casefold()
    options = [option.casefold() for option in question.options]
    meant = wanted if wanted in options else MEANINGS.get(wanted)
    indexes = [i for i, option in enumerate(options) if option == meant]
    return indexes[0] if len(indexes) == 1 else None


def with_answers(
    escalation: Escalation, answers: Iterable[Answer], orchestrators: Collection[str]
) -> Escalation:
    """The escalation after more answers, sorted into answers and advice."""
    replies = ordered([*escalation.answers, *escalation.advice, *answers])
    return escalation._replace(
        answers=tuple(x for x in replies if decides(escalation.question, x, orchestrators)),
        advice=tuple(x for x in replies if not decides(escalation.question, x, orchestrators)),
    )


def ordered(entries: Iterable[E]) -> tuple[E, ...]:
    """Questions or answers in their order, which is the same on every machine."""
    return tuple(sorted(entries, key=order))


def by_need(escalations: Iterable[Escalation]) -> list[Escalation]:
    """Open ones first, of these the most urgent first, then by age."""

    def need(escalation: Escalation) -> tuple[bool, int]:
        urgency = URGENCIES.index(escalation.urgency) if escalation.is_open else 0
        return not escalation.is_open, -urgency

    return sorted(ordered(escalations), key=need)


def listed(options: Iterable[str]) -> str:
    """Options as a numbered list, each on one line."""
    return "\n".join(f"{i}. {one_line(text, 1000)}" for i, text in enumerate(options, 1))


def find(escalations: Sequence[Escalation], reference: str) -> Escalation:
    """The escalation whose id begins with `reference`: `E-3f9a`, `3f9a`, `E3f9a`.

    Raises NotFoundError, or UsageError when several match.
    """
    prefix = reference.strip().lower().removeprefix("e-")
    matches = _starting(escalations, prefix) or _starting(escalations, prefix.removeprefix("e"))
    exact = [match for match in matches if match.id == prefix]
    hint = (
        "`ghp agent-escalations` lists questions; `ghp agent-sync` fetches those of other clones."
    )
    return only_match(
        exact or matches,
        reference,
        "question",
        lambda x: f"{x.name} ({one_line(x.title, 30)})",
        hint,
    )


def _starting(escalations: Sequence[Escalation], prefix: str) -> list[Escalation]:
    return [escalation for escalation in escalations if prefix and escalation.id.startswith(prefix)]


def short_names(escalations: Sequence[Escalation]) -> dict[str, str]:
    """By id, the shortest unique names among `escalations`, with at least four digits."""
    ids = short_ids(escalation.id for escalation in escalations)
    return {identifier: f"E-{short}" for identifier, short in ids.items()}


def open_last_resorts(escalations: Iterable[Escalation]) -> dict[int, str]:
    """The open questions about how to continue, by issue."""
    return {
        x.question.issue: x.name
        for x in escalations
        if x.is_open and is_last_resort(x) and x.question.issue is not None
    }


def left_to_people(escalations: Iterable[Escalation]) -> dict[int, str]:
    """The issues with which a person wants no agent to continue, each with the question in which
    the person said so. The last question of an issue counts, and its last answer."""
    last = {x.question.issue: x for x in ordered(escalations) if is_about_continuing(x.question)}
    return {
        issue: x.name
        for issue, x in last.items()
        if issue is not None and picked(x.question, x.answers) in ENDS
    }


def is_about_continuing(question: Question) -> bool:
    """Whether a question asks if agents should continue with an issue."""
    return question.kind == LAST_RESORT or MYSELF in question.options


def is_last_resort(escalation: Escalation) -> bool:
    """Whether a sweep asked it because agents died on the issue too often."""
    return escalation.question.kind == LAST_RESORT and escalation.question.issue is not None
