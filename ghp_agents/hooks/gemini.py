"""Gemini CLI: parses its events, and renders replies in its schema."""

from ghp_agents.hooks.event import Client, Event, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hooks.messages import DecisionReply, HookFields, HookReply

CLIENT = Client(
    "gemini",
    ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "PreCompress",
     "SessionEnd"),
    # Context after a turn would make it reject its own response, so news waits for the next prompt.
    hears=("start", "prompt", "batch"),
    paths=("file_path", "absolute_path"),
    edits=("replace", "write_file"),
    runs=("run_shell_command",),
    reads=("read_file",),
    searches=("glob", "grep_search", "list_directory", "search_file_content"),
)  # fmt: skip
parse = CLIENT.parse


def render(event: Event, reply: Reply) -> "HookReply | DecisionReply":
    """The reply to Gemini CLI; empty if there is nothing to say."""
    if reply.deny and event.kind == "edit":
        return {"decision": "deny", "reason": reply.deny}
    if reply.context and event.hears:
        fields: HookFields = {"hookEventName": event.name, "additionalContext": reply.context}
        return {"hookSpecificOutput": fields}
    return {}
