"""Restore locks that the remote lost, from what this clone knows. Runs after a sync."""

from contextlib import suppress

from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import Timestamp, digest
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Question
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.leases import settled_questions
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claimed_issue
from ghp_agents.ports import Context, Snapshot
from ghp_agents.state.cause import DISPUTED
from ghp_agents.state.record import Record
from ghp_agents.state.sender_budget import SenderBudget
from ghp_agents.state.transact import transact


def put_back_locks(ctx: Context, budget: SenderBudget) -> list[str]:
    """Restore lost locks, and escalate disputed ones; return notes for people. After a failure the
    next sync tries again."""
    notes: list[str] = []
    with suppress(GhpError):  # unreachable, or no identity here
        lost = {*ctx.locks.mend()}
        locks = [lock for lock in ctx.locks.known() if lock.name in lost]
        _record_restores(ctx, locks)
        notes += [f"the remote had lost history of the lock {lock.name}" for lock in locks]
    questions = [
        _question(lock)
        for lock in ctx.locks.known()
        if lock.is_disputed and lock.clone == ctx.locks.clone and is_name(lock.cause.by)
    ]
    new = _unasked(ctx, questions) if questions else []
    new = budget.first("disputed locks", new, lambda _: ["the remote"])
    for result in escalation.ask_all(ctx, [(question, "high") for question in new]):
        notes += [f"Asked {result.escalation.name}: {result.escalation.title}", *result.notes]
    return notes


def _unasked(ctx: Context, wanted: list[Question]) -> list[Question]:
    """The questions about locks of which no question is open, whoever asked it."""
    new = escalation.unasked(ctx.world, wanted)
    questions = settled_questions.read(ctx.world) if new else []
    disputes = {x.question.about for x in questions if x.is_open and x.question.kind == DISPUTED}
    return [question for question in new if question.about not in disputes]


def _record_restores(ctx: Context, locks: list[Lock]) -> None:
    """Add an entry to the ledger for each restored lock."""
    actor = ctx.ws.actor()
    at = Timestamp(to_text(ctx.ws.clock.now()))

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        return None, [
            Record(
                "restore", actor, lock.name, digest("restore", lock.name, lock.revision), at,
                snapshot.clock + later, (), claimed_issue(lock.name), lock.generation,
                "the remote had lost it",
            )
            for later, lock in enumerate(locks, 1)
        ]  # fmt: skip

    if locks:
        transact(ctx.store, decide)


def _question(lock: Lock) -> Question:
    """The question for a person about a lock with two holders."""
    issue = claimed_issue(lock.name)
    what = settled_questions.what_lock(lock.name)
    word = str(issue) if issue else lock.name.replace("name/", "--name ").replace("path/", "L-")
    text = (
        f"Who holds {what}?\n\n{lock.reason[0].upper()}{lock.reason[1:]}. Nobody can hold it "
        f"until a person decides: `ghp agent-release {word} --reason TEXT` frees it."
    )
    return Question(lock.cause.by, text, issue, (), DISPUTED, (lock.name,))
