"""News for an agent: answers to its questions, and the loss of its claim."""

from ghp_agents.core.ids import AgentName
from ghp_agents.escalations.messages import ANSWERED
from ghp_agents.hooks.event import Reply
from ghp_agents.hotpath import news_flag
from ghp_agents.settings import unread_config
from ghp_agents.sync import notifications as services

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hooks.scene import HookContext

LIMIT = 10_000  # characters; clients put longer text aside


def news(context: "HookContext", lead: str, *, again: bool = False) -> Reply | None:
    """All news, as context; `again`: also repeat that a claim was lost."""
    news_flag.clear(context.folders, context.agent)
    app, agent = context.app(), AgentName(context.agent)
    notices = services.gather(app, agent, again=again, limit=LIMIT - len(lead) - 1)
    unread = unread_config.sentence(app.ws.home_folder, agent, app.ws.settings.unreadable)
    if not notices.text:
        return Reply(context=unread) if unread else None
    return Reply(
        context="\n".join(filter(None, (unread, lead, notices.text))),
        on_sent=lambda: services.deliver(app, agent, notices.ids),
    )


def mark_read(context: "HookContext") -> None:
    """Mark the answers as delivered that a waiting command printed in this batch, so that the model
    has read them. What it prints in the background is in no batch."""
    if ANSWERED in context.event.printed:
        services.mark_printed(context.app(), AgentName(context.agent), context.event.printed)
