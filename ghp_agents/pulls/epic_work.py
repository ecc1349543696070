"""How the parts of an epic stand: who holds each, and what it waits for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ghp_agents.claims import service as claims
from ghp_agents.claims.service import Holding
from ghp_agents.issues import epics
from ghp_agents.issues.dependencies import open_blockers
from ghp_agents.issues.issue import Issue, short
from ghp_agents.leases import settled_questions
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence.service import LIVING, AgentView
from ghp_agents.state.presence import issue_of
from ghp_agents.world import World

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.leases.wait_graph import Wait

STATES = ("closed", "started", "blocked", "open")


class PartWork(NamedTuple):
    """A part of an epic, and the work on it."""

    issue: Issue
    depth: int  # 1: the epic's own part; more: a part of a part
    state: str  # of STATES
    holding: Holding | None = None
    status: str = ""  # of the holder, if it works on this part
    waits_for: tuple[str, ...] = ()  # open issues, and leases of others
    questions: tuple[str, ...] = ()  # the open ones
    agent: str = ""  # in the past, where claims are not known: who worked on it


class EpicWork(NamedTuple):
    """An epic with its parts."""

    epic: Issue
    parts: tuple[PartWork, ...]

    @property
    def totals(self) -> dict[str, int]:
        """The number of parts in each state, and of open questions."""
        states = [part.state for part in self.parts]
        counts = {state: states.count(state) for state in STATES}
        questions = sum(len(part.questions) for part in self.parts)
        return {"parts": len(states), **counts, "questions": questions}

    @property
    def is_done(self) -> bool:
        """Whether the epic is open and its own parts are closed."""
        return epics.is_done(self.epic, self._own)

    @property
    def proposal(self) -> str:
        """The sentence that proposes to close the epic; empty if it is not done."""
        return epics.proposal(self.epic, len(self._own)) if self.is_done else ""

    @property
    def _own(self) -> list[Issue]:
        return [part.issue for part in self.parts if part.depth == 1]


def read_epic(
    ctx: Context,
    reference: str,
    snapshot: Snapshot,
    views: Sequence[AgentView],
    waits: "Iterable[Wait]",
) -> EpicWork:
    """Read an epic and the work on its parts. `waits` is who waits for whom. Raises
    NotFoundError."""
    issues = ctx.tracker.list(closed=True)
    epic = ctx.tracker.get(reference)
    holdings = claims.holdings(ctx)
    working = {view.name: view for view in views}
    open_questions = _open_questions(World(ctx, snapshot))
    held_up: dict[str, list[str]] = {}
    for wait in waits:
        if not wait.what.startswith("#"):  # issues are shown for every part
            held_up.setdefault(wait.waiter, []).append(f"{wait.what} of {wait.holder}")
    return EpicWork(
        epic,
        tuple(
            _work(part, issues, _of(part.issue, holdings), working, held_up, open_questions)
            for part in epics.parts(epic, issues)
        ),
    )


def read_past_epic(
    ctx: Context, reference: str, snapshot: Snapshot, views: Sequence[AgentView]
) -> EpicWork:
    """Read an epic as it was at the time of `ctx` and `snapshot`. Locks have no past, so a part
    counts as started if an agent worked on it then. Raises NotFoundError."""
    issues = ctx.tracker.list(closed=True)
    epic = ctx.tracker.get(reference)
    claimed = [view for view in views if "generation" in view.presence]
    working = {issue_of(view.presence): view for view in claimed if view.liveness in LIVING}
    open_questions = _open_questions(ctx.world)
    parts = [
        _work(part, issues, None, {}, {}, open_questions) for part in epics.parts(epic, issues)
    ]
    return EpicWork(epic, tuple(_at_work(part, working) for part in parts))


def _at_work(part: PartWork, working: Mapping[int | None, AgentView]) -> PartWork:
    view = next((working[number] for number in part.issue.numbers if number in working), None)
    if view is None or part.state == "closed":
        return part
    status = str(view.presence.get("status", ""))
    is_blocked = part.state == "blocked" or status == "blocked"
    state = "blocked" if is_blocked else "started"
    return part._replace(state=state, status=status, agent=view.name)


def _of(issue: Issue, holdings: Mapping[int, Holding]) -> Holding | None:
    return next((holdings[number] for number in issue.numbers if number in holdings), None)


def _work(
    part: epics.EpicPart,
    issues: Sequence[Issue],
    holding: Holding | None,
    working: Mapping[str, AgentView],
    held_up: Mapping[str, Sequence[str]],
    open_questions: Mapping[int, Sequence[str]],
) -> PartWork:
    issue = part.issue
    questions = [x for n in issue.numbers for x in open_questions.get(n, ())]
    if issue.state == "closed":
        return PartWork(issue, part.depth, "closed", questions=tuple(questions))
    view = working.get(holding.lock.holder or "") if holding and holding.state else None
    is_current = view is not None and issue_of(view.presence) in issue.numbers
    status = str(view.presence.get("status", "")) if view and is_current else ""
    waits_for = [short(blocker) for blocker in open_blockers(issue, issues)]
    waits_for += held_up.get(view.name, ()) if view and is_current else ()
    is_blocked = bool(waits_for) or status == "blocked"
    state = "blocked" if is_blocked else "started" if holding else "open"
    return PartWork(
        issue, part.depth, state, holding, status, tuple(waits_for), tuple(questions)
    )  # fmt: skip


def _open_questions(world: World) -> dict[int, list[str]]:
    """The names of open questions, by issue."""
    by_issue: dict[int, list[str]] = {}
    for escalation in settled_questions.read(world):
        if escalation.is_open and escalation.question.issue is not None:
            by_issue.setdefault(escalation.question.issue, []).append(escalation.name)
    return by_issue
