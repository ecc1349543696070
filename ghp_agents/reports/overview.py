"""The overview: what each agent does, and who needs a person. The status table, the watch and the
JSON draw from it."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from ghp_agents.core.ids import count
from ghp_agents.hotpath.heartbeat import BLOCKED, PAUSES, WAITS
from ghp_agents.presence.liveness import NO_CLIENT, Liveness
from ghp_agents.presence.service import LIVING, WAITS_FOR, AgentView
from ghp_agents.state import usage
from ghp_agents.state.presence import issue_of, number
from ghp_agents.state.usage import Use

STOPPING = "stopping"  # it was told to stop
UNBLOCKED = "unblocked"  # shown instead of `blocked` when what blocked its issue is closed
RESTING = ("idle", "done", "stopped")


class AgentGroup(StrEnum):
    """Why an agent is listed where it is, the most important first."""

    NEEDS_YOU = "needs-you"
    WORKING = "working"
    IDLE = "idle"


class NeedKind(StrEnum):
    """Why an agent needs a person, the most important first."""

    UNFINISHED = "unfinished"  # `agent-finish` failed, and its session has ended
    QUESTION = "question"  # it asked one
    PERMISSION = "permission"  # its client waits for its person
    CONFLICT = "conflict"  # its work does not merge with the main branch
    CHECKS = "checks"  # a check of its pull request failed
    CHANGES = "changes"  # a reviewer requested changes
    LEFT = "left"  # it left work behind in its worktree
    DEAD = "dead"  # it died and left a claim or unsaved work
    ENDED = "ended"  # its client has ended, and it still has a claim
    PULL = "pull"  # its pull request waits to be merged
    MESSAGE = "message"  # it does not reply to a request in time
    BUDGET = "budget"  # what it may use today is used up
    INPUT = "input"  # its turn ended, and it still has a claim


SENT_BACK = frozenset((NeedKind.CONFLICT, NeedKind.CHECKS, NeedKind.CHANGES))
URGENCIES = ("high", "normal", "low")
_KINDS = (*NeedKind,)
_DIGITS = re.compile("([0-9]+)")


class Need(NamedTuple):
    """One reason why an agent needs a person."""

    kind: NeedKind
    text: str = ""  # others' text: the question, the files in conflict, the failed check
    urgency: str = ""  # of a question
    age: float | None = None  # seconds
    id: str = ""  # of the question or the pull request
    short: str = ""  # the same as people type it: E-3f9a, #32; of work, how much it is
    command: str = ""  # what continues its work

    @property
    def rank(self) -> tuple[int, int, float]:
        """Sorts needs, the most important first; of equal ones the oldest."""
        urgency = URGENCIES.index(self.urgency) if self.urgency in URGENCIES else 1
        return _KINDS.index(self.kind), urgency, -(self.age or 0.0)


class AgentRow(NamedTuple):
    """One agent. `status`, `title`, `branch`, `worktree`, `action` and `error` are others' text."""

    name: str
    liveness: Liveness
    status: str
    needs: tuple[Need, ...] = ()  # the most important first
    issue: int | None = None  # only one that it has claimed
    title: str = ""  # of that issue
    last_seen: float | None = None  # seconds since its last heartbeat, or since that arrived here
    is_here: bool = True  # it lives in this clone
    clone: str = ""
    worktree: str = ""  # a path if it is here, else the folder's name
    branch: str = ""
    pull: int | None = None
    leases: int = 0
    error: str = ""  # the last one known: a failed check, a conflict
    action: str = ""  # what it did last
    waits_for: tuple[tuple[str, str], ...] = ()  # agents, and what each of them has
    has_no_client: bool = False  # it has ended, and no other process works for the agent
    unblocked_by: tuple[int, ...] = ()  # it reports `blocked`, but all these blockers are closed
    used: Use = usage.NOTHING  # over its sessions in its clone, as its client reports it
    reported: int | None = None  # an issue that it names and has not claimed
    is_unknown: bool = False  # no issue has the number that it names

    @property
    def state(self) -> str:
        """Its liveness, for people; of one whose client has ended, that."""
        return NO_CLIENT if self.has_no_client else self.liveness.value

    @property
    def issue_words(self) -> str:
        """Its issue for a narrow column: `#12`, or `#147?` if no issue has this number."""
        number = self.issue or (self.reported if self.is_unknown else None)
        return f"#{number}{'?' if self.is_unknown else ''}" if number else ""

    @property
    def shown_status(self) -> str:
        """Its status, corrected by the facts about its issue."""
        return UNBLOCKED if self.unblocked_by else self.status

    @property
    def unblocked_words(self) -> str:
        """That what blocked its issue is closed; empty if it is not unblocked."""
        names = ", ".join(f"#{number}" for number in self.unblocked_by)
        return names and f"{names} {'is' if len(self.unblocked_by) == 1 else 'are'} closed"

    @property
    def group(self) -> AgentGroup:
        """Where it is listed."""
        if self.needs:
            return AgentGroup.NEEDS_YOU
        rests = self.status in RESTING or self.liveness not in LIVING or self.has_no_client
        rests |= self.status == STOPPING and self.issue is None  # it has nothing to stop
        waits = self.status == "waiting" and self.action.startswith((WAITS, PAUSES))
        return AgentGroup.IDLE if rests or waits else AgentGroup.WORKING

    @property
    def question(self) -> str:
        """The id of its most important open question; empty without one."""
        ids = (need.id for need in self.needs if need.kind is NeedKind.QUESTION)
        return next(ids, "")


