"""What decides whether an entry of the ledger concerns an agent."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from ghp_agents.claims.claim import fence_of
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Escalation, Outcome, Question
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.issues import record as issue_record
from ghp_agents.issues.issue import Issue
from ghp_agents.issues.record import IssueEvent
from ghp_agents.leases import record as lease_record
from ghp_agents.leases import service as leases
from ghp_agents.leases.hold import Waiter
from ghp_agents.leases.record import LeaseHistory
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import stopping
from ghp_agents.state.codec import order
from ghp_agents.state.events import ASSIGNEE, HOLDER
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.state.presence import issue_of
from ghp_agents.world import World


class NewsView:
    """What an agent has, and what entries are compared with; each is read on first use."""

    def __init__(
        self, ctx: Context, snapshot: Snapshot, agent: AgentName, entries: Sequence[LedgerEntry]
    ) -> None:
        self.ctx, self.snapshot, self.agent, self.entries = ctx, snapshot, agent, entries

    @cached_property
    def all_issues(self) -> Sequence[Issue]:
        """All issues as this clone knows them."""
        return self.ctx.tracker.known(closed=True)

    @cached_property
    def issues(self) -> Mapping[int, Issue]:
        """All issues, by each of their numbers."""
        return {number: issue for issue in self.all_issues for number in issue.numbers}

    def issue(self, number: int | None) -> Issue | None:
        """An issue by a number. Most are open, and to read all of years takes a second."""
        return self._open.get(number or 0) or self.issues.get(number or 0)

    @cached_property
    def _open(self) -> Mapping[int, Issue]:
        return {number: issue for issue in self.ctx.tracker.known() for number in issue.numbers}

    @cached_property
    def claims(self) -> Mapping[int, Lock]:
        """All claims."""
        return self.ctx.world.claims

    @cached_property
    def held(self) -> Mapping[int, Lock]:
        """The claims of the agent."""
        return self.ctx.world.held_by(Actor(self.agent))

    def manages(self, epic: Issue, entry: LedgerEntry) -> bool:
        """Whether the agent manages an epic, and did so before the entry."""
        if self.held.keys().isdisjoint(epic.numbers):
            return self.agent in epic.assignees or self.is_current(epic.number)
        return all(self.is_since_claim(entry, number) for number in epic.numbers)

    def is_managed(self, epic: Issue) -> bool:
        """Whether an agent is assigned to an epic, or holds it."""
        claims = [lock for number in epic.numbers if (lock := self.claims.get(number))]
        is_held = any(not lock.is_person for lock in claims)
        return is_held or any(map(is_name, epic.assignees))

    def is_mine(self, entry: LedgerEntry) -> bool:
        """Whether the agent works on the issue of an entry, and did so before the entry."""
        issue = self.issues.get(entry.issue or 0)
        if issue is None:
            return False
        is_held = not self.held.keys().isdisjoint(issue.numbers)
        if is_held:
            return all(self.is_since_claim(entry, number) for number in issue.numbers)
        is_current = self.is_current(entry.issue) and not self.is_lost(entry.issue)
        return is_current or self.agent in issue.assignees

    def is_current(self, number: int | None) -> bool:
        """Whether the agent's presence shows the issue."""
        issue = self.issues.get(number or 0)
        current = issue_of(self.ctx.ws.presence(self.agent) or {})
        return issue is not None and current in issue.numbers

    def has_begun(self, number: int | None) -> bool:
        """Whether the agent works on the issue under its present claim."""
        lock, presence = self.held.get(number or 0), self.ctx.ws.presence(self.agent) or {}
        is_same = lock is not None and presence.get("generation") == lock.generation
        return is_same and self.is_current(number)

    def is_lost(self, number: int | None) -> bool:
        """Whether the agent lost its claim of the issue, which is news of its own."""
        issue, presence = self.issues.get(number or 0), self.ctx.ws.presence(self.agent) or {}
        locks = self.ctx.world.claim_locks
        fence = fence_of(locks, self.agent, presence, self.ctx.locks.clone)
        return issue is not None and fence is not None and fence.issue in issue.numbers

    def is_since_claim(self, entry: LedgerEntry, number: int) -> bool:
        """Whether an entry follows the agent's claim of an issue."""
        lock = self.held.get(number)
        claims = [claim for claim in self.entries if lock and _is_claim(claim, number, lock)]
        return not claims or order(entry) > order(claims[-1])

    def record(self, entry: LedgerEntry) -> IssueEvent | None:
        """The record of an issue; None if it is not in this state, or unreadable."""
        issue = self.issue(entry.issue)
        if issue is None:
            return None
        folder = f"{issue_record.FOLDER}{issue.id}/"
        path = f"{folder}{entry.id}.json"
        content = self.snapshot.files(folder).get(path)
        try:
            return issue_record.decode(path, content) if content else None
        except ValueError:
            return None

    def assignees(self, entry: LedgerEntry) -> tuple[Sequence[str], Sequence[str]]:
        """The assignees that an entry added, and those that it removed."""
        event = self.record(entry)
        if event is None:
            return (), ()
        return event.added.get("assignees", ()), event.removed.get("assignees", ())

    def is_assignment(self, entry: LedgerEntry) -> bool:
        """Whether an entry assigned an open issue to the agent, which it still is assigned to."""
        is_assigning = ASSIGNEE in entry.kind.concerns
        issue = self._open.get(entry.issue or 0) if is_assigning else None
        is_mine = issue is not None and self.agent in issue.assignees
        return is_mine and self.agent in self.assignees(entry)[0]

    @cached_property
    def is_stopped(self) -> bool:
        """Whether the agent must stop; the order itself says what becomes of its issues."""
        return self.agent in stopping.in_force(self.ctx, self.snapshot)

    @cached_property
    def waiters(self) -> Mapping[str, Waiter]:
        """The queue for leases, by the displayed id of the record."""
        world = LeaseWorld(self.ctx, self.snapshot)
        return {f"L-{waiter.request.id}": waiter for waiter in leases.queue(world)}

    @cached_property
    def own_leases(self) -> Mapping[str, LeaseHistory]:
        """All leases of the agent, by the displayed id of the record."""
        leases, _ = lease_record.read_leases(self.snapshot.files(lease_record.FOLDER))
        return {f"L-{log.id}": log for log in leases if log.holder == Actor(self.agent)}

    @cached_property
    def escalations(self) -> Sequence[Escalation]:
        """All questions with their answers."""
        return escalation.questions(World(self.ctx, self.snapshot))

    @property
    def questions(self) -> Mapping[str, Question]:
        """All questions, by name."""
        return {escalation.name: escalation.question for escalation in self.escalations}

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """What was done because of answers, by id."""
        return {
            outcome.id: outcome for question in self.escalations for outcome in question.outcomes
        }

    def was_given(self, number: int | None) -> bool:
        """Whether somebody gave the issue to the agent since the baseline."""
        return any(entry.issue == number and self.is_gift(entry) for entry in self.entries)

    def is_gift(self, entry: LedgerEntry) -> bool:
        """Whether by an entry somebody else gave the agent a claim that it still holds."""
        lock = self.held.get(entry.issue or 0)
        is_own = not entry.is_person and entry.actor == self.agent
        return lock is not None and not is_own and _is_claim(entry, entry.issue, lock)


def _is_claim(entry: LedgerEntry, number: int | None, lock: Lock) -> bool:
    is_same = (entry.issue, entry.generation) == (number, lock.generation)
    return HOLDER in entry.kind.concerns and is_same
