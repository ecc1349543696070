"""Evidence: facts about the current work, gathered instead of remembered.

A fact that cannot be read becomes a note, so one failure hides no other fact.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ghp_agents.core.errors import GhpError, NotFoundError, sentence
from ghp_agents.core.ids import Actor
from ghp_agents.escalations.doubtful import any_doubtful
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.git import branch_range, worktree
from ghp_agents.git.branch_range import History
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.handoffs.handoff import Handoff, Situation
from ghp_agents.hotpath.quoting import file, phrase
from ghp_agents.issues.current_issue import in_hand
from ghp_agents.issues.issue import Issue, short
from ghp_agents.ports import Context, IssueTracker, LockService, Snapshot
from ghp_agents.state.default_branch import trunk, trunk_refs
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.state.record import Problem
from ghp_agents.workspace import Workspace
from ghp_agents.world import World

if TYPE_CHECKING:
    from ghp_agents.locks.lock import Lock


class EvidenceTopic(NamedTuple):
    """The subject: an issue, or an agent's work without one."""

    actor: Actor
    number: int | None = None
    issue: Issue | None = None
    blockers: tuple[Issue, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def numbers(self) -> tuple[int | None, ...]:
        """All numbers of the issue; None without an issue."""
        return self.issue.numbers if self.issue else (self.number,)


class Branch(NamedTuple):
    """The state of a worktree's branch."""

    name: str | None = None  # None: detached
    head: str = ""
    tip: str = ""  # the commit whose history this is; usually the same
    trunk: str | None = None
    operation: str | None = None
    conflicts: tuple[str, ...] = ()
    unsent: int | None = None  # commits on no remote; None without one
    history: History = History()


class TopicFacts(NamedTuple):
    """What the state store has about a topic."""

    escalations: tuple[Escalation, ...]
    handoffs: tuple[Handoff, ...]  # the oldest first
    ledger: tuple[LedgerEntry, ...]
    notes: tuple[str, ...] = ()


def topic(ctx: Context, actor: Actor, issue: str | None) -> EvidenceTopic:
    """Return the named or the current issue, with its blockers.

    Raises NotFoundError or UsageError for a named issue that does not exist.
    """
    wanted = issue or in_hand(ctx, None if actor.is_person else actor.name)
    if wanted is None:
        return EvidenceTopic(actor)
    try:
        tracked = ctx.tracker.get(wanted)
    except NotFoundError as error:
        if issue is not None:
            raise
        return EvidenceTopic(
            actor, int(wanted), notes=(f"{sentence(error)} The branch or the agent refers to it.",)
        )
    except GhpError as error:
        number = str(wanted).removeprefix("#")
        if not (number.isascii() and number.isdigit()):
            raise
        return EvidenceTopic(actor, int(number), notes=(f"Cannot read issue #{number}: {error}",))
    blockers, notes = _blockers(ctx.tracker, tracked)
    return EvidenceTopic(actor, tracked.number, tracked, blockers, notes)


def _blockers(tracker: IssueTracker, issue: Issue) -> tuple[tuple[Issue, ...], tuple[str, ...]]:
    blockers: list[Issue] = []
    notes: list[str] = []
    for number in issue.blocked_by:
        try:
            blockers.append(tracker.get(number))
        except GhpError as error:
            notes.append(f"Cannot read #{number}, which blocks {short(issue)}: {error}")
    return tuple(blockers), tuple(notes)


def branch(ws: Workspace, commit: str | None = None) -> Branch:
    """Return the state of this worktree's branch; `commit` replaces its tip in the history."""
    if ws.place.toplevel is None:
        return Branch()
    folder = Path(ws.place.toplevel)
    head = worktree.head(folder)
    tip = commit or head
    operation = worktree.operation(ws.git_dir)
    return Branch(
        name=ws.branch,
        head=head,
        tip=tip,
        trunk=trunk(ws),
        operation=operation,
        conflicts=worktree.unmerged(folder) if operation else (),
        unsent=worktree.unsent(folder, tip) if tip else None,
        history=branch_range.between(folder, trunk_refs(ws), tip).history if tip else History(),
    )


def topic_facts(ctx: Context, about: EvidenceTopic) -> TopicFacts:
    """Read questions, handoffs and the ledger of a topic; answers of orchestrators decide."""
    from ghp_agents.escalations import service as escalation_service

    world = ctx.world
    questions, broken = escalation_service.read_all(world)
    handoffs, unread = handoffs_about(world.snapshot, about)
    notes = [
        f"Cannot read {file(problem.place)}: {phrase(problem.reason)}."
        for problem in (*broken, *unread)
    ]
    return TopicFacts(
        _asked(world, [escalation for escalation in questions if _concerns(escalation, about)]),
        tuple(handoffs),
        tuple(entry for entry in ctx.store.ledger() if _belongs(entry, about)),
        tuple(notes),
    )


def _asked(world: World, questions: Sequence[Escalation]) -> tuple[Escalation, ...]:
    """The questions; those that need no answer any more say so."""
    if not any_doubtful(questions, world.snapshot):
        return tuple(questions)  # without an import
    from ghp_agents.leases import settled_questions

    return tuple(settled_questions.marked(world, questions))


def handoffs_about(snapshot: Snapshot, about: EvidenceTopic) -> tuple[list[Handoff], list[Problem]]:
    """Return the handoffs of an issue under all its numbers, the oldest first. Without an issue:
    those from or to the actor."""
    files = {
        path: data
        for number in about.numbers
        for path, data in snapshot.files(handoff_record.folder_of(number)).items()
    }
    handoffs, problems = handoff_record.read_handoffs(files)
    if about.number is None:
        handoffs = [
            handoff for handoff in handoffs if about.actor.name in (handoff.by.name, handoff.to)
        ]
    return handoffs, problems


def held_locks(locks: LockService, actor: Actor) -> "tuple[list[Lock], str]":
    """Return the actor's locks, or why they are unknown. Those for issue numbers and for its own
    name do not count: nobody waits for them."""
    from ghp_agents.locks.lock import NUMBERS
    from ghp_agents.locks.names import AGENTS

    try:
        mine = [lock for lock in locks.list() if lock.holder == actor.name]
    except GhpError as error:
        return [], f"The held locks are unknown: {error}"
    others = [lock for lock in mine if not lock.name.startswith(AGENTS)]
    return [lock for lock in others if lock.name != NUMBERS], ""


def _concerns(escalation: Escalation, about: EvidenceTopic) -> bool:
    if escalation.question.issue is not None:
        return escalation.question.issue in about.numbers
    return about.number is None and escalation.question.agent == about.actor.name


def _belongs(entry: LedgerEntry, about: EvidenceTopic) -> bool:
    if about.number is None:
        return entry.actor == about.actor.name
    return entry.issue in about.numbers


def situation(about: EvidenceTopic, branch: Branch, questions: Iterable[Escalation]) -> Situation:
    """What a topic, its branch and its questions say about the next steps."""
    tasks_open, tasks = _tasks(about.issue) if about.issue else (0, 0)
    return Situation(
        issue=about.number,
        issue_is_closed=about.issue is not None and about.issue.state == "closed",
        operation=branch.operation,
        conflicts=len(branch.conflicts),
        unsent=branch.unsent or 0,
        waiting_for=tuple(item.name for item in questions if item.is_open),
        blocked_by=tuple(blocker.number for blocker in about.blockers if blocker.state != "closed"),
        tasks_open=tasks_open,
        tasks=tasks,
    )


def _tasks(issue: Issue) -> tuple[int, int]:
    """How many tasks of the issue are open, and how many there are."""
    from ghp_agents.issues.body_sections import outline

    read = outline(issue.body)
    return read.tasks_open, read.tasks
