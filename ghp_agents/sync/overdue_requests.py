"""Requests that nobody begins or completes: after their sender, a person is asked, once."""

from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import DEFAULT_URGENCY, URGENCIES, Question
from ghp_agents.hotpath.quoting import file, named, phrase
from ghp_agents.messages import service as messages
from ghp_agents.messages.message import NEW, Letter, Message
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.state.codec import seconds


def ask(ctx: Context) -> list[str]:
    """Ask a person about the overdue requests of this clone's agents; return notes."""
    now, here = ctx.ws.clock.now(), {*presence.agents_here(ctx.ws)}
    notes: list[str] = []
    for letter in messages.timed_letters(ctx, ctx.store.snapshot()):
        message = letter.message
        if message.by.name not in here or message.by.is_person or not is_due(letter, now):
            continue
        urgency = message.urgency if message.urgency in URGENCIES else DEFAULT_URGENCY
        result = escalation.ask_once(ctx, question(message), urgency)
        if result.is_new:
            notes.append(f"Asked {result.escalation.name}: {result.escalation.title}")
        notes += result.notes
    return notes


def is_due(letter: Letter, now: float) -> bool:
    """Whether twice the time has passed that the sender gave. After the first half it was told, so
    that it could act."""
    if not letter.is_late(now) or letter.is_over(now):
        return False
    message = letter.message
    limits = (message.done_within, message.ack_within if letter.state == NEW else 0)
    return any(limit and now - seconds(message.at) > 2 * limit for limit in limits)


def question(message: Message) -> Question:
    """The question for a person, in the name of the sender."""
    to, by = ", ".join(map(file, message.to)), named(*message.by)
    text = (
        f"{to} does not complete {message.name}. What should {by} do?\n\n"
        f"{by} asked for {phrase(message.subject)}, and twice the time for it has passed. "
        f"`ghp agent-thread {message.name}` shows the conversation."
    )
    return Question(message.by.name, text, message.issue)
