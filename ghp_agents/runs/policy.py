"""What a supervisor does next: a pure function of its agents, their runs and the limits.

Each agent has at most one run at a time, and each issue belongs to one agent: the claim decides
that. So no issue is worked on twice at once.
"""

from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from ghp_agents.core.clock import ago
from ghp_agents.runs.record import ASKS, FAILED, INTERRUPTED, LIMITED, LOST, STOPPED

FIRST_WAIT = 30.0  # seconds before a failed run is repeated; doubled each time
LONGEST_WAIT = 1_800.0


class RunLimits(NamedTuple):
    """When a run is ended or not repeated; 0 means no limit."""

    silence: float = 600.0  # seconds without output
    time: float = 7_200.0  # seconds of one run
    turns: int = 0  # of one run
    cost: float = 0.0  # US dollars of all runs of an agent at an issue
    tries: int = 2  # failures in a row of one agent at one issue
    stop: float = 60.0  # seconds that an agent has to end its step after it was told to stop
    first_wait: float = FIRST_WAIT
    tokens: int = 0  # of one run


class LiveRun(NamedTuple):
    """A run that has not been settled."""

    id: str
    issue: int
    lives: bool = True  # its process
    runs_for: float = 0.0  # seconds
    silent_for: float = 0.0  # seconds
    turns: int = 0
    cost: float = 0.0  # with the earlier runs of its agent at this issue
    is_mine: bool = True  # the issue is still its agent's
    ordered_for: float | None = None  # seconds since its agent was told to stop
    has_moved: bool = False  # it printed something since then
    beat_due: bool = False
    tokens: int = 0
    is_urgent: bool = False  # it was told to stop at once


class OpenJob(NamedTuple):
    """An issue that an agent has begun, without a run now."""

    issue: int
    outcome: str  # of the last run
    failures: int = 0  # in a row
    ended_for: float = 0.0  # seconds since the last run
    is_answered: bool = False  # the question of its agent
    is_called: bool = False  # something stands in its way that a run should try
    is_hopeless: bool = False  # runs have tried that often enough
    is_left: bool = False  # a person wants no more runs for that
    is_stopped: bool = False  # a person's comment stopped the issue
    is_doubtful: bool = False  # its account may be at fault, and not the issue


class Slot(NamedTuple):
    """An agent of the supervisor."""

    agent: str
    run: LiveRun | None = None
    jobs: tuple[OpenJob, ...] = ()
    is_ordered: bool = False  # it was told to stop
    may_look: bool = True  # for work: something has changed, or enough time has passed
    taken: int = 0  # issues that it took from this supervisor
    spent: str = ""  # the budget that is used up: no run is begun


class FleetView(NamedTuple):
    """All that a decision needs."""

    slots: tuple[Slot, ...]
    limits: RunLimits
    ends: bool = False  # the supervisor was told to end
    once: bool = False  # each agent takes one issue
    unfit: Mapping[int, Set[str]] = {}  # by issue: the agents that are not to go on with it
    begins: int | None = None  # how many runs their account lets begin; None: any number


class End(NamedTuple):
    """End a run's process."""

    agent: str
    run: str
    outcome: str
    why: str


class Settle(NamedTuple):
    """Find out how a run ended whose process is gone."""

    agent: str
    run: str


class Beat(NamedTuple):
    """Report that a run's agent is alive."""

    agent: str
    run: str


class Resume(NamedTuple):
    """Start another run of an agent at its issue."""

    agent: str
    issue: int


class Take(NamedTuple):
    """Claim an issue and start a run at it."""

    agent: str
    skips: frozenset[int]


class GiveUp(NamedTuple):
    """Free the issue for another agent, or ask a person how to continue."""

    agent: str
    issue: int
    asks: bool


class Ask(NamedTuple):
    """Ask a person how to continue; the agent keeps the issue."""

    agent: str
    issue: int


class Drop(NamedTuple):
    """Save the work and free the issue, because a person's comment stopped it."""

    agent: str
    issue: int


Action = End | Settle | Beat | Resume | Take | GiveUp | Ask | Drop


def decide(scene: FleetView) -> list[Action]:
    """What to do now; at most one action for each agent. Where the account lets only some runs
    begin, those begin whose last runs ended first."""
    actions = [action for slot in scene.slots if (action := _next(slot, scene)) is not None]
    if scene.begins is None:
        return actions
    waited = {(x.agent, job.issue): job.ended_for for x in scene.slots for job in x.jobs}
    begin = [action for action in actions if isinstance(action, Resume | Take)]
    begin.sort(key=lambda x: -waited.get((x.agent, x.issue), 0.0) if isinstance(x, Resume) else 0.0)
    return [action for action in actions if action not in begin[scene.begins :]]


