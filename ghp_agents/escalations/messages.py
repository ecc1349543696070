"""Escalations and answers in words: comments on an issue, and news for the agent that asked.

All of it is text of others. It stands in quotations and blocks that name its author, so that
nobody takes it for anything else, and no comment can pass for another one's.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ghp_agents.core.ids import Actor
from ghp_agents.escalations.escalation import Answer, Escalation, listed
from ghp_agents.hotpath import quoting
from ghp_agents.hotpath.quoting import clean, cut, fence, indented, phrase, visible, when

# A comment on GitHub has at most 65,536 characters; the parts together stay below.
QUESTION_IN_COMMENT = 25_000
OPTIONS_IN_COMMENT = 10_000
CONTEXT_IN_COMMENT = 25_000
ANSWER_IN_NEWS = 20_000


class News(NamedTuple):
    """An answer that the agent has not been told of."""

    escalation: Escalation
    answer: Answer

    @property
    def id(self) -> str:
        """What to remember, so that it is told once."""
        return self.answer.id


def who(actor: Actor) -> str:
    """An author in words that nobody can choose to be: `person «Ada»`, `agent worker-1`."""
    return quoting.who(actor.name, actor.is_person)


def marker(escalation: Escalation) -> str:
    """What tells the comment with this question from all others."""
    return f"<!-- ghp:escalation {escalation.name} -->"


def answer_marker(answer: Answer) -> str:
    """What tells the comment with this answer from all others."""
    return f"<!-- ghp:answer {answer.id} -->"


def calling(escalation: Escalation, people: Iterable[str]) -> str:
    """How people answer on the issue itself, and who is asked to: logins, and teams."""
    called = " ".join(map(at, people))
    how = (
        "Or answer here: quote this in a reply, or begin a line with "
        f"`/agent answer {escalation.name}` and the answer."
    )
    return f"{how} {called}".rstrip()


def at(account: str) -> str:
    """An account or a team as it is called."""
    return f"@{account.removeprefix('@')}"


def comment(escalation: Escalation, further: str = "") -> str:
    """A question as a comment on its issue; `further` is said below it."""
    question = escalation.question
    urgency = f", urgency {escalation.urgency}" if escalation.urgency != "normal" else ""
    rest = f"cut; all of it: `ghp agent-escalations {escalation.name}`"
    parts = [
        f"{question.agent} asks ({escalation.name}{urgency}):",
        cut(indented(question.text), QUESTION_IN_COMMENT, rest),
    ]
    if question.options:
        parts.append(cut(indented(listed(question.options)), OPTIONS_IN_COMMENT, rest))
    if escalation.context:
        parts.append("Context:\n\n" + _context(escalation.context, rest))
    parts.append(f'Answer with `ghp agent-answer {escalation.name} "…"`.')
    parts += [further] if further else []
    parts.append(marker(escalation))
    return "\n\n".join(parts)


def _context(text: str, rest: str) -> str:
    block = fence(cut(visible(text), CONTEXT_IN_COMMENT, rest))
    # Of a text that is all backticks even the fence would be too long.
    return block if len(block) < CONTEXT_IN_COMMENT + 500 else f"({rest})"


def answer_comment(escalation: Escalation, answer: Answer) -> str:
    """An answer as a comment on the issue of its question; advice says that it is no more."""
    verb = "advises on" if answer in escalation.advice else "answers"
    rest = f"cut; all of it: `ghp agent-escalations {escalation.name}`"
    return "\n\n".join(
        [
            f"{visible(_capital(who(answer.by)))} {verb} {escalation.name}:",
            cut(indented(answer.text), QUESTION_IN_COMMENT, rest),
            answer_marker(answer),
        ]
    )


def news(found: News, limit: int = ANSWER_IN_NEWS) -> str:
    """An answer for the agent that asked, in a block that names its author."""
    escalation, answer = found.escalation, found.answer
    question = escalation.question
    is_advice = answer in escalation.advice
    further = "Answer" if answer in escalation.answers[:1] else "One more answer"
    counts = answer in escalation.answers[-1:]
    issue = f" on issue #{question.issue}" if question.issue else ""
    lines = [
        f"{'Advice on' if is_advice else f'{further} to'} your question {escalation.name}{issue}, "
        f"by {who(answer.by)}, {when(answer.at)}:",
        f"Question: {phrase(escalation.title)}",
    ]
    lines += [f"Option {at}. {phrase(each, 1000)}" for at, each in enumerate(question.options, 1)]
    rest = f"cut; all of it: `ghp agent-escalations {escalation.name}`"
    lines.append(fence(cut(clean(answer.text), limit, rest)))
    lines.append(f"End of the {'advice' if is_advice else 'answer'} by {who(answer.by)}.")
    if is_advice:
        lines.append("It decides nothing: a person or an orchestrator answers the question.")
    elif len(escalation.answers) > 1:
        lines.append(
            "It is the latest of several, and counts in place of those before."
            if counts
            else "It does not count any more: a later answer does."
        )
    return "\n".join(lines)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
