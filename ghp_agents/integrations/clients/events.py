"""The agents that can be hooked: which of their events are listened to, and for which tools."""

from typing import NamedTuple


class Listening(NamedTuple):
    """One event of a client, by the client's own name, for which `hook CLIENT` is called."""

    event: str
    kind: str  # what it is to us: start, prompt, edit, batch, stop, compact or end
    timeout: int  # seconds after which the client should go on without us
    tools: tuple[str, ...] = ()  # by the client's own names; empty: it is for no tool, or for all

    @property
    def matcher(self) -> str:
        """The tools as clients have them in their configuration."""
        return "|".join(self.tools)


KINDS = ("start", "prompt", "edit", "batch", "stop", "compact", "end")

_OPENCODE_EDITS = ("apply_patch", "edit", "multiedit", "patch", "write")

CLIENTS: dict[str, tuple[Listening, ...]] = {
    "claude": (
        Listening("SessionStart", "start", 30),
        Listening("UserPromptSubmit", "prompt", 15),
        Listening("PreToolUse", "edit", 10, ("Edit", "MultiEdit", "NotebookEdit", "Write")),
        Listening("PostToolBatch", "batch", 10),
        Listening("Stop", "stop", 60),
        Listening("PreCompact", "compact", 60),
        Listening("SessionEnd", "end", 5),
    ),
    "codex": (
        Listening("SessionStart", "start", 30),
        Listening("UserPromptSubmit", "prompt", 15),
        # A patch may come as a shell command, too: `apply_patch <<EOF`.
        Listening("PreToolUse", "edit", 10, ("apply_patch", "Bash")),
        Listening("PostToolUse", "batch", 10),
        Listening("Stop", "stop", 60),
        Listening("PreCompact", "compact", 60),
        Listening("SessionEnd", "end", 3),
    ),
    "gemini": (
        Listening("SessionStart", "start", 30),
        Listening("BeforeAgent", "prompt", 15),
        Listening("BeforeTool", "edit", 10, ("write_file", "replace")),
        Listening("AfterTool", "batch", 10),
        Listening("AfterAgent", "stop", 60),
        Listening("PreCompress", "compact", 60),
        Listening("SessionEnd", "end", 5),
    ),
    "cursor": (
        Listening("sessionStart", "start", 30),
        Listening("beforeSubmitPrompt", "prompt", 15),
        Listening("preToolUse", "edit", 10, ("Write", "Delete")),
        Listening("postToolUse", "batch", 10),
        Listening("stop", "stop", 60),
        Listening("preCompact", "compact", 60),
        Listening("sessionEnd", "end", 5),
    ),
    # OpenCode has no commands as hooks: a plugin of ours calls the command, under these names.
    "opencode": (
        Listening("session.start", "start", 30),
        Listening("chat.message", "prompt", 15),
        Listening("tool.execute.before", "edit", 10, _OPENCODE_EDITS),
        Listening("tool.execute.after", "batch", 10),
        Listening("session.idle", "stop", 60),
        Listening("session.compacting", "compact", 60),
        Listening("session.end", "end", 5),
    ),
}