class AgentFacts(NamedTuple):
    """The facts about agents besides their presence, by agent or by issue."""

    needs: Mapping[str, Sequence[Need]] = {}
    titles: Mapping[int, str] = {}
    leases: Mapping[str, int] = {}
    errors: Mapping[str, str] = {}
    worktrees: Mapping[str, str] = {}  # paths
    pulls: frozenset[int] = frozenset()  # open and ready to merge
    unknown: frozenset[int] = frozenset()  # numbers that agents name, and no issue has
    unblocked: Mapping[int, tuple[int, ...]] = {}  # the closed blockers of issues without others
    clones: int = 1
    news_age: float | None = None  # seconds; None without a remote, or before the first news
    budget: str = ""  # why all agents begin nothing new: a budget of all is used up


class Totals(NamedTuple):
    """The numbers of the summary line."""

    agents: int = 0
    working: int = 0
    needs_you: int = 0
    idle: int = 0
    stale: int = 0
    dead: int = 0
    questions: int = 0
    clones: int = 1
    news_age: float | None = None
    budget: str = ""  # why nothing new is begun
    pauses: tuple[str, ...] = ()  # the accounts that agents wait for, and until when


class Overview(NamedTuple):
    """All agents, those that need a person first."""

    agents: tuple[AgentRow, ...] = ()
    totals: Totals = Totals()


def overview(views: Iterable[AgentView], facts: AgentFacts) -> Overview:
    """The overview of these agents."""
    rows = sorted((row(view, facts) for view in views), key=_order)
    return Overview(tuple(rows), _totals(rows, facts))


def row(view: AgentView, facts: AgentFacts) -> AgentRow:
    """The row of one agent, from its presence and the facts."""
    presence = view.presence
    issue = view.claimed
    status = _text(presence, "status") or "idle"
    return AgentRow(
        name=view.name,
        liveness=view.liveness,
        status=status,
        needs=tuple(sorted(_needs(view, issue, facts), key=lambda need: need.rank)),
        issue=issue,
        title=facts.titles.get(issue, "") if issue else "",
        reported=None if issue else issue_of(presence),
        is_unknown=issue_of(presence) in facts.unknown,
        last_seen=view.silent if view.is_here else view.heard,
        is_here=view.is_here,
        clone=view.clone or "",
        worktree=facts.worktrees.get(view.name) or _text(presence, "worktree"),
        branch=_text(presence, "branch"),
        pull=number(presence, "pull") or None,
        leases=facts.leases.get(view.name, 0),
        error=facts.errors.get(view.name, ""),
        action=_text(presence, "lastAction"),
        waits_for=tuple(
            (str(wait.get("agent")), str(wait.get("what")))
            for wait in _list(presence.get(WAITS_FOR))
            if isinstance(wait, dict)
        ),
        has_no_client=view.has_no_client,
        unblocked_by=facts.unblocked.get(issue or 0, ()) if status == BLOCKED else (),
        used=usage.total(usage.decode(presence).values()),
    )


def _needs(view: AgentView, issue: int | None, facts: AgentFacts) -> list[Need]:
    """The needs in the facts, and those in its presence."""
    needs = [*facts.needs.get(view.name, ())]
    kinds = {need.kind for need in needs}
    is_dead = view.liveness is Liveness.DEAD and not view.has_no_client
    if is_dead and issue and NeedKind.DEAD not in kinds:
        needs.append(Need(NeedKind.DEAD, age=view.quiet))
    pull = number(view.presence, "pull")
    if pull in facts.pulls and not kinds & SENT_BACK:
        needs.append(Need(NeedKind.PULL, id=f"#{pull}", short=f"#{pull}"))
    if view.has_ended and issue:  # nothing tells it what was sent back
        needs = [
            need._replace(command=view.continuing) if need.kind in SENT_BACK else need
            for need in needs
        ]
    status, action = _text(view.presence, "status"), _text(view.presence, "lastAction")
    if status == "waiting" and view.liveness in LIVING and action.startswith(WAITS):
        what = action.removeprefix(WAITS).removeprefix(": ")
        if what:
            needs.append(Need(NeedKind.PERMISSION, what, age=view.silent))
        elif issue and not needs:
            needs.append(Need(NeedKind.INPUT, age=view.silent))
    if view.has_ended and issue and (view.unfinished or not needs):
        kind = NeedKind.UNFINISHED if view.unfinished else NeedKind.ENDED
        needs.append(Need(kind, view.unfinished, age=view.silent, command=view.continuing))
    return needs


def _text(presence: Mapping[str, object], field: str) -> str:
    value = presence.get(field)
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _order(row: AgentRow) -> tuple[object, ...]:
    needs = row.needs[0].rank if row.needs else ()
    return (*AgentGroup,).index(row.group), needs, row.liveness not in LIVING, _natural(row.name)


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """Sorts worker-2 before worker-10."""
    parts = _DIGITS.split(name)
    return tuple((int(part), "") if part.isdecimal() else (0, part) for part in parts)


def _totals(rows: Sequence[AgentRow], facts: AgentFacts) -> Totals:
    groups = Counter(row.group for row in rows)
    livenesses = Counter(row.liveness for row in rows if not row.has_no_client)
    waiting = (row for row in rows if row.status == "waiting" and row.liveness in LIVING)
    paused = Counter(row.action for row in waiting if row.action.startswith(PAUSES))
    all_needs = (need for needs in facts.needs.values() for need in needs)
    return Totals(
        agents=len(rows),
        working=groups[AgentGroup.WORKING],
        needs_you=groups[AgentGroup.NEEDS_YOU],
        idle=groups[AgentGroup.IDLE],
        stale=livenesses[Liveness.STALE],
        dead=livenesses[Liveness.DEAD],
        questions=sum(1 for need in all_needs if need.kind is NeedKind.QUESTION),
        clones=facts.clones,
        news_age=facts.news_age,
        budget=facts.budget,
        pauses=tuple(f"{count(number, 'agent')}: {what}." for what, number in paused.items()),
    )
