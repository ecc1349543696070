"""What happens in a simulated world, step by step: claims, and the lives of those who claim."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ghp_agents.claims import service as claiming
from ghp_agents.core.errors import GhpError, RefusedError, UnknownError
from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.issues import service as issues
from ghp_agents.issues.issue import IssueChange
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claim_name
from ghp_agents.presence import service as presence
from ghp_agents.sync import push_now
from ghp_agents.sync import service as sync
from ghp_agents.workspace import Workspace
from tests.support import laws, laws_of_work
from tests.support.context import Parts, make_context
from tests.support.twins.pulls import MemoryForge
from tests.support.world import AGENTS, CLONES, PERSON, World
from tests.support.world_records import Session

ISSUES = 6
PASSING = (5.0, 60.0, 400.0, 1_000.0, 1_850.0)  # seconds


class Step(NamedTuple):
    """One thing that happens; `rival` happens in the middle of it, just before it is written."""

    kind: str
    agent: int
    clone: int
    number: int  # of the issue, or anything else that the kind needs
    rival: "Step | None" = None


Act = Callable[["Run", Step], "str | None"]


class Run:
    """A world on its way through a schedule."""

    def __init__(self, world: World, acts: Mapping[str, Act]) -> None:
        self.world = world
        self.acts = acts
        self.checked = 0
        self.holds: dict[Session, set[int]] = {}  # what each session was told that it has
        ada = Actor(PERSON, is_person=True)
        for number in range(ISSUES):
            self.world.tracker.create(IssueChange(title=f"Issue {number + 1}"), ada)
        for number, agent in enumerate(AGENTS):
            self.world.begin(agent, number % CLONES)

    def take(self, step: Step) -> None:
        """One step, and what must be true after it. Raises ViolationError."""
        self.world.rivals = [] if step.rival is None else [lambda: self._act(step.rival)]
        self._act(step)
        self.world.rivals = []
        self._send()
        for clone in self.world.clones.values():
            clone.store.look_at_files()
        new = self.world.writes[self.checked :]
        self.checked = len(self.world.writes)
        laws.check_writes(new)
        for name in {write.after.name for write in new}:
            laws.check_history(self.world.board.histories[name])

    def _send(self) -> None:
        """What silent sessions recorded is sent by processes in the background, as soon as these
        can reach the remote."""
        for number in sorted(self.world.senders):
            here, began = self.world.clones[number], self.world.clock.now()
            if here.board.reachable and not here.board.breaks_after_write:
                self.world.senders.remove(number)
                with self.by("settle", PERSON):
                    push_now.deliver(self.context(number))
                laws_of_work.check_delivered(self.world, number, began)

    def end(self) -> None:
        """All come together."""
        world = self.world
        for clone in world.clones.values():
            clone.cut(away=False)
            clone.board.breaks_after_write = clone.loses_answer = False
        for agent in AGENTS:
            if world.sessions[agent][-1].clone not in world.clones:
                _begin_in(self, agent, world.seats[0])
        for _ in range(3):
            for clone in world.clones.values():
                clone.store.sync()
                clone.locks.mend()
        laws.check_end(world)

    def _act(self, step: Step | None) -> None:
        assert step is not None
        act, step = self.acts[step.kind], step._replace(clone=self.world.seats[step.clone])
        try:
            outcome = act(self, step) or "done"
        except RefusedError:
            outcome = "refused"
        except UnknownError:
            outcome = "unknown"
        except GhpError as error:
            outcome = type(error).__name__
        self.world.counts[f"{step.kind}: {outcome}"] += 1

    # ------------------------------------------------------------------------ helpers

    def acting(self, step: Step) -> tuple[Session, Workspace] | None:
        """Who acts; one time in four an earlier life of the agent, if there is one that is awake
        and knows nothing of the later."""
        session = self.world.awake(AGENTS[step.agent], former=step.number % 4 == 0)
        if session is None:
            return None
        return session, self.world.workspace(session.clone, session.agent, session.token)

    def clone(self, step: Step) -> int:
        """The clone of a step; where there are copies, now and then one of them."""
        copies = [number for number in self.world.clones if number not in self.world.seats]
        is_copy = copies and step.number % 3 == 0
        return copies[step.number % len(copies)] if is_copy else step.clone

    def context(self, clone: int) -> Parts:
        """What a person's command has in a clone."""
        here, ws = self.world.clones[clone], self.world.workspace(clone, None)
        return make_context(ws, here.store, here.locks, self.world.tracker)

    def chosen(self, session: Session | None, step: Step) -> int:
        """An issue; more often than any other one that the agent has, or was told that it has."""
        mine = sorted(self._had(session)) if session else []
        any_one = not mine or step.number % 5 == 0
        return step.number % ISSUES + 1 if any_one else mine[step.number % len(mine)]

    def _had(self, session: Session) -> set[int]:
        now = self.world.board.leases
        held = {
            n for n in range(1, ISSUES + 1) if session.agent in laws.named(now.get(claim_name(n)))
        }
        return held | self.holds.get(session, set())

    def watch(self, issue: int) -> Callable[[], list[Lock | None]]:
        """The lease of an issue now, and later all that it was since."""
        name = claim_name(issue)
        holders: list[Lock | None] = [self.world.board.leases.get(name)]
        start = len(self.world.writes)
        return lambda: [
            *holders,
            *(w.after for w in self.world.writes[start:] if w.after.name == name),
            self.world.board.leases.get(name),
        ]

    @contextlib.contextmanager
    def by(self, how: str, who: str) -> Iterator[None]:
        """Who acts until the end of the block."""
        self.world.acting.append((how, who))
        try:
            yield
        finally:
            self.world.acting.pop()


