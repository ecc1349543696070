"""The texts of escalations and answers: comments on an issue, and news for the asking agent.

They contain text by others. It is quoted or in blocks that name its author, so that nobody takes
it for instructions of the program and no comment can pose as another author's.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ghp_agents.core.ids import Actor
from ghp_agents.escalations.escalation import Answer, Escalation, Outcome, listed
from ghp_agents.hotpath import quoting
from ghp_agents.hotpath.quoting import clean, cut, fence, indented, phrase, visible, when

# A comment on GitHub has at most 65,536 characters; the sum of the parts is below that.
QUESTION_IN_COMMENT = 25_000
OPTIONS_IN_COMMENT = 10_000
CONTEXT_IN_COMMENT = 25_000
ANSWERED = " was answered by "  # what a command that waited prints after the name of the question
ANSWER_IN_NEWS = 20_000
RESULT_LIMIT = 400


class News(NamedTuple):
    """An answer that the agent has not received yet."""

    escalation: Escalation
    answer: Answer

    @property
    def id(self) -> str:
        """The id to remember, so that it is delivered once."""
        return self.answer.id

    @property
    def decision(self) -> str:
        """The id of the outcome of the answer, if it is done and is for the agent that asked; else
        empty."""
        outcome, agent = self.escalation.outcome, self.escalation.question.agent
        if outcome is None or (outcome.answer, outcome.is_done) != (self.id, True):
            return ""
        return outcome.id if agent in outcome.agents else ""


def who(actor: Actor) -> str:
    """An author in a form that no name can imitate: `person «Ada»`, `agent worker-1`."""
    return quoting.who(actor.name, actor.is_person)


def marker(escalation: Escalation) -> str:
    """The hidden marker of the comment with this question."""
    return f"<!-- ghp:escalation {escalation.name} -->"


def answer_marker(answer: Answer) -> str:
    """The hidden marker of the comment with this answer."""
    return f"<!-- ghp:answer {answer.id} -->"


def calling(escalation: Escalation, people: Iterable[str]) -> str:
    """How to answer on the issue itself, with mentions of the people and teams to ask."""
    called = " ".join(map(at, people))
    number = "The number of an option is enough. " if escalation.question.options else ""
    how = (
        f"To answer, write a comment here or reply by e-mail. {number}If several questions are "
        f"open, quote this one, or begin with `/agent answer {escalation.name}`."
    )
    return f"{how} {called}".rstrip()


def earlier_calling(escalation: Escalation, people: Iterable[str]) -> str:
    """The same as earlier versions wrote it, which replies may quote."""
    called = " ".join(map(at, people))
    return (
        f'Context:\n\nAnswer with `ghp agent-answer {escalation.name} "…"`.\n\n'
        "Or answer here: quote this in a reply, or start a line with `/agent answer "
        f"{escalation.name}`, then your answer. {called}"
    )


def at(account: str) -> str:
    """An account or a team as a mention."""
    return f"@{account.removeprefix('@')}"


def comment(escalation: Escalation, further: str = "") -> str:
    """A question as a comment on its issue. `further` says how to answer there; without it, people
    answer in a terminal."""
    question, rest = escalation.question, _rest(escalation)
    urgency = f", urgency {escalation.urgency}" if escalation.urgency != "normal" else ""
    parts = [
        f"{question.agent} asks ({escalation.name}{urgency}):",
        cut(indented(question.text), QUESTION_IN_COMMENT, rest),
    ]
    if question.options:
        parts.append(cut(indented(listed(question.options)), OPTIONS_IN_COMMENT, rest))
    parts += [further] if further else []
    context = _context(escalation.context, rest) if escalation.context else ""
    terminal = f'Answer with `ghp agent-answer {escalation.name} "…"`.'
    if further:
        parts += [folded("Context", context)] if context else []
        parts.append(folded("In a terminal", terminal))
    else:
        parts += [f"Context:\n\n{context}"] if context else []
        parts.append(terminal)
    parts.append(marker(escalation))
    return "\n\n".join(parts)


def _rest(escalation: Escalation) -> str:
    return f"cut; all of it: `ghp agent-escalations {escalation.name}`"


def folded(title: str, text: str) -> str:
    """Text that GitHub shows after a click on its title."""
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _context(text: str, rest: str) -> str:
    block = fence(cut(visible(text), CONTEXT_IN_COMMENT, rest))
    # If the text is only backticks, even the fence would be too long.
    return block if len(block) < CONTEXT_IN_COMMENT + 500 else f"({rest})"


def answer_comment(escalation: Escalation, answer: Answer) -> str:
    """An answer or advice as a comment on the issue of its question."""
    verb = "advises on" if answer in escalation.advice else "answers"
    text = cut(indented(answer.text), QUESTION_IN_COMMENT, _rest(escalation))
    by = visible(_name(answer.by))
    return f"{by} {verb} {escalation.name}:\n\n{text}\n\n{answer_marker(answer)}"


def outcome_marker(outcome: Outcome) -> str:
    """The hidden marker of the comment with this outcome."""
    return f"<!-- ghp:decision {outcome.id} -->"


def outcome_comment(escalation: Escalation, outcome: Outcome) -> str:
    """What was done because of an answer, as a comment on the issue of its question."""
    return f"{escalation.name}: {visible(outcome.text)}\n\n{outcome_marker(outcome)}"


def news(item: News, limit: int = ANSWER_IN_NEWS) -> str:
    """An answer for the agent that asked, in a block that names its author."""
    escalation, answer = item.escalation, item.answer
    question = escalation.question
    is_advice = answer in escalation.advice
    number = len(escalation.answers)
    further = "Answer" if number == 1 else f"The last of {number} answers"
    issue = f" on issue #{question.issue}" if question.issue else ""
    lines = [
        f"{'Advice on' if is_advice else f'{further} to'} your question {escalation.name}{issue}, "
        f"by {who(answer.by)}, {when(answer.at)}:",
        f"Question: {phrase(escalation.title)}",
    ]
    lines += [f"Option {i}. {phrase(text, 1000)}" for i, text in enumerate(question.options, 1)]
    lines.append(fence(cut(clean(answer.text), limit, _rest(escalation))))
    lines.append(f"End of the {'advice' if is_advice else 'answer'} by {who(answer.by)}.")
    if escalation.outcome and escalation.outcome.answer == answer.id:
        lines.append(f"Result: {phrase(escalation.outcome.text, RESULT_LIMIT)}")
    if is_advice:
        lines.append("This is advice only: a person or an orchestrator decides.")
    elif number > 1:
        lines.append("It replaces the earlier ones.")
    return "\n".join(lines)


def _name(actor: Actor) -> str:
    """A name at the beginning of a comment, whose footer says whether it is a person's."""
    return quoting.named(actor.name, actor.is_person).removesuffix(" (a person)").strip("«»")