def is_over(scene: FleetView) -> bool:
    """Whether the supervisor has nothing more to do."""
    if any(slot.run for slot in scene.slots):
        return False
    return scene.ends or (scene.once and all(_is_done(slot) for slot in scene.slots))


def _is_done(slot: Slot) -> bool:
    waits = [job for job in slot.jobs if job.outcome in (FAILED, INTERRUPTED, LIMITED)]
    found_nothing = not slot.may_look
    return slot.is_ordered or slot.spent != "" or ((slot.taken > 0 or found_nothing) and not waits)


def _next(slot: Slot, scene: FleetView) -> Action | None:
    if slot.run:
        return _judge(slot.agent, slot.run, scene)
    if scene.ends or slot.is_ordered or slot.spent:
        return None
    takes = not (scene.once and slot.taken)
    doubtful = None
    for job in sorted(slot.jobs, key=_since_limited):
        action = _continue(slot.agent, job, scene)
        if isinstance(action, GiveUp) and job.is_doubtful and takes:
            doubtful = job.issue  # another issue tells whether this one is at fault
        elif action:
            return action
    waits = any(job.outcome == FAILED and job.issue != doubtful for job in slot.jobs)
    if waits or not slot.may_look or not takes:
        return None
    left = {issue for issue, agents in scene.unfit.items() if slot.agent in agents}
    return Take(slot.agent, frozenset(left | {job.issue for job in slot.jobs}))


def _judge(agent: str, run: LiveRun, scene: FleetView) -> Action | None:
    if not run.lives:
        return Settle(agent, run.id)
    outcome, why = next(_reasons_to_end(run, scene), ("", ""))
    if outcome:
        return End(agent, run.id, outcome, why)
    return Beat(agent, run.id) if run.beat_due else None


def _reasons_to_end(run: LiveRun, scene: FleetView) -> Iterator[tuple[str, str]]:
    limits, ordered = scene.limits, run.ordered_for
    if ordered is not None and (run.is_urgent or run.has_moved or ordered >= limits.stop):
        yield STOPPED, "its agent was told to stop"
    if scene.ends:
        yield INTERRUPTED, "its supervisor ended"
    if not run.is_mine and ordered is None:
        yield LOST, "the issue is no longer its agent's"
    if 0 < limits.silence <= run.silent_for:
        yield FAILED, f"it printed nothing for {ago(limits.silence)}"
    if 0 < limits.time <= run.runs_for:
        yield FAILED, f"it took longer than {ago(limits.time)}"
    if 0 < limits.turns < run.turns:
        yield FAILED, f"it took more than {limits.turns} turns"
    if 0 < limits.tokens < run.tokens:
        yield FAILED, f"it used more than {limits.tokens:,} tokens"
    if 0 < limits.cost < run.cost:
        yield FAILED, f"it cost more than {limits.cost:.2f} dollars"


def _continue(agent: str, job: OpenJob, scene: FleetView) -> Action | None:
    if job.is_stopped:
        return Drop(agent, job.issue)
    if job.outcome in (INTERRUPTED, LIMITED, STOPPED) or (job.outcome == ASKS and job.is_answered):
        return Resume(agent, job.issue)
    if job.outcome != FAILED or (job.is_hopeless and not job.is_called):
        return _react(agent, job)
    if job.failures >= scene.limits.tries:
        unfit = scene.unfit.get(job.issue, frozenset())
        others = {slot.agent for slot in scene.slots if not slot.is_ordered} - unfit - {agent}
        return GiveUp(agent, job.issue, asks=not others or scene.once)
    if job.ended_for >= wait_after(job.failures, scene.limits.first_wait):
        return Resume(agent, job.issue)
    return None


def _since_limited(job: OpenJob) -> float:
    """Sorts the issues whose account had to wait before the others, the one that waits longest
    first: so no issue alone decides whether the account works again."""
    return -job.ended_for if job.outcome == LIMITED else 0.0


def _react(agent: str, job: OpenJob) -> Action | None:
    """What follows for an issue whose last run had a result."""
    if job.outcome == ASKS and not job.is_left:
        return None
    if job.is_called:
        return Resume(agent, job.issue)
    return Ask(agent, job.issue) if job.is_hopeless and not job.is_left else None


def wait_after(failures: int, first: float = FIRST_WAIT) -> float:
    """Seconds to wait after so many failures in a row."""
    return min(LONGEST_WAIT, first * 2.0 ** min(max(0, failures - 1), 10))
