"""Topics of what happens anyway: an agent that subscribes to one hears of entries of the ledger.

Nothing is sent for them: the ledger has them already. They reach only who asked for them by a
subscription, and what concerns an agent reaches it in any case.
"""

from ghp_agents.core.ids import AgentName, one_line
from ghp_agents.hotpath.quoting import named, phrase, thing
from ghp_agents.messages.subscription import FOLDER, Subscription, hears, read_subscriptions
from ghp_agents.ports import Snapshot
from ghp_agents.state.ledger import LedgerEntry


def subscription(snapshot: Snapshot, agent: AgentName) -> Subscription | None:
    """What the agent subscribed to; None if it never did."""
    return read_subscriptions(snapshot.present(f"{FOLDER}{agent}/"))[0].get(agent)


def line(entry: LedgerEntry, to: Subscription | None) -> str:
    """An entry in one line, if its topic is subscribed to; else empty."""
    topics = entry.kind.topics
    if to is None or not any(hears(to.listens, to.ignores, topic) for topic in topics):
        return ""
    text = f" {phrase(entry.text)}" if entry.text else ""
    about = f" {thing(one_line(entry.object, 60))}" if entry.object else ""
    return f"{topics[0]}: {named(*entry.by)}{about}{text}"
