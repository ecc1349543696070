"""The laws of messages, asked for after every step of a simulated world."""

from collections.abc import Sequence

from ghp_agents.core.ids import Actor
from ghp_agents.escalations.delivered import delivered_ids
from ghp_agents.locks.names import INBOX
from ghp_agents.messages import address, mailbox, news, service
from ghp_agents.messages import message as rules
from ghp_agents.messages.message import CLAIMED, NEW, REPLIES, Letter, Message
from ghp_agents.messages.reply import ReplyResult
from ghp_agents.ports import Context
from ghp_agents.state.codec import seconds
from tests.support.laws import require
from tests.support.world import WITH_PROCESS, World
from tests.support.world_records import Session

ROOM = 1_500 + 60  # characters of all messages in a step, and of the line that counts the rest


def check_sent(world: World, session: Session, ctx: Context, message: Message) -> None:
    """Nobody sends without an end."""
    messages, settings = mailbox.read(ctx.ws, ctx.store.snapshot()), ctx.ws.settings
    since = ctx.ws.clock.now() - service.HOUR
    mine = [x for x in messages if x.by == message.by and x.kind not in REPLIES]
    recent = [x for x in mine if seconds(x.at) > since]
    law = "no agent sends more than the limit in an hour"
    require(len(recent) <= settings.messages_per_hour, law, session, len(recent))
    original = next((x for x in messages if x.id == message.about), None)
    rounds = rules.rounds(messages, original, message.by) if original else 0
    law = "no agent answers without an end"
    require(rounds <= settings.max_rounds, law, session, message, rounds)


def check_told(
    world: World, session: Session, ctx: Context, texts: Sequence[tuple[str, str]]
) -> None:
    """What an agent reads at a step: for it, in order, in time, not too long, and never before."""
    before = world.told.setdefault((session.clone, session.agent), [])
    by_id = {item.id: item for item in mailbox.read(ctx.ws, ctx.store.snapshot())}
    room = ROOM
    for text, key in texts:
        require(not key or key not in before, "nothing is told twice", session, key)
        before.append(key)
        identity, _, is_late = key.removeprefix(news.KEY).partition("/")
        message = by_id.get(identity)
        if message is None:
            require(not key, "what is told is a message", session, key)
        elif is_late:
            require(message.by.name == session.agent, "the sender is told", session, key)
        else:
            _check_message(ctx, session, message, by_id)
        room -= 0 if is_late else len(text) + 1
    require(room >= 0, "a step has a bound", session, texts)
    _check_order(
        session, [by_id[x] for key in before if (x := key.removeprefix(news.KEY)) in by_id]
    )


def _check_message(
    ctx: Context, session: Session, message: Message, by_id: dict[str, Message]
) -> None:
    require(not _is_over(message, ctx), "nobody is told what has expired", message)
    (roles,) = [service.roles_of(ctx, ctx.store.snapshot(), session.agent)]
    original = by_id.get(message.about)
    is_answer = message.kind in REPLIES and original and original.by.name == session.agent
    is_mine = is_answer or address.reaches(message.to, roles)
    require(is_mine, "an agent is told what is for it", session, message)


def _is_over(message: Message, ctx: Context) -> bool:
    return 0 < message.expires < ctx.ws.clock.now() - seconds(message.at)


def _check_order(session: Session, messages: Sequence[Message]) -> None:
    """Of notes to the agent itself: a request can become open again, and a time can be set back."""
    last: dict[tuple[Actor, str], int] = {}
    for x in messages:
        if x.kind == "note" and session.agent in x.to and not x.expires:
            clock = last.get((x.by, x.clone), 0)
            require(x.clock > clock, "a sender's notes come in order", session, x, clock)
            last[x.by, x.clone] = x.clock


def check_claimed(world: World, session: Session, result: ReplyResult) -> None:
    """Of a group, who was told that it has a message is the holder of that generation."""
    message, reply = result.letter.message, result.reply
    if not message.is_shared:
        return
    history = world.board.histories.get(f"{INBOX}{message.id}", [])
    holders = {x.holder for x in history if x.generation == reply.claim}
    require(holders == {session.agent}, "one of a group has a message", session, reply, holders)


def check_heard(world: World, session: Session, ctx: Context) -> None:
    """In the end, an agent was told of all that is for it, and of what came of its requests."""
    snapshot, now = ctx.store.snapshot(), ctx.ws.clock.now()
    delivered = delivered_ids(ctx.ws, ctx.ws.agent())
    letters = service.known_letters(ctx, snapshot)
    by_id = {x.message.id: x for x in letters}
    for message in world.letters:
        letter = by_id.get(message.id)
        require(letter is not None, "no message is lost", session, message)
        assert letter is not None
        state = letter.state if message.is_shared else letter.state_of(session.agent)
        is_open = not message.wants_work or state == NEW
        if session.agent in message.to and is_open and not _is_over(message, ctx):
            is_delivered = news.key_of(message) in delivered
            require(is_delivered, "each message is delivered", session, message)
    mine = [x for x in letters if x.message.by == Actor(session.agent)]
    for letter in mine:
        for reply in letter.replies:
            is_delivered = news.key_of(reply) in delivered
            require(is_delivered, "each reply is delivered", session, letter, reply)
        late = letter.is_late(now)
        if late and not _is_over(letter.message, ctx):
            is_delivered = f"{news.key_of(letter.message)}/{late}" in delivered
            require(is_delivered, "who asked is told what is overdue", session, letter)


def check_claims(ctx: Context) -> None:
    """The replies of at most one agent of a group count: of who holds the message."""
    locks = {lock.name: lock for lock in ctx.locks.known(INBOX)}
    for letter in service.known_letters(ctx, ctx.store.snapshot()):
        if letter.message.is_shared and letter.replies:
            lock = locks[f"{INBOX}{letter.message.id}"]
            who = {(x.by.name, x.claim) for x in letter.replies}
            law = "only the replies of the holder count"
            require(who == {(lock.holder, lock.generation)}, law, letter, lock)


def check_lapsed(session: Session, letters: Sequence[Letter]) -> None:
    """Nobody else was heard of for long: what they had claimed is open again."""
    for letter in letters:
        if letter.message.is_shared and letter.state == CLAIMED:
            lives = letter.holder in (session.agent, *WITH_PROCESS)
            require(lives, "the claim of a dead agent lapses", session, letter)
