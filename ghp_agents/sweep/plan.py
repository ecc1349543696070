"""The sweep: what is to be done about what agents left behind. Pure: from facts to acts.

An act names what it was decided on (a lease, a tip), so that who carries it out can compare and
swap: what moved meanwhile is left to the next sweep.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ghp_agents.issues.capabilities import fits
from ghp_agents.issues.dependencies import open_blockers
from ghp_agents.issues.issue import Issue
from ghp_agents.locks.lock import Lock
from ghp_agents.state.join import Tip
from ghp_agents.state.legacy_causes import SWEPT_AWAY

ALERT, RELEASE, REASSIGN = "alert", "release", "reassign"
POLICIES = (ALERT, RELEASE, REASSIGN)
STALE_LABEL = "agent:stale"
TRUNK = "trunk"
DAY = 86_400.0
CLONE_SILENT = 30 * DAY
QUESTION_OLD = DAY


class Held(NamedTuple):
    """A right, and how its holder is."""

    lease: Lock
    state: str = "person"  # else a liveness, or unknown: nobody has heard of the holder
    silent: float = 0.0  # seconds for which it is known not to have moved
    lapsed: bool = False  # its holder is taken for dead
    gone: bool = False

    @property
    def holder(self) -> str:
        """Who holds it."""
        return self.lease.holder or ""

    @property
    def is_quiet(self) -> bool:
        """Whether its holder has not been heard of for long, and is not taken for dead."""
        return self.state == "stale" and not self.lapsed


class Worker(NamedTuple):
    """An agent that could go on with something."""

    name: str
    epoch: int
    capabilities: tuple[str, ...] = ()


class LeaseOf(NamedTuple):
    """A lease of paths or of a named resource, whose holder is gone."""

    id: str
    holder: str
    what: str


class Silent(NamedTuple):
    """Another clone, and for how long it has said nothing."""

    tip: Tip
    silent: float


class OpenQuestion(NamedTuple):
    """A question, and for how long it has waited."""

    name: str
    agent: str
    issue: int | None
    title: str
    waits: float


class Orphan(NamedTuple):
    """A worktree or a branch of this clone that nobody owns any more."""

    kind: str  # worktree, branch
    name: str  # its path, or its name
    agent: str
    why: str  # why nobody owns it
    removable: str = ""  # why it can go: merged, saved
    kept: str = ""  # why it must stay
    branch: str = ""
    tip: str = ""  # of a branch that goes, by itself or with its worktree


class Unfinished(NamedTuple):
    """A claim that a sweep took from a dead agent, and was killed before all of it showed."""

    issue: int
    lease: Lock  # as it is now


class SweepFacts(NamedTuple):
    """All that a sweep decides on."""

    claims: tuple[Held, ...] = ()
    issues: Mapping[int, Issue] = {}
    claimed: Mapping[str, int] = {}
    workers: tuple[Worker, ...] = ()  # those who live
    rights: tuple[Held, ...] = ()  # others than claims
    leases: tuple[LeaseOf, ...] = ()
    clones: tuple[Silent, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    attempts: Mapping[int, int] = {}
    orphans: tuple[Orphan, ...] = ()
    unfinished: tuple[Unfinished, ...] = ()


# --------------------------------------------------------------------------------- acts


class Warn(NamedTuple):
    """Say on an issue that its holder is silent."""

    issue: int
    held: Held


class Recall(NamedTuple):
    """Take back that the holder of an issue is silent."""

    issue: int
    held: Held | None  # who holds it now


class Free(NamedTuple):
    """Take a claim from an agent that is dead, and give it to another, or to nobody."""

    issue: int
    held: Held
    attempt: int
    to: Worker | None = None
    gives_up: bool = False  # as often as this it is not tried again: a person is asked

    @property
    def reason(self) -> str:
        """What the right's chain and the ledger keep."""
        return f"{SWEPT_AWAY}{self.held.holder} is {self.held.state}"


class Finish(NamedTuple):
    """Show all of what a sweep before this one did to a claim."""

    unfinished: Unfinished
    attempt: int
    gives_up: bool


class Close(NamedTuple):
    """Give back the claim of an issue that is closed."""

    issue: int
    held: Held


class EndLease(NamedTuple):
    """End a lease of an agent that is gone."""

    lease: LeaseOf


class FreeRight(NamedTuple):
    """Give back a right of an agent that is gone."""

    held: Held


class Absorb(NamedTuple):
    """Absorb a clone that has said nothing for long."""

    clone: Silent


class Prune(NamedTuple):
    """Remove a worktree or a branch that nobody owns."""

    orphan: Orphan


class Tell(NamedTuple):
    """Something that only a person can act on."""

    about: str  # dead, question, orphan
    issue: int | None
    text: str


Act = Warn | Recall | Free | Finish | Close | EndLease | FreeRight | Absorb | Prune | Tell


def issue_of(act: Act) -> int | None:
    """The issue that an act is about."""
    match act:
        case Warn() | Recall() | Free() | Close() | Tell():
            return act.issue
        case Finish():
            return act.unfinished.issue
        case EndLease() | FreeRight() | Absorb() | Prune():
            return None


# --------------------------------------------------------------------------------- the plan


