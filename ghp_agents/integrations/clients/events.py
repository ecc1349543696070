"""The clients' events that we subscribe to, and for which tools."""

from typing import NamedTuple


class HookSubscription(NamedTuple):
    """An event of a client for which it calls `hook CLIENT`."""

    event: str
    kind: str  # start, prompt, edit, batch, stop, compact or end
    timeout: int  # seconds after which the client continues without us
    tools: tuple[str, ...] = ()  # the client's own names; empty: for no tool, or for all

    @property
    def matcher(self) -> str:
        """The tools as written in clients' configuration."""
        return "|".join(self.tools)


KINDS = ("start", "prompt", "edit", "batch", "stop", "compact", "end")

_OPENCODE_EDITS = ("apply_patch", "edit", "multiedit", "patch", "write")

CLIENTS: dict[str, tuple[HookSubscription, ...]] = {
    "claude": (
        HookSubscription("SessionStart", "start", 30),
        HookSubscription("UserPromptSubmit", "prompt", 15),
        HookSubscription("PreToolUse", "edit", 10, ("Edit", "MultiEdit", "NotebookEdit", "Write")),
        HookSubscription("PostToolBatch", "batch", 10),
        HookSubscription("Stop", "stop", 60),
        HookSubscription("PreCompact", "compact", 60),
        HookSubscription("SessionEnd", "end", 5),
    ),
    "codex": (
        HookSubscription("SessionStart", "start", 30),
        HookSubscription("UserPromptSubmit", "prompt", 15),
        # A patch may come as a shell command, too: `apply_patch <<EOF`.
        HookSubscription("PreToolUse", "edit", 10, ("apply_patch", "Bash")),
        HookSubscription("PostToolUse", "batch", 10),
        HookSubscription("Stop", "stop", 60),
        HookSubscription("PreCompact", "compact", 60),
        HookSubscription("SessionEnd", "end", 3),
    ),
    "gemini": (
        HookSubscription("SessionStart", "start", 30),
        HookSubscription("BeforeAgent", "prompt", 15),
        HookSubscription("BeforeTool", "edit", 10, ("write_file", "replace")),
        HookSubscription("AfterTool", "batch", 10),
        HookSubscription("AfterAgent", "stop", 60),
        HookSubscription("PreCompress", "compact", 60),
        HookSubscription("SessionEnd", "end", 5),
    ),
    "cursor": (
        HookSubscription("sessionStart", "start", 30),
        HookSubscription("beforeSubmitPrompt", "prompt", 15),
        HookSubscription("preToolUse", "edit", 10, ("Write", "Delete")),
        HookSubscription("postToolUse", "batch", 10),
        HookSubscription("stop", "stop", 60),
        HookSubscription("preCompact", "compact", 60),
        HookSubscription("sessionEnd", "end", 5),
    ),
    # OpenCode cannot run commands as hooks: our plugin calls the command, with these names.
    "opencode": (
        HookSubscription("session.start", "start", 30),
        HookSubscription("chat.message", "prompt", 15),
        HookSubscription("tool.execute.before", "edit", 10, _OPENCODE_EDITS),
        HookSubscription("tool.execute.after", "batch", 10),
        HookSubscription("session.idle", "stop", 60),
        HookSubscription("session.compacting", "compact", 60),
        HookSubscription("session.end", "end", 5),
    ),
}
