"""Supervise runs: look at the processes and the records, ask the policy, and do what it says.

All that counts is in the records of the runs. A killed supervisor loses nothing: the next one reads
them, and continues with the processes that still run.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from typing import NamedTuple

from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.handoffs import left_work
from ghp_agents.hotpath import heartbeat
from ghp_agents.presence import process_reports, stopping, wait
from ghp_agents.runs import (
    fleet_records,
    folder,
    give_up,
    launch,
    outcome,
    policy,
    processes,
    reaction,
    record,
    watched_run,
)
from ghp_agents.runs.accounts.gate import AccountGate
from ghp_agents.runs.fleet_records import FleetRecords, FreedIssues
from ghp_agents.runs.host_news import HostWatch
from ghp_agents.runs.launch import Make, RunCommand
from ghp_agents.runs.logs.system_log import SystemLog
from ghp_agents.runs.policy import FleetView, LiveRun, OpenJob, RunLimits, Slot
from ghp_agents.runs.reaction import Reaction
from ghp_agents.runs.record import ENDED, ESCALATED, FAILED, HANDED_OVER, INTERRUPTED, RunRecord
from ghp_agents.runs.spending import Spending
from ghp_agents.runs.stream import ClientProgress
from ghp_agents.runs.watched_run import WatchedRun
from ghp_agents.state.file_times import read_times
from ghp_agents.workspace import Workspace

TICK = 1.0  # seconds between two looks at the processes
READ_EVERY = 2.0  # seconds between two looks at changed records
SEND_AFTER = 2.0  # seconds until the records of a run in a sandbox are sent
LOOK_EVERY = 5.0  # seconds between two looks for work, when something has changed
LOOK_ANYWAY = 60.0
BEAT_EVERY = 20.0
Tell = Callable[[str], None]


class Plan(NamedTuple):
    """What a supervisor is asked to do."""

    agents: tuple[str, ...]
    command: RunCommand
    limits: RunLimits
    once: bool = False


class Supervisor:
    """The runs of some agents of this clone."""

    def __init__(self, ws: Workspace, make: Make, plan: Plan, tell: Tell) -> None:
        self._ws, self._make, self._plan = ws, make, plan
        self._tell = SystemLog(ws, tell)
        self._ctx = make(ws.root, plan.agents[0])
        self._ends = False
        self.given_up = 0  # issues
        self.unusable = ""  # why its client cannot start at all
        self._runs: dict[str, RunRecord] = {}
        self._watched: dict[str, WatchedRun] = {}
        self._taken = dict.fromkeys(plan.agents, 0)
        self._nothing = dict.fromkeys(plan.agents, "")  # why an agent found no work
        self._times: object = None
        self._read_at = self._sync_at = -1e9
        self._blocked: dict[str, float] = {}  # by agent: when to try again after an error
        self._looked: dict[str, tuple[float, object]] = {}
        self._records, self._freed = FleetRecords(), FreedIssues()
        self._cannot: dict[str, set[str]] = {}  # by run: the agents that cannot continue its issue
        self._host = HostWatch()
        self._spending = Spending(self._ctx, self._tell)
        self.gate = AccountGate(ws, plan.command, make, self._tell)

    def end(self) -> None:
        """End the runs and then this supervisor; the next one continues them."""
        self._ends = True

    def forget_children(self) -> None:
        """Reap the processes that have ended; the others keep running."""
        for watched in self._watched.values():
            if watched.child is not None:
                watched.child.poll()

    def run(self) -> None:
        """Supervise until there is nothing more to do. Raises RefusedError if another supervisor
        has one of the agents."""
        with ExitStack() as held:
            for agent in self._plan.agents:
                held.enter_context(folder.alone(self._ws, agent))
            self.adopt()
            try:
                while not self.step():
                    self._ws.clock.wait(TICK)
            finally:
                self._leave()

    def step(self) -> bool:
        """Look once and act; returns whether nothing more is to do."""
        self._exchange()
        self._read()
        mine = (run for run in self._last() if self._records.claims.get(run.issue) == run.agent)
        if self._host.look(self._ctx, mine, self._now, self._tell):
            self._times = None
        scene = self._scene()
        actions = policy.decide(scene)
        # What has ended is settled before another agent finds its issue free.
        for action in sorted(actions, key=lambda x: isinstance(x, policy.Take)):
            if self._now < self._blocked.get(action.agent, 0.0):
                continue
            try:
                self._act(action)
            except (GhpError, OSError) as error:
                self._tell(f"{action.agent}: {error}", agent=action.agent, is_error=True)
                self._blocked[action.agent] = self._now + LOOK_ANYWAY
        return not actions and policy.is_over(scene)

    # ------------------------------------------------------------ what is known

    @property
    def _now(self) -> float:
        return self._ws.clock.interval()[1]

    def _exchange(self) -> None:
        """Tell other clones whose processes run, and hear of new work."""
        if self._now < self._sync_at:
            return
        self._sync_at = self._now + self._ws.settings.sync_every
        try:
            process_reports.report_processes(self._ws)
            left_work.save(self._ctx)
            due = wait.sync(self._ctx, first=True) - self._ws.clock.now()
            self._sync_at = self._now + max(1.0, due)
        except (GhpError, OSError) as error:
            self._tell(f"Not synced: {error}", is_error=True)

    def _read(self) -> None:
        """Read claims, orders and answers, if a record has changed."""
        if self._now < self._read_at + READ_EVERY:
            return
        self._read_at = self._now
        if (times := read_times(self._ws)) == self._times:
            return
        self._times = times
        if self._plan.command.boxed:
            self._sync_at = min(self._sync_at, self._now + SEND_AFTER)
        last, news = self._last(), self._host.news
        self._records = fleet_records.read(self._ctx, self._plan.agents, last, news)

    def _last(self) -> list[RunRecord]:
        """The last run of each agent at each issue."""
        return list({(run.agent, run.issue): run for run in self._runs.values()}.values())

    def _scene(self) -> FleetView:
        last = self._last()
        slots = tuple(self._slot(agent, last) for agent in self._plan.agents)
        begins = self.gate.begins(run for run in last if run.state != ENDED)
        self.gate.show(x.agent for x in slots if x.run is None and not x.is_ordered)
        return FleetView(
            slots, self._plan.limits, self._ends, self._plan.once, self._unfit(last), begins
        )

    def _unfit(self, last: Iterable[RunRecord]) -> dict[int, set[str]]:
        """The agents that may not continue, by issue: all where a person wants that, and all after
        the second agent that fails."""
        unfit = {issue: {*self._plan.agents} for issue in self._records.left}
        for run in last:
            failed = run.outcome == FAILED and run.failures >= self._plan.limits.tries
            if failed and self._records.claims.get(run.issue) == run.agent:
                if run.id not in self._cannot:
                    self._cannot[run.id] = give_up.unfit(self._ctx, run.issue, self._plan.agents)
                unfit[run.issue] = self._cannot[run.id]
        return unfit

    def _slot(self, agent: str, last: Iterable[RunRecord]) -> Slot:
        mine = [run for run in last if run.agent == agent]
        live = next((run for run in mine if run.state != ENDED), None)
        claims, reactions = self._records.claims, self._reactions()
        jobs = [run for run in mine if run.state == ENDED and claims.get(run.issue) == agent]
        looked, times = self._looked.get(agent, (-1e9, None))
        gap = LOOK_ANYWAY if times == self._times else LOOK_EVERY
        return Slot(
            agent, self._live(live) if live else None,
            tuple(self._job(run, reactions.get(run.issue)) for run in jobs),
            agent in self._records.orders, self._now >= looked + gap, self._taken[agent],
            self._spending.of(agent),
        )  # fmt: skip

    def _reactions(self) -> Mapping[int, Reaction]:
        return reaction.choose(self._records.causes, self._runs.values())

    def _job(self, run: RunRecord, called: Reaction | None) -> OpenJob:
        same_boot = run.boot == self._ws.clock.interval()[0]
        ended_for = self._now - run.ended if same_boot else 1e9
        answered = run.id in self._records.answered
        return OpenJob(
            run.issue, run.outcome, run.failures, ended_for, answered,
            bool(called and called.causes), bool(called and called.hopeless),
            run.issue in self._records.left,
            (run.agent, run.issue) in self._records.stopped,
            self._looked.get(run.agent, (-1e9, None))[0] < run.ended and self.gate.is_doubtful(run),
        )  # fmt: skip

    def _live(self, run: RunRecord) -> LiveRun:
        watched = self._watched[run.id]
        self._listen(run, watched)
        now, progress = self._now, watched.progress
        self.gate.saw(run, progress, now - watched.began)
        is_stopped = (run.agent, run.issue) in self._records.stopped
        order = self._records.orders.get(run.agent)
        if (is_stopped or order) and watched.ordered is None:
            watched.ordered = now
        earlier = [x.cost for x in self._runs.values()
                   if (x.agent, x.issue) == (run.agent, run.issue) and x.id != run.id]  # fmt: skip
        return LiveRun(
            run.id, run.issue, watched.lives(run), now - watched.began, now - watched.spoke,
            progress.turns, progress.cost + sum(earlier),
            self._records.claims.get(run.issue, run.agent) == run.agent,
            None if watched.ordered is None else now - watched.ordered,
            watched.ordered is not None and watched.spoke > watched.ordered,
            watched.spoke > watched.beaten and now >= watched.beaten + BEAT_EVERY, progress.tokens,
            order is not None and order.is_urgent,
        )  # fmt: skip

    def _listen(self, run: RunRecord, watched: WatchedRun) -> None:
        """Read what the client printed."""
        if watched.listen(self._now):  # its session is needed to resume it
            self._keep(run._replace(session=watched.progress.session))

    # ------------------------------------------------------------ what is done

    def _act(self, action: policy.Action) -> None:
        match action:
            case policy.Beat(_, run):
                self._beat(self._runs[run])
            case policy.Settle(_, run):
                self._settle(self._runs[run], None)
            case policy.End(_, run, kind, why):
                processes.end(self._runs[run], self._ws.clock.wait)
                self._settle(self._runs[run], outcome.RunOutcome(kind, why))
            case policy.Take(agent, skips):
                self._take(agent, skips)
            case policy.Resume(agent, issue):
                self._start(agent, issue, frozenset(), self._last_of(agent, issue))
            case policy.GiveUp(agent, issue, asks):
                self._give_up(self._last_of(agent, issue), asks=asks)
            case policy.Ask(agent, issue):
                self._ask(self._last_of(agent, issue))
            case policy.Drop(agent, issue):
                name = give_up.drop(self._make(self._ws.root, agent), agent, issue)
                self._tell(f"{agent} freed #{issue}: a comment stopped it. Its work is in {name}.")
        if not isinstance(action, policy.Beat):
            self._read_at = self._sync_at = -1e9  # others wait for it

    def _beat(self, run: RunRecord) -> None:
        self._watched[run.id].beaten = self._now
        ws = self._ws
        with suppress(OSError):
            heartbeat.beat(
                ws.folders, run.agent, {}, ws.clock.now(), progress=True,
                throttle=ws.settings.throttle, moment=ws.clock.interval(),
            )  # fmt: skip

    def _take(self, agent: str, skips: frozenset[int]) -> None:
        ended = folder.read_all(self._ws)  # also those of other supervisors
        skips |= self._freed.young(ended, self._records.claims, self._now)
        try:
            self._start(agent, None, skips, None)
        except RefusedError as nothing:
            if str(nothing) != self._nothing[agent]:
                self._tell(f"{agent}: {nothing}", agent=agent)
            self._nothing[agent] = str(nothing)
        self._looked[agent] = (self._now, read_times(self._ws))

    def _start(
        self, agent: str, issue: int | None, skips: frozenset[int], before: RunRecord | None
    ) -> None:
        ctx = self._make(self._ws.root, agent)
        started = launch.prepare(self._make, ctx.ws, agent, issue, skips)
        number = started.claimed.issue.number
        if before is None:
            self._taken[agent] += 1
            before = next((run for run in self._last()
                           if (run.agent, run.issue) == (agent, number)), None)  # fmt: skip
        called = self._reactions().get(number)
        launched = launch.launch(
            self._make, ctx.ws, self._plan.command, started, before, called, self.gate.account.key
        )
        run = launched.run
        self._runs[run.id] = run
        self._watched[run.id] = WatchedRun(self._ws, run, launched.child, self._now)
        self._nothing[agent] = ""
        again = f", try {run.tries + 1}" if run.tries else ""
        title = started.claimed.issue.title
        self._tell(f"{agent} began {run.name}: #{run.issue} «{title}»{again}.", run)
        if called and called.causes:
            self._tell(f"It was started again for this: {called.words}.", run)
        for note in launched.notes:
            self._tell(note, run)
        if launched.child is None:
            self._judge(run, ClientProgress(), 0.0, outcome.NOT_EXECUTED[0])

    def _settle(self, run: RunRecord, ended: outcome.RunOutcome | None) -> None:
        """Record how a run ended. What its agent left behind counts more than why it was ended."""
        watched = self._watched[run.id]
        self._listen(run, watched)
        progress, seconds = watched.end(run), max(0.0, self._now - watched.began)
        run = watched.settled(self._make, self._ws, self._runs[run.id])
        if ended is not None and run.outcome == FAILED:
            run = run._replace(outcome=ended.kind, why=ended.why)
        code = folder.exit_code(watched.place)
        run = self._judge(run._replace(ended=self._now), progress, seconds, code)
        self._spending.add(run, seconds)
        with suppress(OSError):
            launch.rest(self._ws, run.agent)
        processes.end(run, self._ws.clock.wait)
        if watched.child is not None:
            watched.child.kill()  # it has ended; this reaps it
        words = f"{run.agent} ended {run.name}, #{run.issue}: {run.outcome}: {run.why}."
        self._tell(words, run, is_error=run.outcome == FAILED)
        if order := self._records.orders.get(run.agent):
            ctx = self._make(self._ws.root, run.agent)
            for saved, is_error in give_up.save_stopped(ctx, run, order):
                self._tell(saved, run, is_error=is_error)
        folder.forget_oldest(self._ws)

    def _judge(
        self, run: RunRecord, progress: ClientProgress, seconds: float, code: int | None
    ) -> RunRecord:
        """Keep a run that has ended, with what it tells of its account. If its client cannot start,
        all runs end: that is nobody's failure, so it uses up no try."""
        if outcome.never_began(run, code, progress, seconds):
            self.unusable, self._ends = run.why, True
            self._keep(give_up.unbegun(self._make(self._ws.root, run.agent), run))
        else:
            for judged in self.gate.judged(run, progress, seconds, self._last()):
                self._keep(judged)
        return self._runs[run.id]

    def _give_up(self, run: RunRecord, *, asks: bool) -> None:
        ctx = self._make(self._ws.root, run.agent)
        question = give_up.ask(ctx, run) if asks else ""
        handoff = give_up.free(ctx, run, question)
        self._keep(run._replace(outcome=ESCALATED if asks else HANDED_OVER))
        self.given_up += 1
        then = f"asked a person, {question}" if asks else "left it to another agent"
        self._tell(f"{run.agent} gave up on #{run.issue} and {then}. {handoff}", run, is_error=True)

    def _ask(self, run: RunRecord) -> None:
        """Ask a person about what runs did not fix."""
        called = self._reactions()[run.issue]
        question = give_up.ask_about(self._make(self._ws.root, run.agent), run, called)
        self._keep(run._replace(outcome=record.ASKS))
        about = f"about #{run.issue}: {called.words}"
        self._tell(f"{run.agent} asks a person, {question}, {about}.", run)

    def _last_of(self, agent: str, issue: int) -> RunRecord:
        return next(run for run in self._last() if (run.agent, run.issue) == (agent, issue))

    def _keep(self, run: RunRecord) -> None:
        self._runs[run.id] = run
        folder.write(self._ws, run)

    # ------------------------------------------------------------ begin and end

    def adopt(self) -> None:
        """Go on with the runs of a supervisor that was killed."""
        for run in folder.read_all(self._ws):
            if run.task:
                continue  # it needs no supervisor
            if run.agent not in self._plan.agents:
                if watched_run.fence(self._ws, run):
                    self._tell(f"Ended {run.name} of {run.agent}: its supervisor is gone.", run)
                continue
            self._runs[run.id] = run
            self._watched[run.id] = WatchedRun(self._ws, run, None, self._now)
            if run.state == ENDED:
                continue
            if processes.lives(run):
                self._tell(f"{run.agent} continues {run.name}, #{run.issue}.", run)
            elif run.state == record.STARTING:
                processes.end_rest(run.id)
                self._keep(run._replace(state=ENDED, outcome=INTERRUPTED, why="it did not begin"))

    def _leave(self) -> None:
        """Agents without a run stop with their supervisor; their issues stay theirs."""
        busy = {run.agent for run in self._runs.values() if run.state != ENDED}
        for agent in self._plan.agents:
            presence = self._ws.presence(agent)
            if agent not in busy and presence and presence.get("status") != "stopped":
                with suppress(OSError):
                    stopping.mark(self._ws, agent, presence)