def plan(
    facts: SweepFacts,
    *,
    policy: str = RELEASE,
    max_attempts: int = 3,
    prune: bool = False,
) -> list[Act]:
    """What is to be done, in order: first what others wait for."""
    open_claims = [held for held in facts.claims if _is_open(facts, held)]
    dead = [held for held in open_claims if held.lapsed]
    acts: list[Act] = [*_closed(facts), *_unfinished(facts, max_attempts)]
    acts += _alerts(facts, dead) if policy == ALERT else _freed(facts, dead, policy, max_attempts)
    acts += [Warn(issue, held) for issue, held in _to_warn(facts, open_claims, policy)]
    acts += _recalls(facts, open_claims, policy)
    acts += [FreeRight(held) for held in facts.rights if _is_over(held)]
    acts += [EndLease(lease) for lease in facts.leases]
    acts += [Absorb(clone) for clone in facts.clones if clone.silent >= CLONE_SILENT]
    acts += _questions(facts)
    acts += _orphans(facts, prune=prune)
    return acts


def _issue(facts: SweepFacts, held: Held) -> Issue | None:
    return facts.issues.get(facts.claimed.get(held.lease.name, 0))


def _is_open(facts: SweepFacts, held: Held) -> bool:
    issue = _issue(facts, held)
    return issue is not None and issue.state != "closed"


def _closed(facts: SweepFacts) -> list[Close]:
    found = [(held, _issue(facts, held)) for held in facts.claims]
    return [Close(issue.number, held) for held, issue in found if issue and issue.state == "closed"]


def _unfinished(facts: SweepFacts, most: int) -> list[Finish]:
    counted = [(item, 1 + facts.attempts.get(item.issue, 0)) for item in facts.unfinished]
    return [
        Finish(item, attempt, item.lease.holder is None and attempt >= most)
        for item, attempt in counted
    ]


# ------------------------------------------------------------------------------ the dead


def _freed(facts: SweepFacts, dead: Sequence[Held], policy: str, most: int) -> list[Free]:
    load = {worker.name: 0 for worker in facts.workers}
    for held in facts.claims:
        if held.holder in load and held not in dead:
            load[held.holder] += 1
    freed: list[Free] = []
    for held in dead:
        issue = _issue(facts, held)
        assert issue is not None, "only claims of open issues are freed"
        attempt = 1 + max(facts.attempts.get(number, 0) for number in issue.numbers)
        gives_up = attempt >= most
        to = None
        if policy == REASSIGN and not gives_up:
            to = _receiver(facts, issue, held, load)
        if to:
            load[to.name] += 1
        freed.append(Free(issue.number, held, attempt, to, gives_up))
    return freed


def _receiver(
    facts: SweepFacts, issue: Issue, held: Held, load: Mapping[str, int]
) -> Worker | None:
    """The least loaded of the living who can do it; nobody for what cannot go on yet, or what
    nobody who may write wants done."""
    if not issue.offered or open_blockers(issue, set(facts.issues.values())):
        return None
    able = [
        worker
        for worker in facts.workers
        if worker.name != held.holder and fits(issue, worker.capabilities)
    ]
    return min(able, key=lambda worker: (load[worker.name], worker.name), default=None)


def _alerts(facts: SweepFacts, dead: Sequence[Held]) -> list[Tell]:
    return [
        Tell("dead", facts.claimed[held.lease.name], f"{held.holder} is {held.state}")
        for held in dead
    ]


# ------------------------------------------------------------------------------ the silent


def _to_warn(facts: SweepFacts, claims: Iterable[Held], policy: str) -> list[tuple[int, Held]]:
    """What is not said yet of the silent; where nothing is done about the dead, of them, too."""
    found: list[tuple[int, Held]] = []
    for held in claims:
        issue = _issue(facts, held)
        if issue and _is_silent(held, policy) and STALE_LABEL not in issue.labels:
            found.append((issue.number, held))
    return found


def _is_silent(held: Held, policy: str) -> bool:
    return held.is_quiet or (held.lapsed and policy == ALERT)


def _recalls(facts: SweepFacts, claims: Sequence[Held], policy: str) -> list[Recall]:
    """The issues that are marked without a reason any more."""
    holders = {issue.number: held for held in claims if (issue := _issue(facts, held))}
    marked = sorted({item for item in facts.issues.values() if STALE_LABEL in item.labels})
    found: list[Recall] = []
    for issue in marked:
        held = holders.get(issue.number)
        freed = held is not None and held.lapsed and policy != ALERT  # that takes it off, too
        if not freed and (held is None or not _is_silent(held, policy)):
            found.append(Recall(issue.number, held))
    return found


# -------------------------------------------------------------------------------- the rest


def _is_over(held: Held) -> bool:
    """The trunk is waited for by all, so it is free again when its holder is dead."""
    return held.gone or (held.lapsed and held.lease.name == TRUNK)


def _questions(facts: SweepFacts) -> list[Tell]:
    old = [item for item in facts.questions if item.waits >= QUESTION_OLD]
    return [
        Tell("question", item.issue, f"{item.name} of {item.agent}: {item.title}")
        for item in sorted(old, key=lambda item: -item.waits)
    ]


def _orphans(facts: SweepFacts, *, prune: bool) -> list[Act]:
    found: list[Act] = []
    for orphan in facts.orphans:
        if prune and orphan.removable:
            found.append(Prune(orphan))
        else:
            state = orphan.removable or orphan.kept
            words = f"{orphan.kind} {orphan.name}: {orphan.why}; {state}"
            found.append(Tell("orphan", None, words))
    return found
