"""Finds the answers to agents' questions in what people write on GitHub.

A reply that quotes a question answers it, also by e-mail. So does a comment without a quotation if
only one question of the issue was open. What else may be meant as an answer is asked back about,
once for each issue.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from ghp_agents.core.errors import NotFoundError
from ghp_agents.core.ids import Timestamp
from ghp_agents.escalations import messages as escalation_text
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.github import edited_comment
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.commands import actions, parse
from ghp_agents.github.commands.inbox import HeardComment
from ghp_agents.github.commands.messages import NO_ANSWERS, PLAIN, UNKNOWN
from ghp_agents.github.commands.parse import ANSWER, Command, Mistake, QuotedReply
from ghp_agents.issues import comment_commands
from ghp_agents.issues.comment_commands import FOLDER
from ghp_agents.ports import Context
from ghp_agents.state.codec import seconds
from ghp_agents.world import World

_SHOWN = 5  # questions that a text names


class OpenQuestions:
    """The open questions of the issues, as this clone knows them now."""

    def __init__(self, ctx: Context, hub: GitHubRepository) -> None:
        self._ctx, self._hub = ctx, hub
        self._snapshot = ctx.store.snapshot()

    def may_be_answered(self, comment: HeardComment) -> bool:
        """Whether a comment may contain an answer. Sends no request."""
        parsed = comment.parsed
        return bool(parsed.replies or parsed.plain) and bool(self._of(comment))

    def answers(self, comment: HeardComment) -> list[Command | Mistake]:
        """The answers that a comment gives. Sends a request if it quotes no question.

        Raises NotFoundError if GitHub does not list the comment yet.
        """
        if not self.may_be_answered(comment):
            return []
        questions = self._of(comment)
        shown = [(question, self._comment(question)) for question in questions]
        replies = (_answer(reply, shown) for reply in comment.parsed.replies)
        answers = [answer for answer in replies if answer]
        parsed = comment.parsed
        if answers or parsed.commands or parsed.mistakes or not comment.is_typed:
            return answers
        return [*self._without_quotation(comment, questions)]

    def _without_quotation(
        self, comment: HeardComment, questions: Sequence[Escalation]
    ) -> Iterator[Command | Mistake]:
        """The answer, or what to ask back: only about questions that were there before it."""
        listed = edited_comment.listed(self._hub, comment.issue)
        if comment.id not in listed.ids:
            raise NotFoundError(f"GitHub does not list the comment {comment.id} yet.", hint="")
        before = [
            question
            for question in self._by_issue[comment.issue]
            if (question in questions or _closed_after(question, comment))
            and listed.first(escalation_text.marker(question)) < comment.id
        ]
        text, names = comment.parsed.plain, ", ".join(name.name for name in before[:_SHOWN])
        if text and len(before) == 1 and before[0] in questions:
            yield Command(ANSWER, before[0].name, text)
        elif text and before and comment.issue not in self._hinted:
            yield Mistake(PLAIN, f"if it answers one of {names}: quote that question in a reply")
        elif before and comment.issue not in self._hinted:
            yield Mistake(
                UNKNOWN, f"if it answers {names}: quote the question itself, or write no quotation"
            )

    def _of(self, comment: HeardComment) -> list[Escalation]:
        """The questions that were open when a comment was first read: also those that it answered,
        if the process was killed after that."""
        tag = actions.tag_of(comment.id)
        return [
            question
            for question in self._by_issue.get(comment.issue, ())
            if question.is_open or any(answer.where == tag for answer in question.answers)
        ]

    @cached_property
    def _by_issue(self) -> Mapping[int, list[Escalation]]:
        questions: dict[int, list[Escalation]] = {}
        for question in escalation.questions(World(self._ctx, self._snapshot)):
            if question.question.issue is not None:
                questions.setdefault(question.question.issue, []).append(question)
        return questions

    @cached_property
    def _hinted(self) -> set[int]:
        records = comment_commands.read_commands(self._snapshot.files(FOLDER))[0]
        return {
            record.issue for record in records for act in record.acts if act.command in NO_ANSWERS
        }

    def _comment(self, question: Escalation) -> str:
        people = self._ctx.ws.settings.escalate_to
        earlier = escalation_text.earlier_calling(question, people)
        now = escalation_text.calling(question, people)
        return f"{escalation_text.comment(question, now)}\n\n{earlier}"


def _closed_after(question: Escalation, comment: HeardComment) -> bool:
    """Whether a question that is answered by now was still open when a comment was written."""
    first = min((seconds(answer.at) for answer in question.answers), default=0.0)
    return bool(comment.at) and first > seconds(Timestamp(comment.at))


def _answer(
    reply: QuotedReply, questions: Sequence[tuple[Escalation, str]]
) -> Command | Mistake | None:
    meant, text = parse.meant(reply, questions)
    if len(meant) > 1:
        names = ", ".join(question.name for question in meant[:_SHOWN])
        return Mistake("a quotation", f"several questions match: {names}; name one")
    return Command(ANSWER, meant[0].name, text) if meant else None
