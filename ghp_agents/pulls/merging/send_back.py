"""Send a pull request back to its agent: a record, a comment and a news flag. After two rounds a
person is asked."""

from typing import NamedTuple

from ghp_agents.claims.effects import ClaimContext
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import AgentName, Timestamp
from ghp_agents.core.secret_scan import redacted
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import MYSELF, Escalation, Question
from ghp_agents.handoffs import returned as rules
from ghp_agents.handoffs.returned import FOLDER, OUTPUT, ROUNDS, Return
from ghp_agents.hotpath import heartbeat, news_flag
from ghp_agents.locks.names import claim_name
from ghp_agents.locks.swap import known_lock
from ghp_agents.ports import Snapshot
from ghp_agents.pulls.pull import Pull
from ghp_agents.state.cause import CHOICE
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import now_text


class SentBack(NamedTuple):
    """A pull request that was returned to its agent."""

    pull: Pull
    returned: Return
    round: int
    escalation: Escalation | None = None
    notes: tuple[str, ...] = ()


def send_back(
    me: ClaimContext, pull: Pull, *, head: str, trunk: str, reason: str, text: str
) -> SentBack:
    """Send a pull request back; the same head and base are sent back only once."""
    agent = _agent_of(me, pull)

    def decide(snapshot: Snapshot) -> tuple[tuple[Return, int], list[Record]]:
        returns = _returns_of(snapshot, pull.number)
        returned = Return(
            pull.number, head, trunk, agent, reason, redacted(text).strip()[-OUTPUT:], pull.branch,
            pull.issue, Timestamp(now_text(me.ctx.ws)), me.actor, snapshot.clock + 1,
            snapshot.clone,
        )  # fmt: skip
        number = rules.round_of(returns, returned)
        previous = next((entry for entry in returns if entry.id == returned.id), None)
        return (
            ((previous, number), []) if previous else ((returned, number), [rules.encode(returned)])
        )

    returned, number = transact(me.ctx.store, decide)
    news_flag.set_flag(me.ctx.ws.folders, agent)
    notes = _comment(me, returned, number)
    question = _escalate(me, pull, returned) if number > ROUNDS else None
    return SentBack(pull, returned, number, question, notes)


def was_sent_back(snapshot: Snapshot, pull: Pull, head: str, trunk: str) -> bool:
    """Return whether exactly this head was sent back on exactly this base."""
    return any(
        (entry.head, entry.trunk) == (head, trunk) for entry in _returns_of(snapshot, pull.number)
    )


def for_agent(snapshot: Snapshot, agent: str) -> list[tuple[Return, int]]:
    """Return the last return of each of an agent's pull requests, with its round."""
    returns, _ = rules.read_returns(snapshot.files(FOLDER))
    return [
        (returned, number) for returned, number in rules.last(returns) if returned.agent == agent
    ]


def _returns_of(snapshot: Snapshot, pull: int) -> list[Return]:
    return rules.read_returns(snapshot.files(rules.folder_of(pull)))[0]


def _agent_of(me: ClaimContext, pull: Pull) -> str:
    """Return the issue's holder; without one the branch's agent, else the author."""
    if pull.issue is not None:
        lock = known_lock(me.ctx.locks, claim_name(pull.issue))
        if lock and lock.holder and not lock.is_person:
            return lock.holder
    parts = pull.branch.split("/")
    named = parts[1] if parts[0] == "agent" and len(parts) > 2 else pull.author
    return named if heartbeat.is_name(named) else pull.author


def _comment(me: ClaimContext, returned: Return, number: int) -> tuple[str, ...]:
    if returned.issue is None:
        return ()
    try:
        text, mark = rules.comment(returned, number), rules.marker(returned)
        with me.ctx.tracker.showing():
            me.ctx.tracker.comment(returned.issue, text, me.actor, marker=mark)
    except GhpError as error:
        return (f"Cannot comment on #{returned.issue}: {error}",)
    return ()


def _escalate(me: ClaimContext, pull: Pull, returned: Return) -> Escalation | None:
    """Ask a person; only once for each pull request."""
    if not heartbeat.is_name(returned.agent):
        return None
    text = (
        f"Pull request #{pull.number} ({pull.branch}) was sent back to {returned.agent} more than "
        f"{ROUNDS} times. How should the work continue?"
    )
    options = (
        f"{returned.agent} tries again",
        "Another agent takes it over",
        MYSELF,
    )
    question = Question(
        AgentName(returned.agent), text, pull.issue, options, CHOICE, (f"pull/{pull.number}",)
    )
    return escalation.ask_once(me.ctx, question, "high").escalation
