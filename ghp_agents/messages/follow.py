"""Follow an inbox: hand over each message and notice of an agent once, as it comes.

A message counts as told after its handover. So one that is cut off is handed over again, and what
hooks told the agent meanwhile is not.
"""

import contextlib
import functools
from collections.abc import Callable
from typing import NamedTuple

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.escalations.delivered import Told, mark_told
from ghp_agents.messages import mailbox, news, record, undelivered
from ghp_agents.messages.message import Message
from ghp_agents.messages.undelivered import InboxNotice
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import wait
from ghp_agents.state.file_times import read_times

LOOK_EVERY = 1.0  # seconds between two looks at the times of a few files
READ_EVERY = 30.0  # seconds until all is read again: roles, and what was told elsewhere, may change
FIRST_PAUSE = 1.0  # seconds after a failed handover; each further one waits twice as long
TRIES = 7  # handovers of one message, within about a minute
FOLDER = "followers"  # of lock files

Item = Message | InboxNotice
HandOver = Callable[[Item], bool]


class Attempts(NamedTuple):
    """How often an item could not be handed over, and when to try again."""

    number: int = 0
    again_at: float = 0.0


class Follower:
    """Hands over what comes for an agent: in order for each sender, and at least once.

    `hand_over` returns whether it worked. If not, it is tried again, and the sender's later
    messages wait. After `TRIES`, `give_up` is called: the message stays in the inbox, and the next
    ones are handed over.
    """

    def __init__(
        self,
        ctx: Context,
        agent: AgentName,
        hand_over: HandOver,
        give_up: Callable[[Item], None],
    ) -> None:
        self._ctx, self._agent = ctx, agent
        self._hand_over, self._give_up = hand_over, give_up
        self._times: object = None
        self._stamps: object = None
        self._told = Told(ctx.ws, agent)
        self._attempts: dict[str, Attempts] = {}  # by the key of an item
        self._read_again = self._sync_again = 0.0

    def run(self, pause: Callable[[float], None]) -> None:
        """Hand over what comes until `pause` raises, or the clone is removed.

        Raises RefusedError if another process follows this inbox, GhpError if nothing can be read.
        """
        lock = self._ctx.ws.ghp_dir / FOLDER / f"{self._agent}.lock"
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(files.locked(lock, patience=0.0))
            except files.LockTimeoutError:
                raise RefusedError(
                    f"Another process follows the inbox of {self._agent}.",
                    hint="End that one first, or follow as another agent: --as NAME.",
                ) from None
            while self._ctx.ws.ghp_dir.is_dir():
                self.look()
                pause(LOOK_EVERY)

    def look(self) -> None:
        """Hand over what is new. Without a change, this costs a few stat calls."""
        ctx, now = self._ctx, self._moment()
        if now >= self._sync_again:
            self._sync()
        times = read_times(ctx.ws, presence=False)
        if times == self._times and now < self._read_again:
            return
        self._times = times
        snapshot = ctx.store.snapshot()
        stamps = snapshot.stamps(record.FOLDER)
        if stamps == self._stamps and now < self._read_again:
            return
        self._stamps, self._read_again = stamps, now + READ_EVERY
        self._deliver(snapshot)

    def _sync(self) -> None:
        is_first, before = not self._sync_again, self._ctx.ws.clock.now()
        try:
            pause = wait.sync(self._ctx, first=is_first) - before
        except (GhpError, OSError):  # what is here already can be handed over without the remote
            pause = self._ctx.ws.settings.sync_every
        self._sync_again = self._moment() + max(pause, LOOK_EVERY)

    def _deliver(self, snapshot: Snapshot) -> None:
        pending, waiting = undelivered.find(self._ctx, snapshot, self._agent), set[Actor]()
        for notice in undelivered.notices(self._ctx, snapshot, pending):
            self._hand(notice.key, functools.partial(InboxNotice, *notice))
        for message in pending.messages:
            read = functools.partial(mailbox.whole, snapshot, message)
            if message.by not in waiting and not self._hand(news.key_of(message), read):
                waiting.add(message.by)

    def _hand(self, key: str, read: Callable[[], Item]) -> bool:
        """Hand an item over if it is due; returns whether what follows it can be handed over."""
        attempts = self._attempts.get(key, Attempts())
        if attempts.number >= TRIES or key in self._told:  # maybe by a hook, a moment ago
            return True
        if self._moment() >= attempts.again_at:
            item = read()
            if self._hand_over(item):
                mark_told(self._ctx.ws, self._agent, [key])
                return True
            attempts = self._failed(key, item, attempts.number + 1)
        self._read_again = min(self._read_again, attempts.again_at)
        return False

    def _failed(self, key: str, item: Item, number: int) -> Attempts:
        pause = FIRST_PAUSE * 2 ** (number - 1)
        if number >= TRIES:
            self._give_up(item)
            pause = 0.0  # the sender's next message waits no longer
        self._attempts[key] = Attempts(number, self._moment() + pause)
        return self._attempts[key]

    def _moment(self) -> float:
        return self._ctx.ws.clock.interval()[1]
