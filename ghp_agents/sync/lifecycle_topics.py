"""Topics of what happens anyway: an agent that subscribes to one hears of entries of the ledger.

Nothing is sent for them: the ledger has them already. They reach only who asked for them by a
subscription, and what concerns an agent reaches it in any case.
"""

from ghp_agents.core.ids import AgentName, one_line
from ghp_agents.hotpath.quoting import named, phrase, thing
from ghp_agents.messages.subscription import FOLDER, Subscription, hears, read_subscriptions
from ghp_agents.ports import Snapshot
from ghp_agents.state.ledger import BEGAN, PRESENCE, LedgerEntry

TOPICS = {  # by event of the ledger
    "issue-new": "issue.created",
    "issue-assign": "issue.assigned",
    "issue-comment": "issue.commented",
    "issue-close": "issue.closed",
    "issue-reopen": "issue.reopened",
    "claim": "issue.claimed",
    "takeover": "issue.claimed",
    "steal": "issue.claimed",
    "release": "issue.released",
    "handoff": "issue.handed_over",
    "pull-open": "pull.opened",
    "pull-review": "pull.reviewed",
    "pull-return": "pull.sent_back",
    "pull-merge": "pull.merged",
}
ALSO = {"pull.reviewed": "code.review_completed"}  # a second name of the same
STOPPED = "stopped"
AGENT_TOPICS = ("agent.registered", "agent.unregistered", "agent.status_changed")


def topic_of(entry: LedgerEntry) -> str:
    """The topic of an entry; empty if it has none."""
    if entry.event != PRESENCE:
        return TOPICS.get(entry.event, "")
    registered, unregistered, changed = AGENT_TOPICS
    if entry.object == STOPPED:
        return unregistered
    return registered if entry.cause == BEGAN else changed


def subscription(snapshot: Snapshot, agent: AgentName) -> Subscription | None:
    """What the agent subscribed to; None if it never did."""
    return read_subscriptions(snapshot.present(f"{FOLDER}{agent}/"))[0].get(agent)


def line(entry: LedgerEntry, to: Subscription | None) -> str:
    """An entry in one line, if its topic is subscribed to; else empty."""
    topic = topic_of(entry)
    names = [name for name in (topic, ALSO.get(topic, "")) if name]
    if to is None or not any(hears(to.listens, to.ignores, name) for name in names):
        return ""
    text = f" {phrase(entry.text)}" if entry.text else ""
    about = f" {thing(one_line(entry.object, 60))}" if entry.object else ""
    return f"{topic}: {named(entry.actor, entry.is_person)}{about}{text}"
