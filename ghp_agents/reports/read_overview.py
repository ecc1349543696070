"""Reads what the overview shows besides presence: titles, questions, leases, what was sent back.

`agent-status` reads this: each part imports its parser only if there is something to parse.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import first_line
from ghp_agents.hotpath.heartbeat import BLOCKED
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import LEASES, LIVING, AgentView
from ghp_agents.reports.overview import SENT_BACK, AgentFacts, Need, NeedKind
from ghp_agents.state.presence import issue_of, number
from ghp_agents.state.record import PULLS
from ghp_agents.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.escalations.escalation import Escalation
    from ghp_agents.issues.issue import Issue
    from ghp_agents.leases.record import LeaseHistory
    from ghp_agents.leases.wait_graph import Wait
    from ghp_agents.leases.world import LeaseWorld
    from ghp_agents.state.record import Problem

QUESTIONS = ".ghp/escalations/"
RETURNS = ".ghp/returns/"
REVIEWS = ".ghp/reviews/"
MESSAGES = ".ghp/messages/"

Needs = defaultdict[str, list[Need]]


class Team:
    """The agents as one command sees them; each part is read once, on first use.

    With `at` (seconds) they are those of a time in the past, and `ctx` has the issues of then.
    """

    def __init__(
        self,
        ctx: Context,
        snapshot: Snapshot,
        views: Sequence[AgentView],
        at: float | None = None,
    ) -> None:
        self.ctx, self.snapshot, self.views, self.at = ctx, snapshot, views, at
        self.troubles: list[GhpError] = []  # why a part is missing
        self.settled = 0  # questions without an answer that need none any more

    @cached_property
    def issues(self) -> "Sequence[Issue]":
        """The open issues as this clone knows them; not read where nobody has claimed one."""
        if not self._claimants:
            return ()
        try:
            return self.ctx.tracker.known()
        except GhpError as error:  # the rest can still be shown
            self.troubles.append(error)
            return ()

    @cached_property
    def waits(self) -> "Sequence[Wait]":
        """Who waits for whom."""
        is_blocked = self.at is None and any(issue.blocked_by for issue in self.issues)
        has_queue = self.at is None and any(log.is_waiting for log in self._lease_records[0])
        if not (is_blocked or has_queue):
            return ()
        from ghp_agents.leases import deadlocks

        try:
            return deadlocks.waits(
                self.ctx, self.snapshot, self.views, self.issues, lambda: self._world
            )
        except GhpError as error:
            self.troubles.append(error)
            return ()

    def facts(self, *, deep: bool = False, leases: bool = True) -> AgentFacts:
        """What is known; `deep` also starts git in the worktrees of agents that died or finished
        here. `leases` also counts each agent's leases."""
        needs: Needs = defaultdict(list)
        errors: dict[str, str] = {}
        self._add_questions(needs)
        budget = ""
        if self.at is None:
            self._add_returns(needs, errors)
            self._add_reviews(needs)
            self._add_overdue(needs)
            budget = self._add_budgets(needs)
        if deep:
            self._add_unsaved(needs)
            self._add_left(needs)
        snapshot = self.snapshot
        return AgentFacts(
            needs=needs,
            titles={number: issue.title for issue in self.issues for number in issue.numbers},
            leases=self._leases() if leases else {},
            errors=errors,
            pulls=self._open_pulls(),
            unknown=self._unknown(),
            unblocked=self._unblocked(),
            clones=len({tip.clone for tip in snapshot.tips()} | {snapshot.clone}),
            news_age=self.ctx.store.news_age() if self.at is None else None,
            budget=budget,
        )

    def _unknown(self) -> frozenset[int]:
        """The numbers that agents report as theirs, and that no issue has."""
        numbers = {number for view in self.views if (number := issue_of(view.presence)) is not None}
        if not numbers or self.at is not None:
            return frozenset()
        try:
            unknown = numbers - _numbers(self.ctx.tracker.known())
            return frozenset(unknown and unknown - _numbers(self.ctx.tracker.known(closed=True)))
        except GhpError:
            return frozenset()

    def _add_budgets(self, needs: Needs) -> str:
        """Agents whose budget is used up. Returns the sentence on a budget of all agents."""
        if not self.ctx.ws.settings.budgets:
            return ""
        from ghp_agents.budgets import budget, spent

        overruns = spent.used_up(self.ctx, self.snapshot)
        everybody = overruns.get(budget.EVERYBODY)
        for view in self.views:
            over = overruns.get(view.name)
            if over and not everybody and view.liveness in LIVING:
                needs[view.name].append(Need(NeedKind.BUDGET, over.words))
        return everybody.sentence if everybody else ""

    def _add_questions(self, needs: Needs) -> None:
        if not self.snapshot.present(QUESTIONS):
            return
        from ghp_agents.core.clock import to_seconds
        from ghp_agents.escalations import escalation as rules
        from ghp_agents.escalations import service as escalation

        world = World(self.ctx, self.snapshot, self.at)
        escalations = self._with_settled(world, escalation.present_questions(world))
        names, now = rules.short_names(escalations), world.now
        for question in escalations:
            if question.is_open:
                try:
                    age = max(0.0, now - to_seconds(question.asked_at))
                except (ValueError, OverflowError):  # written by hand
                    age = None
                need = Need(
                    NeedKind.QUESTION, question.title, question.urgency, age, question.name,
                    names[question.id],
                )  # fmt: skip
                needs[question.question.agent].append(need)

    def _with_settled(self, world: World, escalations: "list[Escalation]") -> "list[Escalation]":
        """The questions; those that need no answer any more say why."""
        from ghp_agents.escalations.doubtful import any_doubtful

        if not any_doubtful(escalations, self.snapshot):
            return escalations  # without an import
        from ghp_agents.leases import settled_questions

        marked = settled_questions.marked(world, escalations)
        self.settled = sum(1 for escalation in marked if escalation.settled)
        return marked

    def _add_returns(self, needs: Needs, errors: dict[str, str]) -> None:
        """Pull requests that were sent back to their agents and did not change since."""
        if not self.snapshot.present(RETURNS):
            return
        from ghp_agents.handoffs import returned_work

        claimed = self._claimants
        for entry, _ in returned_work.unresolved(
            self.ctx.ws, self.snapshot, lambda entry: entry.issue in (None, *claimed)
        ):
            name = claimed.get(entry.issue, entry.agent) if entry.issue else entry.agent
            kind = NeedKind.CONFLICT if entry.reason == "conflict" else NeedKind.CHECKS
            why = returned_work.unquoted(entry)
            about = f"#{entry.pull}"
            needs[name].append(Need(kind, why, id=about, short=about))
            errors[name] = why

    def _add_reviews(self, needs: Needs) -> None:
        """Open pull requests kept here whose reviewers requested changes."""
        if not self.snapshot.present(REVIEWS) or not self.snapshot.present(PULLS):
            return
        from ghp_agents.pulls import requested_changes

        pulls = {pull.number: pull for pull in requested_changes.local_pulls(self.snapshot)}
        for entry in requested_changes.standing(self.snapshot, pulls.values()):
            pull = pulls[entry.pull]
            author = pull.sent.by.name if pull.sent else pull.author
            name = self._claimants.get(pull.issue or 0, author)
            text, about = f"{entry.by.name}: {first_line(entry.text)}", f"#{entry.pull}"
            needs[name].append(Need(NeedKind.CHANGES, text, id=about, short=about))

    @cached_property
    def _claimants(self) -> Mapping[int | None, str]:
        """The agents by the issues that they claimed."""
        return {
            issue_of(view.presence): view.name
            for view in self.views
            if "generation" in view.presence
        }

    def _add_overdue(self, needs: Needs) -> None:
        """Requests that agents do not reply to in time; those of a group are their sender's."""
        ws, snapshot = self.ctx.ws, self.snapshot
        if not snapshot.stamps(MESSAGES):
            return
        from ghp_agents.core.ids import short_ids
        from ghp_agents.messages import service as messages
        from ghp_agents.messages.address import named
        from ghp_agents.messages.message import CLAIMED, NEW
        from ghp_agents.state.codec import seconds

        now, letters = ws.clock.now(), messages.timed_letters(self.ctx, snapshot)
        short = short_ids(letter.message.id for letter in letters)
        for letter in letters:
            message = letter.message
            late = letter.is_late(now)
            if not late or letter.is_over(now):
                continue
            limit = message.done_within if late == "done" else message.ack_within
            who = named(message.to) if not message.is_shared else [letter.holder]
            slow = [agent for agent in who if agent and letter.state_of(agent) in (NEW, CLAIMED)]
            for name in slow or [message.by.name]:
                age = now - seconds(message.at) - limit
                need = Need(
                    NeedKind.MESSAGE, message.subject, message.urgency, age, message.name,
                    f"M-{short[message.id]}",
                )  # fmt: skip
                needs[name].append(need)

    def _add_unsaved(self, needs: Needs) -> None:
        """Dead agents of this clone that left uncommitted changes."""
        from ghp_agents.core.ids import count
        from ghp_agents.git import changed_paths

        paths = self.worktrees
        for view in self.views:
            path = paths.get(view.name)
            if view.liveness is Liveness.DEAD and path:
                try:
                    changed = changed_paths.in_worktree(Path(path))
                except (GhpError, OSError):
                    continue
                if changed:
                    text = count(len(changed), "unsaved file")
                    needs[view.name].append(Need(NeedKind.DEAD, text, age=view.quiet))

    def _add_left(self, needs: Needs) -> None:
        """Agents of this clone that left work in their worktrees when they had finished."""
        if not any(view.is_here for view in self.views):
            return
        from ghp_agents.pulls.merging import left_behind

        sent_back = {name for name in needs if {x.kind for x in needs[name]} & SENT_BACK}
        for left in left_behind.find(self.ctx, self.snapshot):
            if not (left.pull and left.agent in sent_back):  # it works on what was sent back
                need = Need(
                    NeedKind.LEFT, left.details, id=f"#{left.issue}", short=left.amount,
                    command=left.command,
                )  # fmt: skip
                needs[left.agent].append(need)

    @cached_property
    def worktrees(self) -> Mapping[str, str]:
        """The paths of the worktrees of agents of this clone."""
        mine = [view for view in self.views if view.is_here]
        if not mine or self.ctx.ws.place.toplevel is None:
            return {}
        listed = self.ctx.world.checkouts
        by_name = {checkout.path.name: str(checkout.path) for checkout in reversed(listed)}
        by_branch = {checkout.branch: str(checkout.path) for checkout in listed if checkout.branch}
        paths = {
            view.name: by_branch.get(str(view.presence.get("branch")))
            or by_name.get(str(view.presence.get("worktree")))
            for view in mine
        }
        return {name: path for name, path in paths.items() if path}

    def _leases(self) -> Mapping[str, int]:
        if not self.snapshot.present(LEASES):
            return {}
        return Counter(hold.holder for hold in self._world.holds if not hold.is_person)

    @cached_property
    def _lease_records(self) -> "tuple[list[LeaseHistory], list[Problem]]":
        if not self.snapshot.present(LEASES):
            return [], []
        from ghp_agents.leases import record

        return record.read_leases(self.snapshot.present(LEASES))

    @cached_property
    def _world(self) -> "LeaseWorld":
        from ghp_agents.leases.world import LeaseWorld

        if self.at is not None:
            return LeaseWorld(self.ctx, at=self.at)
        return LeaseWorld(self.ctx, self.snapshot, self.views, self._lease_records)

    def _unblocked(self) -> Mapping[int, tuple[int, ...]]:
        """The blockers of the issues of blocked agents, where all are known and closed."""
        blocked = {
            issue_of(view.presence)
            for view in self.views
            if view.presence.get("status") == BLOCKED and "generation" in view.presence
        }
        waits = {
            number: issue.blocked_by
            for issue in (self.issues if blocked else ())
            for number in issue.numbers
            if number in blocked and issue.blocked_by
        }
        still = {number for issue in self.issues for number in issue.numbers} if waits else set()
        free = {number: by for number, by in waits.items() if still.isdisjoint(by)}
        if not free:
            return {}
        issues = self.ctx.tracker.known(closed=True)
        closed = {x for issue in issues if issue.state == "closed" for x in issue.numbers}
        return {number: by for number, by in free.items() if closed.issuperset(by)}

    def _open_pulls(self) -> frozenset[int]:
        """The pull requests of agents that can be merged, as far as known without asking."""
        reported = {number(view.presence, "pull") for view in self.views} - {0}
        if not reported or not self.snapshot.present(PULLS):
            return frozenset(reported)
        from ghp_agents.pulls.local_pulls import read_present

        pulls = read_present(self.snapshot)
        return frozenset(
            reported - {
                n
                for detail in pulls
                if detail.pull.draft or detail.pull.state != "open"
                for n in detail.numbers
            }
        )  # fmt: skip


def _numbers(issues: "Iterable[Issue]") -> set[int]:
    return {number for issue in issues for number in issue.numbers}
