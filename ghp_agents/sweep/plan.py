"""The sweep's plan: from facts to acts, without side effects.

An act names what it was decided on (a lock, a tip), so that it can be a compare-and-swap: what has
moved meanwhile is left to the next sweep.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from ghp_agents.claims import decision
from ghp_agents.claims.decision import Board, Candidate
from ghp_agents.issues.dependencies import NEEDS_HUMAN
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
    """A held lock, and its holder's liveness."""

    lock: Lock
    state: str = "person"  # else a liveness, or unknown: the holder has no presence
    silent: float = 0.0  # seconds without a sign of life
    lapsed: bool = False  # its holder counts as dead
    gone: bool = False

    @property
    def holder(self) -> str:
        """The holder's name."""
        return self.lock.holder or ""

    @property
    def is_quiet(self) -> bool:
        """Whether its holder is silent for long and does not count as dead yet."""
        return self.state == "stale" and not self.lapsed


class LeaseOf(NamedTuple):
    """A lease of paths or a named resource whose holder is gone."""

    id: str
    holder: str
    what: str


class Silent(NamedTuple):
    """Another clone, and how long it has been silent."""

    tip: Tip
    silent: float


class OpenQuestion(NamedTuple):
    """A question, and how long it has waited."""

    name: str
    agent: str
    issue: int | None
    title: str
    waits: float


class Orphan(NamedTuple):
    """A worktree or branch of this clone without an owner."""

    kind: str  # worktree, branch
    name: str  # its path, or its name
    agent: str
    why: str  # why nobody owns it
    removable: str = ""  # why it can go: merged, saved
    kept: str = ""  # why it must stay
    branch: str = ""
    tip: str = ""  # of a branch that is removed, alone or with its worktree


class Unfinished(NamedTuple):
    """A claim that a sweep freed, killed before it made all changes visible."""

    issue: int
    lock: Lock  # as it is now


