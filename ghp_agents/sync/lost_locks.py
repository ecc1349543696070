"""Rights that the remote lost: after a sync what this clone knows goes back."""

from contextlib import suppress

from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import Timestamp, digest
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Question
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import claimed_issue
from ghp_agents.ports import IssueTracker, LockService, Snapshot, StateStore
from ghp_agents.state.cause import QUESTION
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace


def put_back_locks(
    ws: Workspace, store: StateStore, leaser: LockService, tracker: IssueTracker
) -> list[str]:
    """Put rights back, and ask a person about those that two have; what was done, for people. What
    cannot be done now is done by the next sync."""
    notes: list[str] = []
    with suppress(GhpError):  # out of reach, or nobody is named here
        lost = {*leaser.mend()}
        rights = [lease for lease in leaser.known() if lease.name in lost]
        _write_down(ws, store, rights)
        notes += [f"the remote had lost history of the right {lease.name}" for lease in rights]
    for lease in leaser.known():
        if lease.is_disputed and lease.clone == leaser.clone and is_name(lease.cause.by):
            asked = escalation.ask_once(ws, store, tracker, _question(lease), urgency="high")
            if asked.is_new:
                notes.append(f"Asked {asked.escalation.name}: {asked.escalation.title}")
            notes += asked.notes
    return notes


def _write_down(ws: Workspace, store: StateStore, rights: list[Lock]) -> None:
    """An entry of the ledger for each right that was put back."""
    actor = ws.actor()
    at = Timestamp(to_text(ws.clock.now()))

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        return None, [
            Record(
                "restore", actor, right.name, digest("restore", right.name, right.revision), at,
                snapshot.clock + later, (), claimed_issue(right.name), right.generation,
                "the remote had lost it",
            )
            for later, right in enumerate(rights, 1)
        ]  # fmt: skip

    if rights:
        transact(store, decide)


def _question(lease: Lock) -> Question:
    """What a person is asked about a right that two have."""
    issue = claimed_issue(lease.name)
    what = f"#{issue}" if issue else lease.name
    word = str(issue) if issue else lease.name.replace("name/", "--name ").replace("path/", "L-")
    text = (
        f"Who has {what}?\n\n{lease.reason[0].upper()}{lease.reason[1:]}. Nobody can have it "
        f"until a person decides: `ghp agent-release {word} --reason TEXT` frees it."
    )
    return Question(lease.cause.by, text, issue, (), QUESTION)
