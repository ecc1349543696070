"""Which conversations are over: they leave what each command reads, and stay in the history."""

from collections.abc import Iterable, Sequence

from ghp_agents.messages import record
from ghp_agents.messages.message import CLAIMED, NEW, OUTCOMES, Letter, Message
from ghp_agents.state.codec import seconds
from ghp_agents.state.join import Settled


def settled(messages: Sequence[Message], letters: Iterable[Letter], before: float) -> list[Settled]:
    """The conversations that ended before a time in seconds: all messages are older, and no request
    is open, unless it had expired by then.

    `letters` are those of the messages, with the replies that count.
    """
    pending = {
        letter.message.id
        for letter in letters
        if letter.state in (NEW, CLAIMED) and not letter.is_over(before)
    }
    conversations = []
    for thread in threads(messages):
        if all(seconds(message.at) < before and message.id not in pending for message in thread):
            paths = frozenset(record.path_of(message.id) for message in thread)
            ends = [record.path_of(message.id) for message in thread if message.kind in OUTCOMES]
            conversations.append(Settled(paths.difference(ends), frozenset(ends)))
    return conversations


def threads(messages: Iterable[Message]) -> list[list[Message]]:
    """The conversations: each message with all that it answers and that answers it."""
    by_id = {message.id: message for message in messages}
    roots: dict[str, str] = {}
    for start in by_id:
        passed, current = dict[str, None](), start
        while current not in roots and current not in passed:
            passed[current] = None
            about = by_id[current].about if current in by_id else ""
            current = about or current
        root = roots.get(current) or min([*passed][[*passed].index(current) :])  # of a circle
        roots |= dict.fromkeys(passed, root)
    by_root: dict[str, list[Message]] = {}
    for identity, message in by_id.items():
        by_root.setdefault(roots[identity], []).append(message)
    return list(by_root.values())
