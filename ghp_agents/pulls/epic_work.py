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
    known = ctx.tracker.list(closed=True)
    epic = ctx.tracker.get(reference)
    holdings = claims.holdings(ctx)
    working = {view.name: view for view in views}
    asked = _open_questions(ctx, snapshot)
    held_up: dict[str, list[str]] = {}
    for wait in waits:
        if not wait.what.startswith("#"):  # issues are shown for every part
            held_up.setdefault(wait.waiter, []).append(f"{wait.what} of {wait.holder}")
    return EpicWork(
        epic,
        tuple(
            _work(part, known, _of(part.issue, holdings), working, held_up, asked)
            for part in epics.parts(epic, known)
        ),
    )


def read_past_epic(
    ctx: Context, reference: str, snapshot: Snapshot, views: Sequence[AgentView]
) -> EpicWork:
    """Read an epic as it was at the time of `ctx` and `snapshot`. Locks have no past, so a part was
    started if an agent was at work on it. Raises NotFoundError."""
    known = ctx.tracker.list(closed=True)
    epic = ctx.tracker.get(reference)
    claimed = [view for view in views if "generation" in view.presence]
    working = {issue_of(view.presence): view for view in claimed if view.liveness in LIVING}
    asked = _open_questions(ctx, snapshot, past=True)
    parts = [_work(part, known, None, {}, {}, asked) for part in epics.parts(epic, known)]
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
    known: Sequence[Issue],
    holding: Holding | None,
    working: Mapping[str, AgentView],
    held_up: Mapping[str, Sequence[str]],
    asked: Mapping[int, Sequence[str]],
) -> PartWork:
    issue, questions = part.issue, [x for n in part.issue.numbers for x in asked.get(n, ())]
    if issue.state == "closed":
        return PartWork(issue, part.depth, "closed", questions=tuple(questions))
    view = working.get(holding.lease.holder or "") if holding and holding.state else None
    is_current = view is not None and issue_of(view.presence) in issue.numbers
    status = str(view.presence.get("status", "")) if view and is_current else ""
    waits_for = [short(blocker) for blocker in open_blockers(issue, known)]
    waits_for += held_up.get(view.name, ()) if view and is_current else ()
    is_blocked = bool(waits_for) or status == "blocked"
    state = "blocked" if is_blocked else "started" if holding else "open"
    return PartWork(
        issue, part.depth, state, holding, status, tuple(waits_for), tuple(questions)
    )  # fmt: skip


def _open_questions(
    ctx: Context, snapshot: Snapshot, *, past: bool = False
) -> dict[int, list[str]]:
    """The names of open questions, by issue."""
    found: dict[int, list[str]] = {}
    for escalation in settled_questions.read(ctx, snapshot, past=past):
        if escalation.is_open and escalation.question.issue is not None:
            found.setdefault(escalation.question.issue, []).append(escalation.name)
    return found
