"""The messages of the clients' hooks: what is read of them, and the replies in their formats.

Hooks name these types for type checks only. A reply is an empty object if there is nothing to say.
"""

from typing import Any, Literal, TypedDict


class HookMessage(TypedDict, total=False):
    """An event. Other fields are ignored."""

    hook_event_name: str
    session_id: str
    cwd: str
    tool_name: str
    tool_input: Any
    model: str
    transcript_path: str


class ToolCall(TypedDict, total=False):
    """One call of a batch of tools."""

    tool_name: str
    tool_input: Any
    tool_response: Any


class CodexMessage(HookMessage, total=False):
    """An event of Codex."""

    source: str
    stop_hook_active: bool


class ClaudeMessage(CodexMessage, total=False):
    """An event of Claude Code."""

    tool_calls: list[ToolCall]
    reason: str
    notification_type: str


class GeminiMessage(HookMessage, total=False):
    """An event of Gemini CLI."""

    source: str
    reason: str
    notification_type: str


class CursorMessage(HookMessage, total=False):
    """An event of Cursor."""

    conversation_id: str
    workspace_roots: list[str]
    status: str
    loop_count: int
    generation_id: str
    input_tokens: int
    cache_read_tokens: int
    output_tokens: int


class PluginMessage(HookMessage, total=False):
    """An event of our plugin for OpenCode, our extension for pi, or our own client."""

    pid: int
    agent_id: str
    socket: str
    usage: dict[str, float | str]


class HookFields(TypedDict, total=False):
    """The decision about an edit, or what the agent should know."""

    hookEventName: str
    permissionDecision: Literal["deny"]
    permissionDecisionReason: str
    additionalContext: str


class HookReply(TypedDict, total=False):
    """The reply to Claude Code and Qwen Code, and most replies to Codex and Gemini CLI."""

    hookSpecificOutput: HookFields


class DecisionReply(TypedDict):
    """A refusal to Gemini CLI, or the reason why Codex or Copilot CLI continues."""

    decision: Literal["deny", "block"]
    reason: str


class CursorReply(TypedDict, total=False):
    """The reply to Cursor."""

    permission: Literal["deny"]
    user_message: str
    agent_message: str
    followup_message: str
    additional_context: str


class CopilotMessage(CodexMessage, total=False):
    """An event of GitHub Copilot CLI; a sub-agent's names the session of its parent."""

    agent_id: str
    parent_agent_id: str


class QwenMessage(HookMessage, total=False):
    """An event of Qwen Code."""

    source: str
    prompt: str


class CopilotReply(TypedDict, total=False):
    """The reply to GitHub Copilot CLI."""

    permissionDecision: Literal["deny"]
    permissionDecisionReason: str
    additionalContext: str


class PluginReply(TypedDict, total=False):
    """The reply to our plugins, which is our own format."""

    schemaVersion: Literal[1]
    deny: str
    context: str
    env: dict[str, str]


MESSAGES: dict[str, Any] = {  # by client
    "claude": ClaudeMessage,
    "codex": CodexMessage,
    "copilot": CopilotMessage,
    "cursor": CursorMessage,
    "gemini": GeminiMessage,
    "openai": PluginMessage,
    "opencode": PluginMessage,
    "pi": PluginMessage,
    "qwen": QwenMessage,
}
REPLIES: dict[str, Any] = {
    "claude": HookReply,
    "codex": HookReply | DecisionReply,
    "copilot": CopilotReply | DecisionReply,
    "cursor": CursorReply,
    "gemini": HookReply | DecisionReply,
    "openai": PluginReply,
    "opencode": PluginReply,
    "pi": PluginReply,
    "qwen": HookReply,
}
