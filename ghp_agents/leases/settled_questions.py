"""Open questions that need no answer any more: the leases or claims that they are about have ended,
or their issue is closed and nobody waits for the answer.

This is the only place that decides it: what shows or counts open questions reads them here. It is
derived when it is read; only what a clone cannot see of a branch is recorded. A right that somebody
gets later is another one, so what has ended never comes back. A question of an issue is open again
if the issue is opened again, or if its agent starts again.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress

from ghp_agents.core.errors import GhpError
from ghp_agents.core.fields import ID
from ghp_agents.core.ids import IssueNumber
from ghp_agents.escalations import doubtful
from ghp_agents.escalations import record as escalation_record
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.delivered import SETTLED
from ghp_agents.escalations.escalation import Escalation, Question
from ghp_agents.git import worktree
from ghp_agents.git.process import GitError
from ghp_agents.hotpath.quoting import file, named, phrase
from ghp_agents.leases import record
from ghp_agents.leases.decisions import why_over
from ghp_agents.locks.names import PREFIX, claimed_issue
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import stopping
from ghp_agents.state import known_branches
from ghp_agents.state.cause import CIRCLE, DISPUTED, OVERLAP, OWNERS, TAKEN_OUT, WANTED_FILE
from ghp_agents.world import World

KINDS = (WANTED_FILE, OVERLAP, CIRCLE)
MOST = 50  # rights of one question; one with more stays open
_LEASE = re.compile(f"L-({ID})")
_CLAIM = re.compile(rf"({re.escape(PREFIX)}[0-9]{{1,10}})@([0-9]{{1,18}})")


def read(world: World) -> list[Escalation]:
    """All questions, oldest first, with their answers; each settled one says why."""
    return marked(world, escalation.questions(world))


def marked(world: World, escalations: Iterable[Escalation]) -> list[Escalation]:
    """The same questions; each settled one says why."""
    escalations = [*escalations]
    why = _reasons(world, escalations)
    if not world.is_past:
        why |= _of_closed_issues(world, escalations) | _of_owners(world.ctx, escalations)
        why |= _of_branches(world.ctx, escalations) | _of_locks(world, escalations)
    return [escalation._replace(settled=why.get(escalation.id, "")) for escalation in escalations]


def _reasons(world: World, escalations: Iterable[Escalation]) -> dict[str, str]:
    """Why open questions need no answer any more, by their ids. Of the past, claims are unknown.
    What this clone has no record of has not ended."""
    open_questions = {
        x.id: x.question for x in escalations if x.is_open and x.question.kind in KINDS
    }
    rights = {right for question in open_questions.values() for right in _rights(question)}
    if not rights:
        return {}
    ended = _ended_leases(world.snapshot, rights) | _ended_claims(world, rights)
    reasons = {identity: _why(question, ended) for identity, question in open_questions.items()}
    return {identity: why for identity, why in reasons.items() if why}


def _of_closed_issues(world: World, escalations: Iterable[Escalation]) -> dict[str, str]:
    """Why open questions about an issue need no answer any more, by their ids."""
    orders = stopping.in_force(world.ctx, world.snapshot)
    doubted = [
        x
        for x in escalations
        if x.is_open
        and doubtful.is_about_issue(x.question)
        and (
            doubtful.is_of_program(x.question)
            or x.question.agent in orders
            or doubtful.has_stopped(x.question.agent, world.snapshot)
        )
    ]
    if not doubted:
        return {}
    try:
        issues = world.ctx.tracker.known(closed=True)
    except GhpError:
        return {}  # nothing is known to be closed
    closed = {number for issue in issues if issue.state == "closed" for number in issue.numbers}
    return {x.id: _closed(x.question) for x in doubted if x.question.issue in closed}


def _of_owners(ctx: Context, escalations: Iterable[Escalation]) -> dict[str, str]:
    """The questions which of two agents keeps an issue, if only one is assigned to it now."""
    open_ones = [x for x in escalations if x.is_open and x.question.kind == OWNERS]
    if not open_ones:
        return {}
    try:
        issues = {number: issue for issue in ctx.tracker.known() for number in issue.numbers}
    except GhpError:
        return {}
    left: dict[str, str] = {}
    for doubted in open_ones:
        issue = issues.get(IssueNumber(doubted.question.issue or 0))
        owners = {*doubted.question.options} & {*(issue.assignees if issue else ())}
        if len(owners) < 2:
            left[doubted.id] = f"no two agents are assigned to #{doubted.question.issue} now"
    return left


def _of_branches(ctx: Context, escalations: Iterable[Escalation]) -> dict[str, str]:
    """The questions whether a branch brings commits back to main, if it has none of them now, or a
    clone that saw it recorded that: others may not know the branch, or know it as it was."""
    gone: dict[str, str] = {}
    for doubted in escalations:
        question = doubted.question
        branch, base, *commits = (*question.about, "", "")[: max(2, len(question.about))]
        if not doubted.is_open or question.kind != TAKEN_OUT or len(commits) > MOST:
            continue
        is_gone, tip = doubted.is_over, known_branches.newest_tip(ctx.ws, branch)
        with suppress(GitError):
            is_gone = is_gone or bool(
                tip and commits and not worktree.has_any(ctx.ws.folder, tip, commits)
            )
        if is_gone:
            gone[doubted.id] = without(branch, base)
    return gone


def _of_locks(world: World, escalations: Iterable[Escalation]) -> dict[str, str]:
    """The questions who holds a lock, if it is not disputed now, or an earlier one asks the same:
    two clones may find one dispute."""
    doubted_ones = [x for x in escalations if x.is_open and x.question.kind == DISPUTED]
    disputed = (
        {lock.name for lock in world.locks if lock.is_disputed} if doubted_ones else set[str]()
    )
    over: dict[str, str] = {}
    first: dict[str, str] = {}
    for doubted in doubted_ones:
        name = "".join(doubted.question.about[:1])
        if name not in disputed:
            over[doubted.id] = f"nobody disputes {what_lock(name)} now"
        elif first.setdefault(name, doubted.name) != doubted.name:
            over[doubted.id] = f"{first[name]} asks the same"
    return over


def what_lock(name: str) -> str:
    """A lock in words: its issue, or its name."""
    issue = claimed_issue(name)
    return f"#{issue}" if issue else file(name)


def without(branch: str, base: str) -> str:
    """Why a question about commits that a branch brings back needs no answer any more."""
    return f"{file(branch)} is without the commits that were removed from {file(base)}"


def _closed(question: Question) -> str:
    words = f"#{question.issue} is closed"
    return (
        words
        if doubtful.is_of_program(question)
        else f"{words}, and {named(question.agent)} no longer works"
    )


def news(ctx: Context, snapshot: Snapshot, agent: str) -> list[tuple[str, str]]:
    """What the agent that asked hears, each with the key that records its delivery."""
    mine = [
        escalation
        for escalation in _naming(ctx, snapshot, agent)
        if escalation.question.agent == agent
    ]
    return [
        (
            f"Your question {escalation.name} {phrase(escalation.title)} needs no answer any more: "
            f"{escalation.settled}.{_then(escalation)}",
            f"{SETTLED}{escalation.id}",
        )
        for escalation in marked(World(ctx, snapshot), mine)
        if escalation.settled
    ]


def _then(escalation: Escalation) -> str:
    return " If you are still refused, ask again." if escalation.question.kind in KINDS else ""


def _naming(ctx: Context, snapshot: Snapshot, agent: str) -> list[Escalation]:
    """The present questions whose text has the agent's name: a sync asks for each agent, and most
    questions are of others, so they are not parsed."""
    present, name = snapshot.present(escalation_record.ESCALATIONS), agent.encode()
    questions = {path: content for path, content in present.items() if name in content}
    ids = {path.rpartition("/")[2].partition(".")[0] for path in questions}
    answers = snapshot.present(escalation_record.ANSWERS) if questions else {}
    replies = {path: x for path, x in answers.items() if path.split("/")[2] in ids}
    return escalation_record.read({**questions, **replies}, ctx.ws.settings.orchestrators)[0]


def _why(question: Question, ended: dict[str, str]) -> str:
    """A file is free when all that refused it has ended; a circle, when any has; an overlap, when
    one of each pair has."""
    rights = _rights(question)
    over = [ended[right] for right in rights if right in ended]
    if question.kind == OVERLAP:
        pairs = zip(rights[::2], rights[1::2], strict=False)
        is_over = all(first in ended or second in ended for first, second in pairs)
    else:
        is_over = len(over) == len(rights) if question.kind == WANTED_FILE else bool(over)
    return over[0] if over and is_over else ""


def _rights(question: Question) -> Sequence[str]:
    """The leases and claims that a question is about; none if it names too many."""
    if question.kind == WANTED_FILE:
        rights = question.about[2:]
    elif question.kind == OVERLAP:
        rights = tuple(f"L-{identity}" for identity in question.about)
    else:
        rights = tuple(subject.partition(" ")[0] for subject in question.about)
    return rights if len(rights) <= MOST else ()


def _ended_leases(snapshot: Snapshot, rights: Collection[str]) -> dict[str, str]:
    ids = {match[1] for right in rights if (match := _LEASE.fullmatch(right))}
    present = snapshot.present(record.FOLDER) if ids else {}
    files = {path: x for path, x in present.items() if path.split("/")[2] in ids}
    missing = ids - {log.id for log in record.read_leases(files)[0]}
    settled = snapshot.settled([f"{record.FOLDER}{lease}/" for lease in sorted(missing)])
    logs, _ = record.read_leases({**settled, **files})
    return {f"L-{log.id}": why_over(log) for log in logs if not log.is_open}


def _ended_claims(world: World, rights: Collection[str]) -> dict[str, str]:
    wanted = {right: match for right in rights if (match := _CLAIM.fullmatch(right))}
    by_issue = world.claim_locks if wanted else {}
    ended: dict[str, str] = {}
    for right, (name, generation) in ((x, y.groups()) for x, y in wanted.items()):
        lock = by_issue.get(claimed_issue(name) or 0)
        newest = (lock.generation, lock.holder is None) if lock else (0, False)
        if newest > (int(generation), False):
            ended[right] = f"the claim of #{claimed_issue(name)} has ended since"
    return ended
