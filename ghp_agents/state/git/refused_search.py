"""Finds the record that the remote refuses, sets it aside, and sends the rest.

Prefixes of what is unsent are pushed, so each accepted one is progress. The server's words choose
which prefix is tried first; only its answers decide. First it must accept a commit without content:
otherwise it refuses this clone's ref, and no record is to blame.
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from ghp_agents.core.errors import StateMovedError
from ghp_agents.state import refusal
from ghp_agents.state.git import fold, read, rewrite, set_aside
from ghp_agents.state.git.rewrite import StateCommit
from ghp_agents.state.join import SetAside
from ghp_agents.state.new_commits import NewCommit, write_commits
from ghp_agents.state.private_repo import StateRepository
from ghp_agents.state.remote import Pushed, PushOutcome
from ghp_agents.workspace import Workspace

MOST_PUSHES = 16  # of one exchange; the next one goes on
MOVES = 200  # attempts to move the ref, where locks are impossible
PROBE = "probe: does the remote accept this clone's ref?"

Send = Callable[[str], Pushed]  # push a commit to this clone's ref


class SearchOutcome(NamedTuple):
    """The answer to the last push, and what was found."""

    pushed: Pushed
    sent: bool = False  # something was accepted
    notes: tuple[str, ...] = ()
    refused: int = 0  # records that were set aside


class _SearchEndedError(Exception):
    """The answer that ends the search."""

    def __init__(self, pushed: Pushed) -> None:
        self.pushed = pushed


def send_rest(
    ws: Workspace, repository: StateRepository, send: Send, head: str, pushed: Pushed
) -> SearchOutcome:
    """Search after the push of `head` was refused. Raises GitError, OSError, StateMovedError."""
    search = _Search(ws, repository, send, pushed)
    try:
        while search.last.answer is PushOutcome.REFUSED:
            head = search.take_out(head)
            search.try_to(head)
    except _SearchEndedError as stop:
        search.last = stop.pushed
    return SearchOutcome(search.last, search.is_accepted, tuple(search.notes), search.refused)


class _Search:
    """One search; every push is a try."""

    def __init__(
        self, ws: Workspace, repository: StateRepository, send: Send, pushed: Pushed
    ) -> None:
        self._ws, self._repository, self._send = ws, repository, send
        self.last = pushed
        self.is_accepted = False
        self.notes: list[str] = []
        self.refused = 0
        self._left = MOST_PUSHES

    def try_to(self, oid: str) -> bool:
        """Whether the remote accepts a commit. Raises _SearchEndedError if it gives no answer."""
        if not self._left:
            words = "still looking for the record that the remote refuses"
            raise _SearchEndedError(Pushed(PushOutcome.UNKNOWN, words))
        self._left -= 1
        answer = self._send(oid)
        if answer.answer is PushOutcome.DONE:
            self.is_accepted = True
            self.last = answer
            return True
        if not _may_search(answer):
            raise _SearchEndedError(answer)
        self.last = answer
        return False

    def take_out(self, refused: str) -> str:
        """Find the first commit that is refused on the way to `refused`, and take it out. Returns
        the clone's new commit."""
        pushed, line = self.last, self._unsent()
        places = [place for place, commit in enumerate(line) if commit.oid == refused]
        low, high = 0, places[0] + 1 if places else len(line)
        named = refusal.named(pushed.lines, [commit.oids for commit in line])
        while high - low > 1 or not self.is_accepted:
            if not self.is_accepted and not any(low < place < high for place in named):
                self._prove(pushed)
                line = self._unsent()
                continue
            middle = _next(low, high, named)
            if self.try_to(line[middle - 1].oid):
                low = middle
            else:
                high, pushed = middle, self.last
        return self._remove(line[low], pushed)

    def _prove(self, pushed: Pushed) -> None:
        """Show that the remote accepts this clone's ref at all. Raises _SearchEndedError if not."""
        now = self._ws.clock.now()
        (own,) = read.tips(self._repository)[:1]
        message = f"{PROBE}\n\nClock: {own.clock}\nClone: {own.clone}\n"
        probe = NewCommit(message, {}, None, now)
        sent = self._repository.commit_at(self._repository.sent_ref)
        first, *_ = self._unsent()
        oid = first.oid
        if not first.message.startswith(PROBE):  # else the remote refused it before
            oid = write_commits(self._repository, sent, [probe], now)
            self._move(lambda line: rewrite.rewrite(self._repository, oid, line, now))
        if not self.try_to(oid):
            raise _SearchEndedError(pushed)

    def _remove(self, commit: StateCommit, pushed: Pushed) -> str:
        actions: frozenset[str] = frozenset()
        without = {commit.oid}
        record = rewrite.record_of(self._repository, commit)
        if record:
            kept = set_aside.put(self._ws, record, pushed)
            self.refused += 1
            self.notes.append(f"Set aside {describe(kept)}: the remote refused it.")
        elif commit.is_presence:
            actions, without = rewrite.actions_of(self._repository, commit), set()
            if not actions:
                raise _SearchEndedError(pushed)
            set_aside.refuse_actions(self._ws, actions)
            self.notes.append("Removed the text of a last action: the remote refused it.")
        elif commit.is_observation:
            self.notes.append("Left out what was seen elsewhere: the remote refused its text.")
        elif not commit.is_compaction:
            raise _SearchEndedError(pushed)
        return self._move(lambda line: self._without(line, without, actions))

    def _without(
        self, line: Sequence[StateCommit], without: Collection[str], actions: Collection[str]
    ) -> str | None:
        repository, now = self._repository, self._ws.clock.now()
        sent = repository.commit_at(repository.sent_ref)
        return rewrite.rewrite(repository, sent, line, now, without=without, actions=actions)

    def _unsent(self) -> list[StateCommit]:
        return rewrite.unsent(self._repository, self._head())

    def _head(self) -> str:
        head = self._repository.commit_at(self._repository.ref)
        assert head is not None, "something was pushed"
        return head

    def _move(self, change: Callable[[Sequence[StateCommit]], str | None]) -> str:
        """Move the clone's ref to the unsent commits as `change` rewrites them."""
        for _ in range(MOVES):
            with fold.state_lock(self._ws) as held:
                head = self._head()
                new = change(rewrite.unsent(self._repository, head))
                assert new is not None, "something was accepted before"
                if self._repository.point(self._repository.ref, new, head, held):
                    return new
        raise StateMovedError


def _next(low: int, high: int, named: Sequence[int]) -> int:
    """The length of the prefix to try: up to what the server names, then with it; else half."""
    wanted = (length for place in named for length in (place, place + 1))
    return next((length for length in wanted if low < length < high), (low + high) // 2)


def _may_search(pushed: Pushed) -> bool:
    return pushed.about_ref and refusal.may_be_about_records(pushed.words)


def describe(kept: SetAside) -> str:
    """A record that was set aside, in words."""
    record = kept.record
    issue = f" (#{record.issue})" if record.issue else ""
    return f"{kept.id}, {record.event} {record.object} by {record.actor.name}{issue}"
