"""The clients' events that we subscribe to, and for which tools."""

from typing import NamedTuple

from ghp_agents.hotpath.calling_client import VERBS


class HookSubscription(NamedTuple):
    """An event of a client for which it calls `hook CLIENT`."""

    event: str
    kind: str  # one of KINDS
    timeout: int  # seconds after which the client continues without us
    tools: tuple[str, ...] = ()  # the client's own names; empty: for no tool, or for all
    foreign: str = ""  # how the client names tools of MCP servers; empty: it is not known

    @property
    def matcher(self) -> str:
        """The tools as written in clients' configuration: a regular expression. Of tools of MCP
        servers only those that may change files, by their names: each call costs a process."""
        names = "|".join(self.tools)
        if not (self.foreign and self.tools):
            return names
        verbs = "|".join(f"[{verb[0].upper()}{verb[0]}]{verb[1:]}" for verb in VERBS)
        # Without the anchors, `Write` would also match `TodoWrite`.
        return f"^({names}|{self.foreign}.*({verbs}).*)$"


KINDS = ("start", "prompt", "edit", "batch", "stop", "compact", "end", "wait", "fail")

_SECONDS = (30, 15, 10, 10, 60, 60, 5, 5, 60)


def _subscriptions(
    events: str,
    edits: tuple[str, ...],
    seconds: tuple[int, ...] = _SECONDS,
    foreign: str = "",
) -> tuple[HookSubscription, ...]:
    """The client's names of its events, in the order of KINDS (`-`: none), and of its tools that
    edit."""
    rows = zip(events.split(), KINDS, seconds, strict=False)  # the last kinds are optional
    return tuple(
        HookSubscription(*row, *((edits, foreign) if row[1] == "edit" else ()))
        for row in rows
        if row[0] != "-"
    )


CLIENTS: dict[str, tuple[HookSubscription, ...]] = {
    "claude": _subscriptions(
        "SessionStart UserPromptSubmit PreToolUse PostToolBatch Stop PreCompact SessionEnd "
        "Notification StopFailure",
        ("Edit", "MultiEdit", "NotebookEdit", "Write"),
        foreign="mcp__",
    ),
    "codex": _subscriptions(
        "SessionStart UserPromptSubmit PreToolUse PostToolUse Stop PreCompact SessionEnd",
        ("apply_patch", "Bash"),  # a patch may come as a shell command, too: `apply_patch <<EOF`
        (*_SECONDS[:6], 3),
        foreign="mcp__",
    ),
    "gemini": _subscriptions(
        # PreCompress comes before each request, see `hooks/gemini.py`.
        "SessionStart BeforeAgent BeforeTool AfterTool AfterAgent - SessionEnd Notification",
        ("write_file", "replace"),
        foreign="mcp_",
    ),
    "cursor": _subscriptions(
        "sessionStart beforeSubmitPrompt preToolUse postToolUse stop preCompact sessionEnd",
        ("Write", "Delete"),
        foreign="MCP:",
    ),
    # OpenCode cannot run commands as hooks: our plugin calls the command, with these names.
    "opencode": _subscriptions(
        "session.start chat.message tool.execute.before tool.execute.after session.idle "
        "session.compacting session.end",
        ("apply_patch", "edit", "multiedit", "patch", "write"),
    ),
    # In PascalCase they come with names of their own for fields and tools, see `hooks/copilot.py`.
    "copilot": _subscriptions(
        "SessionStart UserPromptSubmit PreToolUse PostToolUse Stop PreCompact SessionEnd",
        ("Edit", "Write"),
        foreign=".*-",
    ),
    "qwen": _subscriptions(
        # What is said at SessionStart reaches no model, see `hooks/qwen.py`.
        "- UserPromptSubmit PreToolUse PostToolUse Stop PreCompact SessionEnd - StopFailure",
        ("edit", "write_file"),
        foreign="mcp__",
    ),
    # Our extension calls the command, with pi's names.
    "pi": _subscriptions(
        "session_start before_agent_start tool_call tool_result agent_end session_before_compact "
        "session_shutdown",
        ("edit", "write"),
    ),
}