# ------------------------------------------------------------------------ what is done


def _claim(run: Run, step: Step, *, steal: bool = False) -> str | None:
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, ws = acting
    how = "steal" if steal else "claim"
    return _claims_as(run, session.clone, ws, session.agent, session, step, how)


def _claims_as(
    run: Run,
    clone: int,
    ws: Workspace,
    who: str,
    session: Session | None,
    step: Step,
    how: str,
) -> str:
    issue = step.number % ISSUES + 1
    here, tracker = run.world.clones[clone], run.world.tracker
    states, assigned = run.watch(issue), {*tracker.get(issue).assignees}
    with run.by(how, who):
        try:
            done = claiming.claim(
                make_context(ws, here.store, here.locks, tracker), str(issue),
                steal=how == "steal",
                reason="it is urgent" if how == "steal" else "",
            )  # fmt: skip
        except RefusedError as error:
            holders = {name for lease in states() for name in laws.named(lease)}
            holders |= {name for lease in here.locks.known() for name in laws.named(lease)}
            assigned |= {*tracker.get(issue).assignees}
            laws.check_refused(error, holders, assigned | holders)
            raise
    laws.check_claimed(run.world, done.lock)
    if session:
        run.holds.setdefault(session, set()).add(issue)
    return done.how


def _next(run: Run, step: Step) -> str | None:
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, ws = acting
    here = run.world.clones[session.clone]
    with run.by("claim", session.agent):
        done = claiming.claim_next(make_context(ws, here.store, here.locks, run.world.tracker))
    laws.check_claimed(run.world, done.lock)
    run.holds.setdefault(session, set()).add(done.issue.number)
    return done.how


def _release(run: Run, step: Step, *, give: bool = False) -> str | None:
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, ws = acting
    to = AGENTS[(step.agent + 1 + step.number % 3) % len(AGENTS)] if give else None
    return _releases_as(run, session.clone, ws, session.agent, session, step, to)


def _releases_as(
    run: Run,
    clone: int,
    ws: Workspace,
    who: str,
    session: Session | None,
    step: Step,
    to: str | None = None,
) -> str:
    issue = run.chosen(session, step)
    here = run.world.clones[clone]
    with run.by("release", who):
        parts = make_context(
            ws, here.store, here.locks, run.world.tracker, forge=MemoryForge(ws.clock)
        )
        done = claiming.release(parts, str(issue), to=to)
    if session:
        run.holds.get(session, set()).discard(issue)
    return "nothing" if not done.changed else "given" if to else "released"


def _verify(run: Run, step: Step) -> str | None:
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, ws = acting
    issue = run.chosen(session, step)
    holders = run.watch(issue)
    locks = run.world.clones[session.clone].locks
    epoch = run.world.epoch(session.clone, session.agent)
    claiming.verify(make_context(ws, locks=locks), session.agent, issue)
    laws.check_guarded("verify", session, epoch, holders())
    return "holds"


