"""A simulated fleet: the supervisors of several machines, their agents, and thousands of issues.

What happens is chance. What is decided is decided by the package: who may take an issue
(`claims.decision`, `claims.claim`), who is given one (`jobs.dispatch_plan`), and what a supervisor
does next (`runs.policy`). Each clone acts on what it heard last, and the world compares and swaps.
"""

from collections.abc import Sequence
from dataclasses import replace

from ghp_agents.claims import claim, decision
from ghp_agents.claims.decision import Candidate
from ghp_agents.core.ids import Timestamp
from ghp_agents.issues.capabilities import missing
from ghp_agents.issues.issue import Issue
from ghp_agents.jobs import dispatch_plan
from ghp_agents.jobs.explanation import Agent
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claim_name
from ghp_agents.runs import policy, record
from ghp_agents.runs.policy import FleetView, LiveRun, OpenJob, Slot
from tests.support.fleet_parts import (
    DISPATCH_EVERY,
    LIMITS,
    LOOK_EVERY,
    NEVER,
    PATIENCE,
    SWEEP_EVERY,
    TICK,
    Clone,
    LawError,
    Run,
)
from tests.support.fleet_world import FleetWorld


class Fleet(FleetWorld):
    """`step` passes one tick; a law that does not hold raises LawError."""

    def step(self) -> None:
        """Pass one tick."""
        self.now += 1
        if self.now <= self.size.trouble:
            self._trouble()
        for clone in self.clones:
            self._work(clone)
        self._answer()
        for clone in self.clones:
            if self._is_connected(clone):
                self._sync(clone)
        someone = self.chance.choice(self.clones)
        if self._is_connected(someone):
            if self.now % DISPATCH_EVERY == 0:
                self._dispatch(someone)
            if self.now % SWEEP_EVERY == 0:
                self._sweep(someone)
        for clone in self.chance.sample(self.clones, len(self.clones)):
            if self._is_supervised(clone):
                self._supervise(clone)
        self._check_nothing_runs_twice()

    # ------------------------------------------------------- dispatch and sweep

    def _dispatch(self, clone: Clone) -> None:
        agents = self._agents(clone)
        limits = dispatch_plan.Limits(self.size.per_agent)
        for assignment in dispatch_plan.plan(clone.board, agents, self.given, limits).assignments:
            number = assignment.issue.number
            to = (assignment.to,) if assignment.to else ()
            self.issues[number] = self.issues[number]._replace(assignees=to)
            self.given[number] = assignment.to
            self._note("give", number, assignment.to)
        self._sync(clone)
        self._check_nobody_has_too_much(clone)
        self._check_nothing_is_left(clone, agents)

    def _sweep(self, clone: Clone) -> None:
        """Free what the dead hold."""
        for number, lock in [*clone.claims.items()]:
            if lock.name not in clone.board.living:
                self._free(number)
                self._note("sweep", number)
        self._sync(clone)

    def _free(self, number: int) -> None:
        del self.claims[number]
        self.issues[number] = self.issues[number]._replace(assignees=())

    # --------------------------------------------------------------- supervisors

    def _supervise(self, clone: Clone) -> None:
        slots = tuple(self._slot(clone, name) for name in clone.capabilities)
        self.looks += len(slots)
        for action in policy.decide(FleetView(slots, LIMITS, unfit=self._unfit(clone))):
            self._act(clone, action)
        for run in clone.live.values():
            if run.lives and (run.age * TICK >= LIMITS.time or run.silent * TICK >= LIMITS.silence):
                raise LawError(f"{run} is beyond a limit")
        if self._is_connected(clone):
            for name in clone.capabilities:
                self._check_work_is_begun(clone, name)

    def _unfit(self, clone: Clone) -> dict[int, set[str]]:
        """Who cannot go on with an issue: nobody after the second agent that failed."""
        unfit: dict[int, set[str]] = {}
        for runs in clone.ended.values():
            for number, run in runs.items():
                failed = run.outcome == record.FAILED and run.failures >= LIMITS.tries
                if failed and self._holds(clone, run.agent, number):
                    issue = self.issues.get(number)
                    can = clone.capabilities.items()
                    unfit[number] = (
                        {*clone.capabilities}
                        if number in self.handed_over
                        else {name for name, words in can if issue and missing(issue, words)}
                    )
        return unfit

    def _slot(self, clone: Clone, agent: str) -> Slot:
        run = clone.live.get(agent)
        jobs = [
            OpenJob(x.issue, x.outcome, x.failures, (self.now - x.ended) * TICK)
            for x in clone.ended.get(agent, {}).values()
            if self._holds(clone, agent, x.issue)
        ]
        return Slot(agent, self._live(clone, run) if run else None, tuple(jobs))

    def _live(self, clone: Clone, run: Run) -> LiveRun:
        mine = self._holds(clone, run.agent, run.issue)
        return LiveRun(
            str(run.id), run.issue, run.lives, run.age * TICK, run.silent * TICK, run.turns,
            is_mine=mine,
        )  # fmt: skip

    def _act(self, clone: Clone, action: policy.Action) -> None:
        match action:
            case policy.Settle(agent, _):
                self._settle(clone, clone.live[agent], record.FAILED)
            case policy.End(agent, _, outcome, _):
                self._end(clone.live[agent])
                self._settle(clone, clone.live[agent], outcome)
            case policy.Take(agent, skips):
                self._take(clone, agent, skips)
            case policy.Resume(agent, issue):
                if clone.ended[agent][issue].failures >= LIMITS.tries:
                    raise LawError(f"{agent} tries #{issue} once more")
                self._start(clone, agent, issue)
            case policy.GiveUp(agent, issue, asks) if self._is_connected(clone):
                self._give_up(clone, agent, issue, asks=asks)

    def _settle(self, clone: Clone, run: Run, outcome: str) -> None:
        self._note("settle", run.id, run.agent, outcome, run.has_result)
        del clone.live[run.agent]
        if not run.has_result:
            run.outcome, run.ended = outcome, self.now
            clone.ended.setdefault(run.agent, {})[run.issue] = run

    def _take(self, clone: Clone, agent: str, skips: frozenset[int]) -> None:
        who = Candidate(agent, 1, clone.name, clone.capabilities[agent])
        issue = self._choose(clone, who, skips)
        if issue is None or not self._is_connected(clone):
            return
        number = issue.number
        local, now = clone.claims.get(number), self.claims.get(number)
        lives = local is not None and local.name in clone.board.living
        if self._is_late(local, now) or number not in self.issues:
            return
        if claim.standing(local, agent, 1, clone.name, lives=lives) not in ("free", "lapsed"):
            raise LawError(f"{agent} chose #{number}, which it cannot claim")
        self.generations[number] += 1
        lock = Lock(
            claim_name(number), agent, self.generations[number], 1, Timestamp(""), "",
            clone=clone.name,
        )  # fmt: skip
        self.claims[number] = clone.claims[number] = lock
        clone.living.add(lock.name)
        self.gave_up.pop(number, None)
        self.issues[number] = self.issues[number]._replace(assignees=(agent,))
        self._start(clone, agent, number)

    def _is_late(self, local: Lock | None, now: Lock | None) -> bool:
        """Whether somebody was faster: the comparison of the swap."""
        return local != now

    def _choose(self, clone: Clone, who: Candidate, skips: frozenset[int]) -> Issue | None:
        """The decision's choice. What is assigned comes first, so the rest is looked at rarely."""
        mine = replace(clone.board, issues=clone.given.get(who.name, []))
        mine.__dict__["by_number"] = clone.board.by_number
        looks = self.chance.random() < 1 / LOOK_EVERY
        for board in (mine, clone.board) if looks else (mine,):
            ready = [x for x in decision.workable(board, who) if x.number not in skips]
            if ready:
                return decision.best(board, ready, who)
        return None

    def _start(self, clone: Clone, agent: str, issue: int) -> None:
        if agent in clone.live:
            raise LawError(f"{agent} has two runs")
        chance = self.chance
        before = clone.ended.get(agent, {}).get(issue)
        stalls = chance.random() < 0.05
        self.starts += 1
        run = Run(
            self.starts, agent, issue, self.generations[issue], chance.randint(3, 60),
            issue in self.poisoned or chance.random() < 0.1,
            chance.randint(2, 20) if stalls else NEVER,
            before.failures if before else 0,
        )  # fmt: skip
        clone.live[agent] = run
        self.processes.setdefault(issue, []).append(run)
        self._note("start", run.id, agent, issue)

    def _give_up(self, clone: Clone, agent: str, issue: int, *, asks: bool) -> None:
        if self.claims.get(issue) != clone.claims[issue]:
            return  # lost, and not heard yet
        clone.ended[agent][issue].outcome = record.ESCALATED if asks else record.HANDED_OVER
        if asks:
            self.asked[issue] = f"E-{issue}"
            self.questions += 1
            self.handed_over.pop(issue, None)
        else:
            self.handed_over[issue] = self.gave_up[issue] = agent
        self._free(issue)
        del clone.claims[issue]
        self._note("give up", agent, issue, asks)

    # ---------------------------------------------------------------------- laws

    def _check_nothing_runs_twice(self) -> None:
        """Machines that hear each other run an issue once."""
        for issue, runs in self.processes.items():
            if len(runs) > 1:
                heard = [run for run in runs if self._hears(self.home[run.agent])]
                if len(heard) > 1:
                    raise LawError(f"#{issue} runs twice: {heard}")

    def _hears(self, clone: Clone) -> bool:
        return self._is_connected(clone) and clone.news_at.get(clone.name) == self.now

    def _check_nobody_has_too_much(self, clone: Clone) -> None:
        """A dispatch leaves nobody alive with more than allowed that another one gave."""
        given: dict[str, set[int]] = {}
        for issue in clone.board.issues:
            for name in issue.assignees:
                if self.given.get(issue.number) == name and not clone.board.claim_of(issue):
                    given.setdefault(name, set()).add(issue.number)
        for name, numbers in given.items():
            claimed = sum(lock.holder == name for lock in clone.claims.values())
            if len(numbers) > max(0, self.size.per_agent - claimed) and self._lives(clone, name):
                raise LawError(f"{name} has {claimed} issues and was given {numbers}")

    def _check_nothing_is_left(self, clone: Clone, agents: Sequence[Agent]) -> None:
        """After a dispatch, nobody without work is able to do what has no agent."""
        busy = {lock.holder for lock in clone.claims.values()}
        busy |= {name for issue in clone.board.issues for name in issue.assignees}
        free = [x.candidate for x in agents if x.is_alive and x.candidate.name not in busy]
        for who in self.chance.sample(free, min(1, len(free))):
            for issue in decision.workable(clone.board, who):
                if not issue.assignees and not clone.board.claim_of(issue):
                    raise LawError(f"#{issue.number} waits, and {who.name} is free")

    def _check_work_is_begun(self, clone: Clone, agent: str) -> None:
        """An agent begins what it was given."""
        who = Candidate(agent, 1, clone.name, clone.capabilities[agent])
        is_idle = agent not in clone.live and not self._waits(clone, agent)
        if is_idle and any(
            next(decision.obstacles(clone.board, issue, who), None) is None
            for issue in clone.given.get(agent, ())
        ):
            self._left_alone[agent] = self._left_alone.get(agent, 0) + 1
            if self._left_alone[agent] > PATIENCE:
                raise LawError(f"{agent} does not begin {clone.given[agent]}")
        else:
            self._left_alone.pop(agent, None)

    def _waits(self, clone: Clone, agent: str) -> bool:
        """For its next try."""
        runs = clone.ended.get(agent, {}).values()
        return any(x.outcome == record.FAILED and self._holds(clone, agent, x.issue) for x in runs)
