"""Requests that nobody begins or completes: after their sender, a person is asked, once."""

from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import DEFAULT_URGENCY, URGENCIES, Question
from ghp_agents.hotpath.quoting import file, named, phrase
from ghp_agents.messages import record
from ghp_agents.messages import service as messages
from ghp_agents.messages.message import NEW, Letter, Message
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.state.codec import seconds
from ghp_agents.state.sender_budget import SenderBudget
from ghp_agents.world import World


def ask(ctx: Context, budget: SenderBudget | None = None) -> list[str]:
    """Ask a person about the overdue requests of this clone's agents; return notes. `budget` bounds
    those that another clone has written."""
    now, here = ctx.ws.clock.now(), {*presence.agents_here(ctx.ws)}
    snapshot = ctx.store.snapshot()
    budget = budget or SenderBudget(snapshot)
    late = [
        letter.message for letter in messages.timed_letters(ctx, snapshot) if is_due(letter, now)
    ]
    mine = [x for x in late if x.by.name in here and not x.by.is_person]
    if not mine:
        return []
    wanted = {question(message): message for message in mine}
    new = budget.first(
        "overdue requests",
        escalation.unasked(World(ctx, snapshot), wanted),
        lambda about: budget.writers(record.path_of(wanted[about].id)),
    )
    results = escalation.ask_all(ctx, [(about, _urgency(wanted[about])) for about in new])
    titles = [f"Asked {x.escalation.name}: {x.escalation.title}" for x in results if x.is_new]
    return [*titles, *(note for result in results for note in result.notes)]


def _urgency(message: Message) -> str:
    return message.urgency if message.urgency in URGENCIES else DEFAULT_URGENCY


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
