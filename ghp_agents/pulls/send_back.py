"""Sending a pull request back to its agent: a record, a comment, a bell; after two rounds a
question for a person."""

from typing import NamedTuple

from ghp_agents.claims.effects import ClaimContext
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import AgentName, Timestamp
from ghp_agents.core.secret_scan import redacted
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Escalation, Question
from ghp_agents.handoffs import returned as rules
from ghp_agents.handoffs.returned import FOLDER, OUTPUT, ROUNDS, Return
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.hotpath import news_flag as bell
from ghp_agents.locks.names import claim_name
from ghp_agents.ports import Snapshot
from ghp_agents.pulls.pull import Pull
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import now_text


class SentBack(NamedTuple):
    """A pull request that is its agent's again."""

    pull: Pull
    said: Return
    round: int
    escalation: Escalation | None = None
    notes: tuple[str, ...] = ()


def send_back(
    me: ClaimContext, pull: Pull, *, head: str, trunk: str, reason: str, text: str
) -> SentBack:
    """Send it back; what was sent back as it is stays so, and is said once."""
    agent = _agent_of(me, pull)

    def decide(snapshot: Snapshot) -> tuple[tuple[Return, int], list[Record]]:
        known = _of_pull(snapshot, pull.number)
        said = Return(
            pull.number, head, trunk, agent, reason, redacted(text).strip()[-OUTPUT:], pull.branch,
            pull.issue, Timestamp(now_text(me.ws)), me.actor, snapshot.clock + 1, snapshot.clone,
        )  # fmt: skip
        number = rules.round_of(known, said)
        had = next((each for each in known if each.id == said.id), None)
        return ((had, number), []) if had else ((said, number), [rules.encode(said)])

    said, number = transact(me.store, decide)
    bell.set_flag(me.ws.folders, agent)
    notes = _comment(me, said, number)
    asked = _escalate(me, pull, said) if number > ROUNDS else None
    return SentBack(pull, said, number, asked, notes)


def was_sent_back(snapshot: Snapshot, pull: Pull, head: str, trunk: str) -> bool:
    """Whether exactly this was looked at before."""
    return any((each.head, each.trunk) == (head, trunk) for each in _of_pull(snapshot, pull.number))


def for_agent(snapshot: Snapshot, agent: str) -> list[tuple[Return, int]]:
    """What was sent back to an agent, with the round of each; of each pull request the last."""
    found, _ = rules.read_returns(snapshot.files(FOLDER))
    return [(said, number) for said, number in rules.last(found) if said.agent == agent]


def _of_pull(snapshot: Snapshot, pull: int) -> list[Return]:
    return rules.read_returns(snapshot.files(rules.folder_of(pull)))[0]


def _agent_of(me: ClaimContext, pull: Pull) -> str:
    """Who has the issue; where nobody has, who opened it, or whose branch it is."""
    if pull.issue is not None:
        name = claim_name(pull.issue)
        lease = next((each for each in me.leaser.known(name) if each.name == name), None)
        if lease and lease.holder and not lease.is_person:
            return lease.holder
    parts = pull.branch.split("/")
    named = parts[1] if parts[0] == "agent" and len(parts) > 2 else pull.author
    return named if pulse.is_name(named) else pull.author


def _comment(me: ClaimContext, said: Return, number: int) -> tuple[str, ...]:
    if said.issue is None:
        return ()
    try:
        text, mark = rules.comment(said, number), rules.marker(said)
        me.tracker.comment(said.issue, text, me.actor, marker=mark)
    except GhpError as error:
        return (f"The comment on #{said.issue} could not be made: {error}",)
    return ()


def _escalate(me: ClaimContext, pull: Pull, said: Return) -> Escalation | None:
    """Asked once for a pull request, however often it comes back after that."""
    if not pulse.is_name(said.agent):
        return None
    text = (
        f"Pull request #{pull.number} ({pull.branch}) was sent back to {said.agent} more than "
        f"{ROUNDS} times. How should it go on?"
    )
    options = (f"{said.agent} tries again", "Another agent takes it over", "I look at it myself")
    question = Question(AgentName(said.agent), text, pull.issue, options)
    return escalation.ask_once(me.ws, me.store, me.tracker, question, "high").escalation