def _close(run: Run, step: Step) -> str | None:
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, ws = acting
    issue = run.chosen(session, step)
    holders, here = run.watch(issue), run.world.clones[session.clone]
    epoch = run.world.epoch(session.clone, session.agent)
    with run.by("release", session.agent):
        parts = make_context(
            ws, here.store, here.locks, run.world.tracker, forge=MemoryForge(ws.clock)
        )
        done = claiming.close(parts, str(issue))
    if not done.changed:
        return "nothing"
    taken = all(lease and lease.holder is not None for lease in holders())
    if issue in run.holds.get(session, set()) and taken:
        laws.check_guarded("close", session, epoch, holders())
    run.holds.get(session, set()).discard(issue)
    return "closed"


def _reopen(run: Run, step: Step) -> None:
    ada = run.world.workspace(step.clone, None)
    issues.reopen(make_context(ada, tracker=run.world.tracker), str(step.number % ISSUES + 1))


def _person(how: str) -> Callable[[Run, Step], str | None]:
    def act(run: Run, step: Step) -> str:
        ws = run.world.workspace(step.clone, None)
        if how == "release":
            return _releases_as(run, step.clone, ws, PERSON, None, step)
        return _claims_as(run, step.clone, ws, PERSON, None, step, how)

    return act


# ------------------------------------------------------------------------ what happens


def _pass(run: Run, step: Step) -> None:
    run.world.clock.wait(PASSING[step.number % len(PASSING)])


def _beat(run: Run, step: Step) -> str | None:
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, ws = acting
    store = run.world.clones[session.clone].store
    return presence.heartbeat(
        ws, store, AgentName(session.agent), {"lastAction": f"Step {step.number}"}
    )


def _sync(run: Run, step: Step) -> str:
    number = run.clone(step)
    with run.by("settle", PERSON):
        report = sync.sync(run.context(number))
    return "unreachable" if report.trouble else "synced"


def _begin(run: Run, step: Step) -> str | None:
    """An agent starts again where it was."""
    agent = AGENTS[step.agent]
    before = run.world.sessions[agent][-1].clone
    _begin_in(run, agent, before if before in run.world.clones else step.clone)
    return None


def _move(run: Run, step: Step) -> None:
    _begin_in(run, AGENTS[step.agent], step.clone)


def _begin_in(run: Run, agent: str, clone: int) -> None:
    session = run.world.begin(agent, clone)
    ws = run.world.workspace(clone, agent, session.token)
    presence.heartbeat(ws, run.world.clones[clone].store, AgentName(agent), {})


def _sleep(run: Run, step: Step) -> str | None:
    session = run.world.awake(AGENTS[step.agent])
    if session is None:
        return "nobody"
    run.world.asleep.add(session)
    return None


def _wake(run: Run, step: Step) -> str | None:
    asleep = sorted(run.world.asleep)
    if not asleep:
        return "nobody"
    run.world.asleep.discard(asleep[step.number % len(asleep)])
    return None


def _stop(run: Run, step: Step) -> str | None:
    acting = run.acting(step)
    if acting is None:
        return "nobody"
    session, ws = acting
    store = run.world.clones[session.clone].store
    presence.heartbeat(ws, store, AgentName(session.agent), {"status": "stopped"})
    run.world.asleep.add(session)
    return None


def _cut(run: Run, step: Step) -> None:
    run.world.clones[step.clone].cut(away=True)


def _mend(run: Run, step: Step) -> None:
    here = run.world.clones[step.clone]
    here.cut(away=False)
    here.board.breaks_after_write = here.loses_answer = False


def _break(run: Run, step: Step) -> None:
    """The next write of a right from here happens, and nobody here hears of it."""
    run.world.clones[step.clone].board.breaks_after_write = True


OF_CLAIMS: dict[str, Act] = {
    "passes": _pass, "beats": _beat, "syncs": _sync, "claims": _claim, "next": _next,
    "steals": lambda run, step: _claim(run, step, steal=True),
    "releases": _release, "gives": lambda run, step: _release(run, step, give=True),
    "verifies": _verify, "closes": _close, "reopens": _reopen, "begins": _begin, "moves": _move,
    "sleeps": _sleep, "wakes": _wake, "stops": _stop, "person-claims": _person("claim"),
    "person-steals": _person("steal"), "person-releases": _person("release"), "cuts": _cut,
    "mends": _mend, "breaks": _break,
}  # fmt: skip