class SweepFacts(NamedTuple):
    """The facts that a sweep decides on."""

    claims: tuple[Held, ...] = ()
    issues: Mapping[int, Issue] = {}
    claimed: Mapping[str, int] = {}
    workers: tuple[Candidate, ...] = ()  # active agents, which could take over an issue
    locks: tuple[Held, ...] = ()  # locks other than claims
    leases: tuple[LeaseOf, ...] = ()
    clones: tuple[Silent, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    attempts: Mapping[int, int] = {}
    orphans: tuple[Orphan, ...] = ()
    unfinished: tuple[Unfinished, ...] = ()
    last_resorts: Mapping[int, str] = {}  # as in `decision.Board`
    left: Mapping[int, str] = {}
    stopped: Set[int] = frozenset()
    given: Set[int] = frozenset()
    person_label: str = NEEDS_HUMAN


class Warn(NamedTuple):
    """Warn on an issue that its holder is silent."""

    issue: int
    held: Held


class Recall(NamedTuple):
    """Withdraw the warning that an issue's holder is silent."""

    issue: int
    held: Held | None  # who holds it now


class Free(NamedTuple):
    """Take a claim from a dead agent; give it to another, or free it."""

    issue: int
    held: Held
    attempt: int
    to: Candidate | None = None
    gives_up: bool = False  # no further attempt: a person is asked

    @property
    def reason(self) -> str:
        """The reason in the lock's history and the ledger."""
        return f"{SWEPT_AWAY}{self.held.holder} is {self.held.state}"


class Finish(NamedTuple):
    """Make all changes of a killed sweep to a claim visible."""

    unfinished: Unfinished
    attempt: int
    gives_up: bool


class Close(NamedTuple):
    """Release the claim of a closed issue."""

    issue: int
    held: Held


class EndLease(NamedTuple):
    """End a lease of an agent that is gone."""

    lease: LeaseOf


class FreeRight(NamedTuple):
    """Release a lock of an agent that is gone."""

    held: Held


class Absorb(NamedTuple):
    """Absorb a clone that has been silent for long."""

    clone: Silent


class Prune(NamedTuple):
    """Remove an orphaned worktree or branch."""

    orphan: Orphan


class Tell(NamedTuple):
    """Report something that only a person can act on."""

    about: str  # dead, question, orphan
    issue: int | None
    text: str


Act = Warn | Recall | Free | Finish | Close | EndLease | FreeRight | Absorb | Prune | Tell


def plan(
    facts: SweepFacts,
    *,
    policy: str = RELEASE,
    max_attempts: int = 3,
    prune: bool = False,
) -> list[Act]:
    """Return the acts in order: first those that others wait for."""
    pairs = [(_issue(facts, held), held) for held in facts.claims]
    closed = [Close(x.number, held) for x, held in pairs if x and x.state == "closed"]
    open_claims = [held for x, held in pairs if x and x.state != "closed"]
    dead = [held for held in open_claims if held.lapsed]
    acts: list[Act] = [*closed, *_unfinished(facts, max_attempts)]
    acts += _alerts(facts, dead) if policy == ALERT else _freed(facts, dead, policy, max_attempts)
    acts += _warnings(facts, open_claims, policy)
    acts += _recalls(facts, open_claims, policy)
    acts += [FreeRight(held) for held in facts.locks if _is_over(held)]
    acts += [EndLease(lease) for lease in facts.leases]
    acts += [Absorb(clone) for clone in facts.clones if clone.silent >= CLONE_SILENT]
    acts += _questions(facts)
    acts += _orphans(facts, prune=prune)
    return acts


def _issue(facts: SweepFacts, held: Held) -> Issue | None:
    return facts.issues.get(facts.claimed.get(held.lock.name, 0))


def _unfinished(facts: SweepFacts, most: int) -> list[Finish]:
    counted = [(item, 1 + facts.attempts.get(item.issue, 0)) for item in facts.unfinished]
    return [Finish(x, number, x.lock.holder is None and number >= most) for x, number in counted]


def _freed(facts: SweepFacts, dead: Sequence[Held], policy: str, most: int) -> list[Free]:
    load = {worker.name: 0 for worker in facts.workers}
    for held in facts.claims:
        if held.holder in load and held not in dead:
            load[held.holder] += 1
    freed: list[Free] = []
    board = _board(facts)
    for held in dead:
        issue = _issue(facts, held)
        assert issue is not None, "only claims of open issues are freed"
        attempt = 1 + max(facts.attempts.get(number, 0) for number in issue.numbers)
        gives_up = attempt >= most
        to = None
        if policy == REASSIGN and not gives_up:
            to = _receiver(board, facts.workers, issue, held, load)
        if to:
            load[to.name] += 1
        freed.append(Free(issue.number, held, attempt, to, gives_up))
    return freed


def _board(facts: SweepFacts) -> Board:
    """The facts for the decision."""
    open_issues = {issue.id: issue for issue in facts.issues.values() if issue.state == "open"}
    return Board(
        sorted(open_issues.values(), key=lambda issue: issue.number),
        {facts.claimed[held.lock.name]: held.lock for held in facts.claims},
        {held.lock.name for held in facts.claims if not held.lapsed},
        facts.last_resorts,
        facts.stopped,
        facts.given,
        facts.person_label,
        lambda: [issue for issue in facts.issues.values() if issue.state == "closed"],
        left=facts.left,
    )


def _receiver(
    board: Board, workers: Iterable[Candidate], issue: Issue, held: Held, load: Mapping[str, int]
) -> Candidate | None:
    """Return the nearest active agent that may work on the issue; of equally near ones, the one
    with the least work."""
    able = [
        worker
        for worker in workers
        if worker.name != held.holder and not any(decision.obstacles(board, issue, worker))
    ]
    nearness = decision.nearest(board, issue) if len(able) > 1 else {}
    return min(
        able,
        key=lambda worker: (-nearness.get(worker.name, 0), load[worker.name], worker.name),
        default=None,
    )


def _alerts(facts: SweepFacts, dead: Sequence[Held]) -> list[Tell]:
    return [
        Tell("dead", facts.claimed[held.lock.name], f"{held.holder} is {held.state}")
        for held in dead
    ]


def _warnings(facts: SweepFacts, claims: Iterable[Held], policy: str) -> list[Warn]:
    """Return the warnings about silent holders; with policy `alert`, also about dead ones."""
    silent = [(_issue(facts, held), held) for held in claims if _is_silent(held, policy)]
    return [Warn(x.number, held) for x, held in silent if x and STALE_LABEL not in x.labels]


def _is_silent(held: Held, policy: str) -> bool:
    return held.is_quiet or (held.lapsed and policy == ALERT)


def _recalls(facts: SweepFacts, claims: Sequence[Held], policy: str) -> list[Recall]:
    """Return the withdrawals for issues whose stale label has no reason any more."""
    holders = {issue.number: held for held in claims if (issue := _issue(facts, held))}
    marked = sorted({item for item in facts.issues.values() if STALE_LABEL in item.labels})
    recalls: list[Recall] = []
    for issue in marked:
        held = holders.get(issue.number)
        freed = held is not None and held.lapsed and policy != ALERT  # freeing removes it, too
        if not freed and (held is None or not _is_silent(held, policy)):
            recalls.append(Recall(issue.number, held))
    return recalls


def _is_over(held: Held) -> bool:
    """Return whether to release a lock; the merge lock already when its holder is dead."""
    return held.gone or (held.lapsed and held.lock.name == TRUNK)


def _questions(facts: SweepFacts) -> list[Tell]:
    old = [item for item in facts.questions if item.waits >= QUESTION_OLD]
    return [
        Tell("question", item.issue, f"{item.name} of {item.agent}: {item.title}")
        for item in sorted(old, key=lambda item: -item.waits)
    ]


def _orphans(facts: SweepFacts, *, prune: bool) -> list[Act]:
    acts: list[Act] = []
    for orphan in facts.orphans:
        if prune and orphan.removable:
            acts.append(Prune(orphan))
        else:
            removes = f"{orphan.removable}: `ghp agent-sweep --prune` removes it"
            state = removes if orphan.removable else orphan.kept
            words = f"{orphan.kind} {orphan.name}: {orphan.why}; {state}"
            acts.append(Tell("orphan", None, words))
    return acts
