"""The protocol between our plugins for clients and this program.

A plugin calls `hook CLIENT` with one JSON object on standard input:

    {"hook_event_name": …, "session_id": …, "cwd": …, "pid": …, "tool_name": …, "tool_input": {…}}

Events, tools and their arguments have the client's own names. Some messages have
"transcript_path", the file with the session, or "usage", counters of what it has used since the
plugin began: {"model": …, "inputTokens": …, "cachedTokens": …, "outputTokens": …, "usd": …}.
"socket" is a socket of the plugin: a line on it begins a turn (`presence/way_in.py`).
A sub-agent's tools are those of the session that the user began, with the sub-agent's id as
"agent_id". The reply is empty, or one JSON object that tells the plugin what to do:

    {"schemaVersion": 1}  with each of them
    {"deny": "text"}     let the call of the tool fail with this text
    {"context": "text"}  give the model this text: with the message, or after the tool's output
    {"env": {…}}         set these variables for the agent's shell commands; with "context"
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ghp_agents.hooks.event import Client, Event, Reply
    from ghp_agents.hooks.messages import PluginReply


def parse(client: "Client", payload: "Mapping[str, Any]") -> "Event | None":
    """The event in a message of a plugin; None if we do not handle it."""
    from ghp_agents.hooks.event import text  # the client's module has loaded it

    event, pid = client.parse(payload), payload.get("pid")
    if event and type(pid) is int and pid > 0:
        event.pid = pid
    if event:
        event.socket = text(payload, "socket")
    reported = payload.get("usage")
    if event and isinstance(reported, dict):
        event.reported = reported
    return event


def render(event: "Event", reply: "Reply") -> "PluginReply":
    """The reply to a plugin."""
    if reply.deny and event.kind == "edit":
        return {"schemaVersion": 1, "deny": reply.deny}
    fields: PluginReply = {}
    if reply.context and event.hears:
        fields["context"] = reply.context
    if reply.environ and event.kind == "start":
        fields["env"] = dict(reply.environ)
    return {"schemaVersion": 1, **fields} if fields else {}
