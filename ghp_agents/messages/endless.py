"""Agents that answer each other without end: they are stopped, and a person is asked once."""

from collections.abc import Sequence

from ghp_agents.core.errors import RefusedError
from ghp_agents.escalations.escalation import Question
from ghp_agents.hotpath.quoting import file, phrase
from ghp_agents.messages import address
from ghp_agents.messages import message as rules
from ghp_agents.messages.message import Message
from ghp_agents.ports import Context

SHOWN = 4  # agents of a conversation
HINT = "Ask a person to decide: `ghp agent-escalate QUESTION`."


class EndlessError(RefusedError):
    """An agent has written too often in a conversation."""

    def __init__(self, message: str, agent: str, conversation: list[Message]) -> None:
        super().__init__(message, hint=HINT)
        self.agent, self.conversation = agent, conversation


def refuse(messages: Sequence[Message], original: Message, message: Message, most: int) -> None:
    """Raise EndlessError if the author has written `most` times since a person last wrote."""
    if rules.rounds(messages, original, message.by) >= most:
        raise EndlessError(
            f"{message.by} has written {most} times in this conversation, which is the limit.",
            message.by.name,
            rules.thread(messages, original),
        )


def ask(ctx: Context, error: EndlessError) -> RefusedError:
    """Ask a person how to continue, in the name of the agent that was stopped first. Returns the
    refusal that names the question."""
    from ghp_agents.escalations import service as escalation  # most messages do not need it

    wanted = question(error.agent, error.conversation)
    earlier = next(
        (x for x in escalation.questions(ctx.world) if x.question.text == wanted.text), None
    )
    escalated = earlier or escalation.ask_once(ctx, wanted).escalation
    return RefusedError(
        str(error),
        hint=f"A person is asked as {escalated.name}. Do other work, or begin another "
        "conversation.",
    )


def _agents(message: Message) -> list[str]:
    return [*address.named(message.to), *([] if message.by.is_person else [message.by.name])]


def question(agent: str, conversation: list[Message]) -> Question:
    """The question for a person; of both agents it has the same text."""
    first = conversation[0]
    agents = sorted({file(name) for message in conversation for name in _agents(message)})[:SHOWN]
    names = " and ".join(agents if len(agents) > 1 else [*agents, "others"])
    reply = f"`ghp agent-send {' '.join(agents)} SUBJECT --reply-to {first.name}`"
    text = (
        f"{names} do not end their conversation {first.name}. What shall they do?"
        f"\n\nIt is about {phrase(first.subject)}: `ghp agent-thread {first.name}`. "
        f"They can continue after a person's message: {reply}."
    )
    return Question(agent, text, first.issue)
